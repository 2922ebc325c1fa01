/* Locals on the stack: those that nobody else sees become variables of the translator's, and these here show where they must not. */
#include <alloca.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

typedef struct Large {
    long a, b, c, d;
} Large;

static long *remembered;
static volatile long zero;

APART static long many(long a, long b, long c, long d, long e, long f, long g, long h, char i, short j) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

APART static long changes(long a, long b, long c, long d, long e, long f, long g, long h) {
    for (long i = 0; i < 3; i++) {
        g += h;
        h = g - a;
    }
    return g * 3 + h + b + c + d + e + f;
}

APART static long by_value(Large l, Large *other) {
    l.a += other->b;
    other->c = l.d;
    return l.a + l.b * 3 + l.c * 5 + l.d * 7;
}

APART static Large returned(long seed) {
    return (Large){seed, seed + 1, seed * 2, seed * 3};
}

APART static long sum_of(int count, ...) {
    va_list list;
    long sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum = sum * 3 + va_arg(list, long);
    va_end(list);
    return sum;
}

APART static double mean_of(int count, ...) {
    va_list list;
    double sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(list, double);
    va_end(list);
    return sum / count;
}

APART static void fill(long *at, int count) {
    for (int i = 0; i < count; i++)
        at[i] = i * i + zero;
}

APART static void remember(long *p) {
    remembered = p;
}

APART static void change_remembered(void) {
    *remembered += 1000;
}

APART static long escapes(long x) {
    long before = x, local = x * 2, after = x * 3;
    remember(&local);
    change_remembered();
    return before + local * 10 + after * 100;
}

/* Elements by number, and the same by index. */
APART static long elements(int k) {
    long a[6];
    a[0] = 1;
    a[1] = 2;
    a[5] = 7;
    for (int i = 2; i < 5; i++)
        a[i] = a[i - 1] * 3;
    a[k] += 100;
    return a[0] + a[1] * 2 + a[2] * 3 + a[3] * 4 + a[4] * 5 + a[5] * 6;
}

APART static long downwards(int n) {
    long a[8], sum = 0;
    a[0] = 5;
    fill(a + 1, 7);
    for (long *p = a + 8; n--;)
        sum = sum * 2 + *--p;
    return sum + a[0];
}

APART static long structs(long x) {
    Large l = {x, x + 1, x + 2, x + 3}, m = l;
    long r = by_value(l, &m);
    return r + m.c + l.a;
}

APART static long pieces(unsigned x) {
    union {
        unsigned whole;
        unsigned char bytes[4];
        unsigned short halves[2];
    } u;
    u.whole = x;
    u.bytes[1] = 0xee;
    unsigned short half = u.halves[0];
    u.halves[1] ^= half;
    return u.whole;
}

APART static long room(int n) {
    long *p = alloca((size_t)n * sizeof(long)), q = n;
    fill(p, n);
    return p[n - 1] + q;
}

APART static long variable(int n) {
    long a[n], last = n - 1;
    fill(a, n);
    return a[last] + a[0];
}

APART static long aligned(long x) {
    _Alignas(64) long a[8] = {x};
    fill(a + 1, 3);
    return a[0] + a[3] + (long)((unsigned long)a % 64);
}

APART static long recursive(int depth, long carried) {
    long here = carried * 3 + depth, other;
    if (!depth)
        return here;
    other = recursive(depth - 1, here) + recursive(depth / 2, carried);
    return here + other;
}

APART static long tail(long a, long b, long c, long d, long e, long f, long g, long h) {
    return changes(b, a, c, d, e, f, h, g);
}

static int by_remembered(const void *x, const void *y) {
    long a = *(const long *)x, b = *(const long *)y;
    ++*remembered;
    return (a > b) - (a < b);
}

APART static long sorts(void) {
    long list[] = {5, 3, 9, -1, 4}, calls = 0, other = 6;
    remembered = &calls;
    qsort(list, 5, sizeof(*list), by_remembered);
    return list[0] * 1000 + list[4] * 100 + (calls > 3) + other;
}

static void *set_flag(void *flag) {
    *(int volatile *)flag = 1;
    return NULL;
}

APART static int waits(void) {
    int flag = 0, rounds = 3;
    pthread_t thread;
    pthread_create(&thread, NULL, set_flag, &flag);
    while (!*(int volatile *)&flag)
        ;
    pthread_join(thread, NULL);
    return flag + rounds;
}

APART static void prints(int x, double y, long double z) {
    char text[100];
    int local = x * 2, count;
    printf("%d %d %d %d %d %d %d %d %d\n", x, local, x + 1, local + 1, x + 2, local + 2, x + 3, local + 3, x + 4);
    printf("%.3Lf %.3f %.3Lf\n", z, y, z * local);
    printf("%.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f\n", y, y + 1, y + 2, y + 3, y + 4, y + 5, y + 6, y + 7,
           y + 8, y + 9);
    count = snprintf(text, sizeof(text), "%s-%c-%ld-%n", "text", 'c', 77L, &local);
    printf("%d %s %d\n", count, text, local);
}

/* More doubles than there are registers, and nothing else that fills one kind of them. */
APART static void prints_doubles(const double *m) {
    printf("%.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f\n", m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]);
}

/* Ends with a call that gets the sixth argument as it was, and more on the stack. */
APART static int forwards(char *to, size_t size, const char *format, int a, int b, int c, int d, int e) {
    return snprintf(to, size, format, a, b, c, d, e);
}

/* A system call without the C library has the address of a local. */
APART static long asks(int fd, long size) {
#ifdef __x86_64__
    char text[8] = "??????\n", last = 'x';
    long got;
    __asm__ volatile("syscall" : "=a"(got) : "0"(SYS_read), "D"(fd), "S"(text), "d"(size) : "rcx", "r11", "memory");
    return got * 1000 + text[0] + text[1] + last;
#else
    return fd - fd + size * 1000 + 'a' + 'b' + 'x';
#endif
}

APART static long asks_pipe(void) {
    int ends[2];
    if (pipe(ends) || write(ends[1], "ab", 2) != 2)
        return -1;
    return asks(ends[0], 2);
}

static long (*volatile by_pointer)(long, long, long, long, long, long, long, long, char, short) = many;
static int (*volatile print_by_pointer)(const char *, ...) = printf;

int main(void) {
    char text[64];
    long local = 4;
    double numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    printf("%ld %ld\n", many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), by_pointer(local, 2, local, 4, 5, 6, local, 8, 'x', -10));
    printf("%ld %ld\n", changes(1, 2, 3, 4, 5, 6, 7, 8), tail(1, 2, 3, 4, 5, 6, 70, 80));
    printf("%ld %ld\n", structs(3), returned(7).d);
    printf("%ld %ld %.3f\n", sum_of(3, 4L, 5L, 6L), sum_of(9, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L),
           mean_of(10, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.5));
    printf("%ld %ld %ld %ld\n", escapes(5), elements(3), elements(0), downwards(8));
    printf("%ld %ld %ld %ld\n", pieces(0x12345678), room(9), variable(7), aligned(11));
    printf("%ld %ld %d\n", recursive(9, 1), sorts(), waits());
    printf("%ld\n", asks_pipe());
    prints(3, 2.5, 1.25L);
    puts("doubles:");
    prints_doubles(numbers);
    forwards(text, sizeof(text), "%d %d %d %d %d", 1, 2, 3, 4, 5);
    print_by_pointer("%s %ld %d %d %d %d %d %d\n", text, local, 1, 2, 3, 4, 5, 6);
    return 0;
}
