/* packets.c: a packet filter: rules as the user has written them, each a list of tests on fields of a packet. The general code
 * interprets the rules for each packet; with the rules known it is the code that one would have written for them. */
#include "study.h"

#include <stdint.h>

enum { MAX_TESTS = 6, MAX_RULES = 24, PACKETS = 4000, PACKET_BYTES = 64 };

typedef enum Relation { EQUAL, DIFFERENT, BELOW, ABOVE } Relation;

/* A number of 1, 2 or 4 bytes, as networks order them, and what it is compared with. */
typedef struct Test {
    uint8_t offset, bytes, relation, reserved;
    uint32_t mask, value;
} Test;

typedef struct Rule {
    int verdict, count;
    Test test[MAX_TESTS];
} Rule;

typedef struct Rules {
    int count, otherwise;
    Rule rule[MAX_RULES];
} Rules;

static uint8_t packet[PACKETS][PACKET_BYTES];
static int verdict[PACKETS];

static inline uint32_t field(const Test *t, const uint8_t *p) {
    uint32_t v = 0;
    for (int i = 0; i < t->bytes; i++)
        v = v << 8 | p[t->offset + i];
    return v & t->mask;
}

static inline bool passes(const Test *t, uint32_t v) {
    switch ((Relation)t->relation) {
    case EQUAL:
        return v == t->value;
    case DIFFERENT:
        return v != t->value;
    case BELOW:
        return v < t->value;
    case ABOVE:
        return v > t->value;
    }
    return false;
}

__attribute__((noinline)) static int classify(const Rules *rules, const uint8_t *p, int size) {
    for (int r = 0; r < rules->count; r++) {
        const Rule *rule = &rules->rule[r];
        bool all = true;
        for (int i = 0; all && i < rule->count; i++) {
            const Test *t = &rule->test[i];
            all = t->offset + t->bytes <= size && passes(t, field(t, p));
        }
        if (all)
            return rule->verdict;
    }
    return rules->otherwise;
}

static void configure(BinoptCfgRef cfg, void *user) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, user, sizeof(Rules), BINOPT_MEM_CONST);
}

static void run(BinoptFunc kernel, void *user) {
    for (int i = 0; i < PACKETS; i++)
        verdict[i] = ((__typeof__(&classify))kernel)(user, packet[i], 40 + i % 24);
}

/* Rules on what would be addresses, protocol and ports of a packet. */
static void build(Rules *rules, int count) {
    *rules = (Rules){.count = count, .otherwise = -1};
    for (int r = 0; r < count; r++) {
        uint32_t n = (uint32_t)r;
        rules->rule[r] = (Rule){r % 3,
                                3 + r % 4,
                                {{9, 1, EQUAL, 0, 0xff, n % 3 * 5 + 1},
                                 {12, 4, r % 2 ? EQUAL : DIFFERENT, 0, 0xf0000000, n << 28},
                                 {22, 2, r % 3 ? BELOW : ABOVE, 0, 0xffff, 1024 * n},
                                 {20, 2, ABOVE, 0, 0xffff, 99 * n},
                                 {16, 4, EQUAL, 0, 0x3, n & 3},
                                 {33, 1, DIFFERENT, 0, 0x12, 2}}};
    }
}

int main(int argc, char **argv) {
    static const int counts[] = {1, 4, 8, 16, 24};
    bool bench, right = true;
    BinoptHandle handle = study_begin(argc, argv, "packet", &bench);
    uint32_t seed = 1;
    for (int i = 0; i < PACKETS * PACKET_BYTES; i++) {
        seed = seed * 1664525 + 1013904223;
        packet[i / PACKET_BYTES][i % PACKET_BYTES] = i % PACKET_BYTES == 9 ? seed >> 24 & 15 : seed >> 24;
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        static Rules rules;
        char name[64];
        build(&rules, counts[i]);
        snprintf(name, sizeof(name), "%d rule%s", counts[i], counts[i] > 1 ? "s" : "");
        Study s = {.name = name,
                   .kernel = (BinoptFunc)classify,
                   .configure = configure,
                   .run = run,
                   .result = verdict,
                   .result_bytes = sizeof(verdict),
                   .exact = true,
                   .units = PACKETS,
                   .user = &rules};
        right &= study_run(&s, handle, bench);
    }
    binopt_fini(handle);
    return !right;
}
