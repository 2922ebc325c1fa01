/* Addresses of functions, as programs that are not position-independent have them: in instructions that store or compare them, and of functions of libraries, whose
 * address is a stub of the program's for everybody. */
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

int main(void) {
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
