/* Addresses of functions: as results, and as programs that are not position-independent have them: in instructions that store or compare them, and of functions of libraries,
 * whose address is a stub of the program's for everybody. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct operations {
    int (*change)(int);
    void *(*get)(size_t);
};

static int twice(int x) {
    return 2 * x;
}

__attribute__((noinline, noclone)) static void set(struct operations *o) {
    o->change = twice;
    o->get = malloc;
}

__attribute__((noinline, noclone)) static int is_twice(const struct operations *o) {
    return o->change == twice;
}

typedef int compare(const void *, const void *);
struct order {
    compare *by;
    double factor;
};

static int up(const void *x, const void *y) {
    return *(const int *)x - *(const int *)y;
}

static int down(const void *x, const void *y) {
    return up(y, x);
}

/* Results that are addresses: alone, one of two, and beside a floating-point number. */
__attribute__((noinline, noclone)) static compare *upwards(void) {
    return up;
}

__attribute__((noinline, noclone)) static compare *some_way(int n) {
    return n > 2 ? down : up;
}

__attribute__((noinline, noclone)) static struct order downwards(void) {
    return (struct order){down, 0.5};
}

/* Compared with several in a row. */
__attribute__((noinline, noclone)) static int kind_of(compare *by) {
    if (by == up)
        return 1;
    if (by == down)
        return 2;
    if (by == (compare *)strcoll)
        return 3;
    if (by == (compare *)twice)
        return 4;
    if (by == (compare *)is_twice)
        return 5;
    return 6;
}

static void sort(int count) {
    int list[] = {5, 9, 7, 1, 3};
    struct order order = downwards();
    printf("%d %d %d %d %d ", kind_of(upwards()), kind_of(order.by), kind_of(some_way(1)), kind_of((compare *)twice),
           kind_of((compare *)strcmp));
    printf("%d %d\n", kind_of((compare *)is_twice), kind_of((compare *)strcoll));
    qsort(list, 5, sizeof(*list), upwards());
    printf("%d ", list[0]);
    qsort(list, 5, sizeof(*list), some_way(count));
    printf("%d ", list[0]);
    qsort(list, 5, sizeof(*list), some_way(1));
    printf("%d ", list[0]);
    qsort(list, 5, sizeof(*list), order.by);
    printf("%d %g\n", list[0], order.factor);
}

int main(int argc, char **argv) {
    (void)argv;
    sort(argc + 3);
    struct operations o;
    set(&o);
    char *text = o.get(16);
    strcpy(text, "sixteen");
    char *copy = strdup(text); /* the C library calls malloc() by that address */
    printf("%d %d %s %s %d\n", o.change(21), is_twice(&o), text, copy, setlocale(LC_ALL, "C") != NULL);
    free(copy);
    free(text);
    return 0;
}
