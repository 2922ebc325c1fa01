/* ints.c: integers of all widths, recursion, switches, loops over memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int is_odd(unsigned n);
static int is_even(unsigned n) {
    return n == 0 ? 1 : is_odd(n - 1);
}
static int is_odd(unsigned n) {
    return n == 0 ? 0 : is_even(n - 1);
}

static const char *name_of(int k) {
    switch (k) {
    case 0:
        return "zero";
    case 1:
        return "one";
    case 2:
        return "two";
    case 3:
        return "three";
    case 4:
        return "four";
    case 5:
        return "five";
    case 9:
        return "nine";
    default:
        return "many";
    }
}

static int step(int state, int c) {
    switch (state * 4 + c % 4) {
    case 0:
        return 1;
    case 1:
        return state + 2;
    case 2:
        return c * 3;
    case 3:
        return 0;
    case 4:
        return c - 7;
    case 5:
        return state ^ c;
    case 6:
        return 2;
    case 7:
        return state << 1;
    case 8:
        return c & 1;
    default:
        return (state + c) % 5;
    }
}

static uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x = x << 13 | x >> 51;
    return x + (uint8_t)x * (int16_t)(x >> 8);
}

static unsigned __int128 power(uint64_t base, int n) {
    unsigned __int128 p = 1;
    while (n--)
        p *= base;
    return p;
}

int main(int argc, char **argv) {
    (void)argv;
    uint64_t x = (uint64_t)argc;
    int state = 0;
    char text[64];
    printf("%d %d %d\n", fib(18), is_even(1000), is_odd(77));
    for (int i = 0; i < 11; i++)
        printf("%s ", name_of(i));
    for (int i = 0; i < 300; i++) {
        x = mix(x + (uint64_t)i);
        state = step(abs(state) % 4, (int)(x & 0xff)) % 100;
    }
    printf("\n%llu %d\n", (unsigned long long)x, state);
    unsigned __int128 p = power(7, 40);
    printf("%llu %llu\n", (unsigned long long)(p >> 64), (unsigned long long)p);
    printf("%lld %lld %d %d\n", (long long)x / -17, (long long)x % 1000003, (int)(int8_t)x, (int)(x >> 3) / 11);
    printf("%llu %d %d\n", (unsigned long long)(p / 1000000007u), __builtin_popcountll(x), __builtin_clzll(x | 1));
    memset(text, 'a' + argc, sizeof(text) - 1);
    text[63] = 0;
    memcpy(text + 5, "hello", 5);
    puts(text);
    return state & 0x7f;
}
