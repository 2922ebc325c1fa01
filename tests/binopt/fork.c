/* fork.c: children call what their parent has made, make nothing with its handles, and make what they like with their own; also while
 * other threads of the parent are at work. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subtracting.h"

enum { THREADS = 2, FORKS = 12 };

static volatile bool stop;

static void *work(void *unused) {
    BinoptHandle handle = binopt_init();
    for (int i = 0; !stop; i++)
        binopt_spec_delete(handle, (BinoptFunc)make(handle, i));
    binopt_fini(handle);
    return unused;
}

/* In the child; true if all is right. What the parent has deleted since is still there. */
static bool run_child(BinoptHandle inherited, Subtract made, Subtract deleted, int by, int start) {
    char byte;
    bool right = read(start, &byte, 1) == 0 && deleted(50, by) == 50 - by;
    right &= made(50, 8) == 42 && make(inherited, 9) == subtract;
    BinoptHandle own = binopt_init();
    right &= make(own, 10)(50, 10) == 40;
    binopt_spec_delete(inherited, (BinoptFunc)made);
    right &= made(50, 8) == 42;
    binopt_fini(inherited);
    binopt_fini(own);
    return right;
}

int main(void) {
    pthread_t thread[THREADS];
    int failures = 0;
    BinoptHandle handle = binopt_init();
    Subtract made = make(handle, 8);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    for (int i = 0; i < FORKS; i++) {
        int status, start[2];
        Subtract deleted = make(handle, 10000 + i);
        failures += pipe(start) != 0;
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            close(start[1]);
            _exit(!run_child(handle, made, deleted, 10000 + i, start[0]));
        }
        close(start[0]);
        binopt_spec_delete(handle, (BinoptFunc)deleted);
        Subtract other = make(handle, 100 + i); /* where that was, or while the child is at work */
        close(start[1]);
        bool ended = waitpid(child, &status, 0) == child;
        if (!ended || status)
            printf("a child ended with status %#x\n", (unsigned)status);
        failures += !ended || status != 0;
        failures += made(50, 8) != 42 || other(50, 100 + i) != -50 - i;
    }
    stop = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    binopt_fini(handle);
    printf("%s: %d of %d forks failed\n", binopt_driver(), failures, FORKS);
    return failures != 0;
}
