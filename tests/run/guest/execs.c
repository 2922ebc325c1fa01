/* execs.c: a program that execs itself after more and more work. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    enum { TIMES = 40 };
    static volatile unsigned sink;
    int n = argc > 1 ? atoi(argv[1]) : 0;
    unsigned x = (unsigned)n;
    char next[16];
    if (n == TIMES) {
        puts("done");
        return 0;
    }
    for (unsigned i = 0; i < 3000000u + (unsigned)n * 400000u; i++)
        x = x * 1103515245 + 12345 + (x >> 3);
    sink = x;
    snprintf(next, sizeof(next), "%d", n + 1);
    execl("/proc/self/exe", argv[0], next, (char *)NULL);
    return 1;
}
