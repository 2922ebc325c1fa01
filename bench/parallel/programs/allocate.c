/* allocate.c: trees in the C library's memory, made and freed. */
#include "team.h"

typedef struct Tree {
    struct Tree *left, *right;
    char filling[];
} Tree;

static Tree *grow(int depth, uint64_t seed) {
    Tree *t = malloc(sizeof(*t) + team_mix(seed) % 100);
    t->left = depth ? grow(depth - 1, 2 * seed) : NULL;
    t->right = depth ? grow(depth - 1, 2 * seed + 1) : NULL;
    return t;
}

static uint64_t fell(Tree *t) {
    if (!t)
        return 0;
    uint64_t n = 1 + fell(t->left) + fell(t->right);
    free(t);
    return n;
}

static void work(Member *m) {
    enum { TREES = 2400, DEPTH = 12 };
    long end = team_first(m, m->index + 1, TREES);
    for (long i = team_first(m, m->index, TREES); i < end; i++)
        m->result += fell(grow(DEPTH, (uint64_t)i));
}

int main(int argc, char **argv) {
    printf("%lu\n", (unsigned long)team_run(team_size(argc, argv), work));
    return 0;
}
