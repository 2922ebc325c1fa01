/* corefiles.c: dies in the way that the argument says, with values in registers and in memory that a core file should have. */
#include <stdlib.h>
#include <string.h>

volatile int progress;
static int *volatile nowhere = (int *)24;
static void (*volatile nothing)(void) = (void (*)(void))8;
static const int constant = 3;

__attribute__((noinline)) static int fail(const char *how, int number) {
    volatile int local = number * 2;
    progress = number;
    __asm__ volatile("cvtsi2sd %0, %%xmm0" : : "r"(number) : "xmm0");
    if (!strcmp(how, "read"))
        return *nowhere;
    if (!strcmp(how, "write"))
        *(volatile int *)&constant = number;
    if (!strcmp(how, "divide"))
        return number / (local - 2 * number);
    if (!strcmp(how, "illegal"))
        __asm__ volatile("ud2");
    if (!strcmp(how, "break"))
        __asm__ volatile("int3");
    if (!strcmp(how, "jump"))
        nothing();
    if (!strcmp(how, "abort"))
        abort();
    return local;
}

int main(int argc, char **argv) {
    return argc > 1 ? fail(argv[1], 42) : 1;
}
