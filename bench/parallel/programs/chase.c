/* chase.c: reads of memory, each of which says where the next one is. */
#include "team.h"

enum { CELLS = 16 << 20, STEPS = 4000000, WALKS = 2 };

static uint32_t *cells;

/* One cycle through all cells, by the rule of a random number generator with a period of that length. */
static void fill(Member *m) {
    long end = team_first(m, m->index + 1, CELLS);
    for (long i = team_first(m, m->index, CELLS); i < end; i++)
        cells[i] = ((uint32_t)i * 1664525 + 1013904223) % CELLS;
}

static void walk(Member *m) {
    for (int w = m->index; w < WALKS; w += m->count) {
        uint32_t at = (uint32_t)w;
        for (long i = 0; i < STEPS; i++)
            at = cells[at];
        m->result += at;
    }
}

int main(int argc, char **argv) {
    int count = team_size(argc, argv);
    cells = malloc(CELLS * sizeof(*cells));
    team_run(count, fill);
    printf("%lu\n", (unsigned long)team_run(count, walk));
    return 0;
}
