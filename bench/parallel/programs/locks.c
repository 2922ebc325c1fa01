/* locks.c: a table of words that all fill, each part of it with a mutex. */
#include "team.h"

enum { STRIPES = 16, BUCKETS = 1 << 14 };

typedef struct Node {
    struct Node *next;
    uint64_t key, count;
} Node;

static struct {
    pthread_mutex_t lock;
    char apart[64];
} stripes[STRIPES];
static Node *buckets[BUCKETS];

static void count(uint64_t key) {
    uint64_t at = team_mix(key) % BUCKETS;
    pthread_mutex_lock(&stripes[at % STRIPES].lock);
    Node *n = buckets[at];
    while (n && n->key != key)
        n = n->next;
    if (!n) {
        n = malloc(sizeof(*n));
        *n = (Node){buckets[at], key, 0};
        buckets[at] = n;
    }
    n->count++;
    pthread_mutex_unlock(&stripes[at % STRIPES].lock);
}

static void work(Member *m) {
    enum { ITEMS = 2000000, KEYS = 40000, STEPS = 120 };
    long end = team_first(m, m->index + 1, ITEMS);
    for (long i = team_first(m, m->index, ITEMS); i < end; i++) {
        uint64_t x = (uint64_t)i;
        for (int k = 0; k < STEPS; k++)
            x = team_mix(x);
        count(x % KEYS);
    }
}

int main(int argc, char **argv) {
    uint64_t all = 0;
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(&stripes[i].lock, NULL);
    team_run(team_size(argc, argv), work);
    for (int i = 0; i < BUCKETS; i++)
        for (Node *n = buckets[i]; n; n = n->next)
            all += team_mix(n->key * 1000003 + n->count);
    printf("%lu\n", (unsigned long)all);
    return 0;
}
