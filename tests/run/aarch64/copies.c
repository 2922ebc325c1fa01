/* copies.c: FEAT_MOPS by its encodings, since compilers here do not know it: copies of all sizes and distances, settings, and faults in their middle, behind which they go on. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, ROOM = 512 };

static int mistakes;
static volatile int faults;
static uint8_t *pages; /* three, of which the second may be protected */

/* x0, x1, x2: where to, where from, how much. */
#define TRIPLE(name, prologue, main, epilogue)                                                                         \
    static void name(void *to, const void *from, size_t size, uint64_t left[3]) {                                      \
        register uint64_t x0 __asm__("x0") = (uint64_t)to, x1 __asm__("x1") = (uint64_t)from, x2 __asm__("x2") = size; \
        __asm__ volatile(".inst " #prologue "\n.inst " #main "\n.inst " #epilogue                                      \
                         : "+r"(x0), "+r"(x1), "+r"(x2)                                                                \
                         :                                                                                             \
                         : "memory", "cc");                                                                            \
        left[0] = x0, left[1] = x1, left[2] = x2;                                                                      \
    }
TRIPLE(copy_forwards, 0x19010440, 0x19410440, 0x19810440) /* cpyf? [x0]!, [x1]!, x2! */
TRIPLE(copy, 0x1d010440, 0x1d410440, 0x1d810440)          /* cpy? [x0]!, [x1]!, x2! */
TRIPLE(set, 0x19c10440, 0x19c14440, 0x19c18440)           /* set? [x0]!, x2!, x1 */

static void check(int good, const char *what, long size, long distance) {
    if (!good && mistakes++ < 10)
        printf("%s: %ld bytes, distance %ld\n", what, size, distance);
}

/* Bytes that tell from where they are. */
static void fill(uint8_t *at, size_t size) {
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(i * 7 + (i >> 8) + 1);
}

static void one_copy(int forwards, long size, long distance) {
    uint8_t room[3 * ROOM], want[3 * ROOM], *from = room + ROOM;
    uint64_t left[3];
    fill(room, sizeof(room));
    fill(want, sizeof(want));
    memmove(want + ROOM + distance, want + ROOM, (size_t)size);
    (forwards ? copy_forwards : copy)(from + distance, from, (size_t)size, left);
    check(!memcmp(room, want, sizeof(room)), forwards ? "cpyf" : "cpy", size, distance);
    int back = !forwards && distance > 0 && distance < size;
    long moved = back ? 0 : size;
    check(left[0] == (uint64_t)(from + distance + moved) && left[1] == (uint64_t)(from + moved) && !left[2],
          "registers", size, distance);
}

static void copies(void) {
    for (long size = 0; size <= 150; size += size < 70 ? 1 : 8)
        for (long distance = -200; distance <= 200; distance++) {
            one_copy(0, size, distance);
            if (distance <= 0 || distance >= size)
                one_copy(1, size, distance);
        }
}

static void settings(void) {
    for (size_t size = 0; size <= 200; size++)
        for (size_t offset = 0; offset < 17; offset++) {
            uint8_t room[ROOM], want[ROOM];
            uint64_t left[3];
            fill(room, sizeof(room));
            fill(want, sizeof(want));
            memset(want + offset, (int)size, size);
            set(room + offset, (void *)(0xabcdef00 + size), size, left);
            check(!memcmp(room, want, sizeof(room)) && left[0] == (uint64_t)(room + offset + size) && !left[2], "set",
                  (long)size, (long)offset);
        }
}

/* --------------------------------------------------------------------------------------------------------------- faults */

/* The page becomes accessible, and the instruction goes on where its registers say that it is. */
static void on_fault(int sig, siginfo_t *info, void *context) {
    const ucontext_t *u = context;
    uint8_t *at = info->si_addr;
    int64_t count = (int64_t)u->uc_mcontext.regs[2];
    (void)sig;
    check(at >= pages + PAGE && at < pages + 2 * PAGE, "the fault's address", at - pages, 0);
    check(count != 0, "what is left at the fault", count, 0);
    faults++;
    mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE);
}

/* Distances of less than a step, too: what was read before the fault and written since is not read again. */
static void copies_with_faults(void) {
    static uint8_t want[3 * PAGE];
    uint64_t left[3];
    long sizes[] = {40, 64, 500, 5000}, distances[] = {-1500, -20, -8, -1, 1, 5, 16, 1500};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (size_t k = 0; k < sizeof(distances) / sizeof(*distances); k++)
            for (long start = 0; start < 40; start += 13) {
                long from = PAGE - sizes[i] / 3 - start;
                fill(pages, sizeof(want));
                fill(want, sizeof(want));
                memmove(want + from + distances[k], want + from, (size_t)sizes[i]);
                faults = 0;
                mprotect(pages + PAGE, PAGE, start % 2 ? PROT_NONE : PROT_READ);
                copy(pages + from + distances[k], pages + from, (size_t)sizes[i], left);
                mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE);
                check(!memcmp(pages, want, sizeof(want)) && faults <= 1, "with a fault", sizes[i], distances[k]);
            }
}

static void settings_with_faults(void) {
    static uint8_t want[3 * PAGE];
    uint64_t left[3];
    for (long start = 1; start < 100; start += 7) {
        fill(pages, sizeof(want));
        fill(want, sizeof(want));
        memset(want + PAGE - start, 9, 300);
        faults = 0;
        mprotect(pages + PAGE, PAGE, PROT_NONE);
        set(pages + PAGE - start, (void *)9, 300, left);
        mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE);
        check(!memcmp(pages, want, sizeof(want)) && faults == 1, "set with a fault", 300, start);
    }
}

int main(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int round = 0; round < 3; round++) {
        copies();
        settings();
    }
    sigaction(SIGSEGV, &action, NULL);
    copies_with_faults();
    settings_with_faults();
    printf("mistakes: %d\n", mistakes);
    return mistakes != 0;
}
