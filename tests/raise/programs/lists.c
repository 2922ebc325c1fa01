/* lists.c: variable arguments, long double among them, in registers and on the stack; halves of addresses that are kept across calls; what the C library says of the CPU. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/auxv.h>

#define APART __attribute__((noinline, noclone))

APART static void say(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}

APART static void call(void (*said)(const char *, ...), int n) {
    said("%d\n", n);
}

int main(int argc, char **argv) {
    static const char all[] = "%d %g %s %ld %g %g %g %g %g %g %g %g %d %d %d %d %d %d %d\n";
    volatile double d = argc * 1.5;
    long double x = (long double)argc / 3;
    printf(all, argc, d, "x", 5L, d + 1, d + 2, d + 3, d + 4, d + 5, d + 6, d + 7, d + 8, 1, 2, 3, 4, 5, 6, 7);
    say(all, argc, d, "x", 5L, d + 1, d + 2, d + 3, d + 4, d + 5, d + 6, d + 7, d + 8, 1, 2, 3, 4, 5, 6, 7);
    printf("%Lg %d %.3Lf\n", x, 4, x * 5);
    say("%Lg %g %g %g %g %g %g %g %Lf %g\n", x, d, d, d, d, d, d, d, x * 7, d);
    call(say, 1);
    call(say, 2);
    printf("%d\n", (int)(getauxval(AT_HWCAP) & 3));
    return 0;
}
