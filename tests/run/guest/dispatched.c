/* dispatched.c: a loop that calls small functions by pointers. Optimised code of the loop alone goes over to quick code at each call, and is given up
 * while the loop goes on. argv[1]: millions of rounds. */
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long Step(unsigned long);

static unsigned long add(unsigned long x) {
    return x + 7;
}
static unsigned long mix(unsigned long x) {
    return x ^ x >> 5;
}
static unsigned long twist(unsigned long x) {
    return x * 2654435761u;
}
static unsigned long less(unsigned long x) {
    return x - (x >> 3);
}

static Step *volatile steps[] = {add, mix, twist, less};

int main(int argc, char **argv) {
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) * 1000000 : 1000000, x = 1;
    for (unsigned long i = 0; i < rounds; i++)
        x = steps[i % 4](x);
    printf("%lu\n", x);
    return 0;
}
