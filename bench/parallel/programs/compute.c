/* compute.c: nothing shared: numbers by trial division, and loops of floating point. */
#include "team.h"

static int is_prime(uint32_t n) {
    for (uint32_t d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return 0;
    return n & 1;
}

static double orbit(double x, double y) {
    double re = 0, im = 0;
    int n = 0;
    for (; n < 200 && re * re + im * im < 4; n++) {
        double next = re * re - im * im + x;
        im = 2 * re * im + y, re = next;
    }
    return n;
}

static void work(Member *m) {
    enum { ITEMS = 1600000 };
    for (long i = m->index; i < ITEMS; i += m->count) {
        m->result += (uint64_t)is_prime((uint32_t)(1000001 + 2 * i));
        m->result += (uint64_t)orbit(i % 1000 / 500.0 - 1.5, i / 1000 / 800.0 - 1);
    }
}

int main(int argc, char **argv) {
    printf("%lu\n", (unsigned long)team_run(team_size(argc, argv), work));
    return 0;
}
