/* nestedlib.c: the library of nested.c. */
#define NOINLINE __attribute__((noinline, noclone))

int through_library(int (*callback)(int), int n);

NOINLINE static int inside(int (*callback)(int), int n) {
    return callback(n + 1) * 5 + n;
}

int through_library(int (*callback)(int), int n) {
    return inside(callback, n) + 1;
}
