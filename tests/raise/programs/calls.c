/* calls.c: variable arguments, structs by value and as results, pointers to functions, callbacks from the C library. */
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Pair {
    int a, b;
} Pair;
typedef struct Mixed {
    double d;
    long l;
} Mixed;
typedef struct Two {
    double x, y;
} Two;
typedef struct Big {
    long v[5];
} Big;

static long sum(int count, ...) {
    va_list list;
    long s = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        s += i % 3 == 2 ? (long)(va_arg(list, double) * 10) : va_arg(list, int);
    va_end(list);
    return s;
}

static void say(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}

__attribute__((noinline)) static Pair swap(Pair p) {
    return (Pair){p.b, p.a};
}
__attribute__((noinline)) static Mixed mix(Mixed m, Two t) {
    return (Mixed){m.d + t.x, m.l - (long)t.y};
}
__attribute__((noinline)) static Two turn(Two t, float by) {
    return (Two){t.y * by, -t.x};
}
__attribute__((noinline)) static Big grow(Big b, long by) {
    for (int i = 0; i < 5; i++)
        b.v[i] = b.v[i] * by + i;
    return b;
}
__attribute__((noinline)) static long many(long a, long b, long c, long d, long e, long f, long g, char h, short i) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

static int add(int a, int b) {
    return a + b;
}
static int mul(int a, int b) {
    return a * b;
}
static int sub(int a, int b) {
    return a - b;
}
static int (*const table[])(int, int) = {add, mul, sub};

static int by_value(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}
static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}
static void show(const void *node, VISIT order, int depth) {
    if (order == postorder || order == leaf)
        printf("%d:%d ", *(const int *)*(void *const *)node, depth);
}
static void bye(void) {
    puts("bye");
}
static void bye_first(void) {
    printf("first ");
}

int main(int argc, char **argv) {
    (void)argv;
    int v[] = {42, 7, argc, -5, 99, 12, 0}, wanted = 99;
    char *words[] = {"pear", "apple", "fig", "cherry"};
    void *root = NULL;
    atexit(bye);
    atexit(bye_first);
    printf("%ld %ld\n", sum(6, 1, 2, 3.5, 4, 5, 6.25), sum(12, 1, 2, 0.1, 1, 2, 0.2, 1, 2, 0.3, 1, 2, 0.4));
    say("%s %d %.3f %c %ld %s %d %d %.1f\n", "varargs", argc, 2.5, 'x', -7L, "more", 1, 2, 3.5);
    Pair p = swap((Pair){3, argc});
    Mixed m = mix((Mixed){1.5, 10}, (Two){2.25, 4.75});
    Two t = turn((Two){1, argc}, 0.5f);
    Big b = grow((Big){{1, 2, 3, 4, argc}}, 10);
    printf("%d %d %.3f %ld %.3f %.3f %ld %ld\n", p.a, p.b, m.d, m.l, t.x, t.y, b.v[0], b.v[4]);
    printf("%ld\n", many(1, 2, 3, 4, 5, 6, 7, 8, (short)argc));
    for (int i = 0; i < 6; i++)
        printf("%d ", table[i % 3](i, 7));
    qsort(v, 7, sizeof(int), by_value);
    qsort(words, 4, sizeof(char *), by_text);
    for (int i = 0; i < 7; i++)
        printf("%d ", v[i]);
    printf("%s %s %ld\n", words[0], words[3], (long)((int *)bsearch(&wanted, v, 7, sizeof(int), by_value) - v));
    for (int i = 0; i < 7; i++)
        tsearch(&v[i], &root, by_value);
    twalk(root, show);
    puts("");
    return p.a;
}
