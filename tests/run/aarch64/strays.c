/* strays.c: accesses to addresses that no machine has are SIGSEGV, whichever register has the address: on the host it depends on the register what they are. With the number of
 * one as its argument, the program has no handler and dies. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf back;
static volatile int last;

static void note(int sig) {
    last = sig;
    siglongjmp(back, 1);
}

#define LOAD(name)                                                                                                     \
    static __attribute__((noinline)) void load_##name(uint64_t address) {                                              \
        __asm__ volatile("mov " #name ", %0\n ldr x8, [" #name ", #24]\n ldr x9, [" #name "]"                          \
                         :                                                                                             \
                         : "r"(address)                                                                                \
                         : #name, "x8", "x9");                                                                         \
    }
LOAD(x0)
LOAD(x1)
LOAD(x2)
LOAD(x3)
LOAD(x4)
LOAD(x5)
LOAD(x6)
LOAD(x19)
LOAD(x20)
LOAD(x21)
LOAD(x30)

int main(int argc, char **argv) {
    void (*const loads[])(uint64_t) = {load_x0, load_x1,  load_x2,  load_x3,  load_x4, load_x5,
                                       load_x6, load_x19, load_x20, load_x21, load_x30};
    uint64_t good[4] = {0};
    if (argc > 1)
        loads[atoi(argv[1])](0x00a5000000001000);
    signal(SIGSEGV, note);
    signal(SIGBUS, note);
    for (unsigned i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
        loads[i]((uint64_t)good);
        for (volatile int round = 0; round < 2; round++) {
            last = 0;
            if (!sigsetjmp(back, 1))
                loads[i](0x00a5000000001000);
            printf("%u: %s\n", i, last == SIGSEGV ? "SIGSEGV" : last == SIGBUS ? "SIGBUS" : "nothing");
        }
    }
    return 0;
}
