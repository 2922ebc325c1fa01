/* Where runs spend their time, for learn.sh. The first word: `steady`, one loop that takes all of it; `crossing`, a short loop that is called
 * all the time from code with calls in it; or `fork`, the first of these in a child. The second: how many thousand rounds. Prints a number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static unsigned steady(unsigned rounds) {
    unsigned h = 1;
    for (unsigned i = 0; i < rounds; i++) {
        h = h * 1664525u + i;
        if (h % 7 == 3)
            h ^= i;
    }
    return h;
}

__attribute__((noinline)) static unsigned short_loop(const unsigned *table, unsigned h) {
    for (unsigned i = 0; i < 6; i++)
        h = (h ^ table[i]) * 16777619u;
    return h;
}

__attribute__((noinline)) static unsigned rotate(unsigned h) {
    return h << 5 | h >> 27;
}

/* What is called by a pointer is never translated together with its caller. */
static unsigned crossing(unsigned rounds) {
    static unsigned (*volatile turn)(unsigned) = rotate;
    unsigned table[6] = {3, 1, 4, 1, 5, 9}, h = 1;
    for (unsigned i = 0; i < rounds / 8; i++) {
        h = short_loop(table, turn(h));
        table[i % 6] += turn(h ^ i);
    }
    return h;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    unsigned rounds = (unsigned)strtoul(argv[2], NULL, 0) * 1000;
    if (!strcmp(argv[1], "fork") && !fork())
        return printf("%u\n", steady(rounds)) < 0;
    if (!strcmp(argv[1], "fork"))
        return wait(NULL) < 0;
    printf("%u\n", strcmp(argv[1], "steady") ? crossing(rounds) : steady(rounds));
    return 0;
}
