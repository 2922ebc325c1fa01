/* ends_user.c: see ends.h. */
#include "ends.h"

#include <binopt.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { SIZE = 20 };

static struct {
    BinoptHandle handle;
    Subject *from;
    Subject *made[ENDS_COUNT];  /* NULL: not yet */
    uint64_t first[ENDS_COUNT]; /* the word that a function of tiered begins with, until there is another one */
    unsigned char program[ENDS_COUNT + 1][SIZE];
    unsigned right[ENDS_COUNT + 1];
    bool tidy;
} user;

static Subject *make(BinoptHandle handle, Subject *from, int which) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)from);
    binopt_cfg_type(cfg, 3, BINOPT_TY_UINT32, BINOPT_TY_PTR, BINOPT_TY_UINT32, BINOPT_TY_UINT32);
    binopt_cfg_set_paramp(cfg, 0, user.program[which], SIZE, BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, SIZE);
    return (Subject *)binopt_spec_create(cfg);
}

static void *make_all(void *unused) {
    for (int i = 0; i < ENDS_COUNT; i++) {
        Subject *made = make(user.handle, user.from, i);
        user.first[i] = *(const uint64_t *)made;
        __atomic_store_n(&user.made[i], made, __ATOMIC_RELEASE);
    }
    return unused;
}

static void prepare(Subject *from) {
    for (int i = 0; i <= ENDS_COUNT; i++) {
        for (int k = 0; k < SIZE; k++)
            user.program[i][k] = (unsigned char)((k + 3) * (i + 7) % 251);
        user.right[i] = from(user.program[i], SIZE, 12345);
    }
}

void user_start(Subject *from, bool in_thread, bool tidy) {
    pthread_t thread;
    prepare(from);
    user.from = from;
    user.tidy = tidy;
    user.handle = binopt_init();
    if (!in_thread)
        make_all(NULL);
    else if (!pthread_create(&thread, NULL, make_all, NULL))
        pthread_detach(thread);
}

bool user_is_right(void) {
    for (int i = 0; i < ENDS_COUNT; i++) {
        Subject *made = __atomic_load_n(&user.made[i], __ATOMIC_ACQUIRE);
        if (made && made(user.program[i], SIZE, 12345) != user.right[i])
            return false;
    }
    return true;
}

bool user_is_done(void) {
    bool tiered = !__builtin_strcmp(binopt_driver(), "tiered");
    for (int i = 0; i < ENDS_COUNT; i++) {
        Subject *made = __atomic_load_n(&user.made[i], __ATOMIC_ACQUIRE);
        if (!made || (tiered && __atomic_load_n((const uint64_t *)made, __ATOMIC_ACQUIRE) == user.first[i]))
            return false;
    }
    return true;
}

bool user_makes_another(Subject *from) {
    BinoptHandle handle = binopt_init();
    Subject *made = make(handle, from, ENDS_COUNT);
    bool right = made(user.program[ENDS_COUNT], SIZE, 12345) == user.right[ENDS_COUNT];
    binopt_fini(handle);
    return right;
}

__attribute__((destructor)) static void finish(void) {
    if (user.tidy)
        binopt_fini(user.handle);
}
