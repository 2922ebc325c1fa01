/* profiled.c: a guest for profilers: recursion, tail calls, computed calls, a jump out of many functions, loops over memory and branches that cannot be predicted. It has no
 * C library, and does the same in each run. */
typedef unsigned long word;

#define FUNCTION __attribute__((noipa))

/* ---------------------------------------------------------------------------------------------------------------- calls */

FUNCTION word fib(word n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* These jump to each other. */
FUNCTION word is_odd(word n);
FUNCTION word is_even(word n) {
    return n == 0 ? 1 : is_odd(n - 1);
}
FUNCTION word is_odd(word n) {
    return n == 0 ? 0 : is_even(n - 1);
}

FUNCTION word twice(word x) {
    return 2 * x;
}
FUNCTION word half(word x) {
    return x / 2;
}
FUNCTION word plus(word x) {
    return x + 7;
}

FUNCTION word computed(word count) {
    static word (*volatile const all[])(word) = {twice, half, plus};
    word x = 99;
    for (word i = 0; i < count; i++)
        x = all[i % 3](x);
    return x;
}

static void *back[5];

static volatile word depth;

FUNCTION word deep(word n) {
    if (n == depth)
        __builtin_longjmp(back, 1);
    word rest = deep(n - 1);
    __asm__ volatile("" : "+r"(rest));
    return rest + 1;
}

FUNCTION word jump_out(void) {
    return __builtin_setjmp(back) ? plus(1) : deep(10);
}

/* --------------------------------------------------------------------------------------------------------------- memory */

enum { LINES = 4096, LINE = 64 / sizeof(word) };
static word memory[LINES * LINE] __attribute__((aligned(64)));

/* Each access is to another line; all lines are more than the first cache has, and less than the last one. */
FUNCTION word far_apart(void) {
    word sum = 0;
    for (word pass = 0; pass < 3; pass++)
        for (word i = 0; i < LINES; i++)
            sum += memory[i * LINE];
    return sum;
}

FUNCTION void in_order(void) {
    for (word i = 0; i < LINES * LINE / 4; i++)
        *(volatile word *)&memory[i] = i;
}

FUNCTION void update(void) {
    for (word i = 0; i < LINES; i++)
        ++*(volatile word *)&memory[i * LINE + 1];
}

FUNCTION word across_lines(void) {
    word sum = 0;
    for (word i = 0; i < 256; i++)
        sum += *(volatile word *)((char *)&memory[i * LINE + LINE] - 3);
    return sum;
}

/* -------------------------------------------------------------------------------------------------------------- branches */

FUNCTION word by_chance(word count) {
    word x = 1, taken = 0;
    for (word i = 0; i < count; i++) {
        x = x * 6364136223846793005 + 1442695040888963407;
        if (x >> 63)
            __asm__ volatile("" : "+r"(taken));
        else
            taken++;
    }
    return taken;
}

/* ------------------------------------------------------------------------------------------------------------------ main */

FUNCTION word work(void) {
    word sum = fib(12) + is_even(100) + computed(900);
    for (word i = 0; i < 5; i++)
        sum += jump_out();
    sum += far_apart();
    in_order();
    update();
    return sum + across_lines() + by_chance(10000);
}

#ifndef __x86_64__
#include "leave_other.h"
#else
enum { EXIT = 231 };
static void leave(word status) {
    __asm__ volatile("syscall" : : "a"(EXIT), "D"(status) : "rcx", "r11", "memory");
}
#endif

/* The stack begins at a page, wherever the environment has left it: which lines of a cache it is in is the same everywhere. */
void _start(void) {
    volatile char page[16] __attribute__((aligned(4096)));
    page[0] = 0;
    leave(work() & 127);
    __builtin_unreachable();
}
