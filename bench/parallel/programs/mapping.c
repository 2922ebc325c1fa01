/* mapping.c: memory that is mapped, touched, protected and unmapped all the time, with some work on it. */
#include <sys/mman.h>

#include "team.h"

static void work(Member *m) {
    enum { ROUNDS = 3000, BYTES = 256 << 10, PAGE = 4096, TURNS = 20 };
    uint64_t sum = 0;
    long end = team_first(m, m->index + 1, ROUNDS);
    for (long i = team_first(m, m->index, ROUNDS); i < end; i++) {
        uint64_t *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (long k = 0; k < BYTES / 8; k += 8)
            p[k] = (uint64_t)(i ^ k);
        mprotect(p, PAGE, PROT_READ);
        for (long k = 0; k < TURNS * BYTES / 8; k += 8)
            sum = team_mix(sum + p[k % (BYTES / 8)]);
        munmap(p, BYTES);
    }
    m->result = sum != 0;
}

int main(int argc, char **argv) {
    printf("%d\n", team_run(team_size(argc, argv), work) != 0);
    return 0;
}
