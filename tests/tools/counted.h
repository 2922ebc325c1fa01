/* counted.h: what guests of all kinds whose instructions are counted do: loops, calls, computed calls, jumps to other functions. */
#ifndef TESTS_COUNTED_H
#define TESTS_COUNTED_H

typedef long word;

__attribute__((noinline)) static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* These jump to each other. */
__attribute__((noinline)) static word is_odd(word n);
__attribute__((noinline)) static word is_even(word n) {
    __asm__ volatile("");
    return n == 0 ? 1 : is_odd(n - 1);
}
__attribute__((noinline)) static word is_odd(word n) {
    __asm__ volatile("");
    return n == 0 ? 0 : is_even(n - 1);
}

static word loops(void) {
    volatile word sum = 0;
    for (int i = 0; i < 3000; i++) {
        sum += i;
        if (sum & 4)
            sum >>= 1;
    }
    return sum + fib(12) + is_even(40);
}

typedef word Operation(word);
static word more(word x) {
    return x + 3;
}
static word less(word x) {
    return x ^ 5;
}
static word shift(word x) {
    return x >> 1;
}

static word computed(void) {
    static Operation *volatile all[] = {more, less, shift};
    word x = 99;
    for (unsigned i = 0; i < 900; i++)
        x = all[i % 3](x);
    return x;
}

#endif
