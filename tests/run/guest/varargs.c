/* varargs.c: variable arguments of all classes, more than registers hold, and structures by value. */
#include <stdarg.h>
#include <stdio.h>

typedef struct Pair {
    double x;
    long n;
} Pair;
typedef struct Large {
    long v[5];
} Large;

__attribute__((noinline)) static double total(const char *kinds, ...) {
    va_list args;
    double sum = 0;
    va_start(args, kinds);
    for (; *kinds; kinds++) {
        va_list copy;
        switch (*kinds) {
        case 'i':
            sum += va_arg(args, int);
            break;
        case 'l':
            sum += (double)va_arg(args, long);
            break;
        case 'd':
            sum += va_arg(args, double);
            break;
        case 'e':
            sum += (double)va_arg(args, long double);
            break;
        case 'p': {
            Pair p = va_arg(args, Pair);
            sum += p.x * (double)p.n;
            break;
        }
        case 'L': {
            Large l = va_arg(args, Large);
            sum += (double)(l.v[0] + l.v[4]);
            break;
        }
        case 'c':
            va_copy(copy, args);
            sum += 1000 * va_arg(copy, double);
            va_end(copy);
            break;
        }
    }
    va_end(args);
    return sum;
}

__attribute__((noinline)) static Large make(long a, Pair p) {
    return (Large){{a, a * 2, p.n, (long)p.x, a * 5}};
}

int main(void) {
    Pair p = {1.5, 4};
    Large l = make(7, p);
    printf("%.3f\n", total("idl", 1, 2.25, 3L));
    printf("%.3f\n", total("iiiiiiiiii", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    printf("%.3f\n", total("dddddddddddd", .1, .2, .3, .4, .5, .6, .7, .8, .9, 1., 1.1, 1.2));
    printf("%.3f\n", total("eipdLeic", 1.5L, 2, p, 3.5, l, 4.25L, 6, 0.5));
    char text[200];
    int len = snprintf(text, sizeof(text), "%d %ld %s %c %.2f %5d|%-5d|%05d %x %#o %e %Lg %%", 1, 2L, "three", '4', 5.0,
                       6, 7, 8, 0xabc, 8, 12345.678, 1.25L);
    printf("%d: %s\n", len, text);
    int a, b, n = sscanf("17 abc 0x1f 2.5", "%d %99s %x", &a, text, (unsigned *)&b);
    printf("%d %d %s %d\n", n, a, text, b);
    return 0;
}
