/* vm.c: an interpreter of bytecode that computes primes: a switch in a loop. */
#include <stdio.h>

#include "work.h"

enum { LOADI, MOVE, ADD, SUB, MUL, MOD, LESS, EQUAL, JUMP, JUMPZ, STORE, FETCH, HALT };
typedef struct Insn {
    uint8_t op, a, b, c;
    int32_t imm;
} Insn;

/* r1 = limit; counts primes below it in r9 by trial division with those found */
static const Insn program[] = {
    {LOADI, 2, 0, 0, 2},  /* 0: candidate */
    {LOADI, 9, 0, 0, 0},  /* 1: count */
    {LOADI, 8, 0, 0, 1},  /* 2: one */
    {LOADI, 7, 0, 0, 0},  /* 3: zero */
    {LESS, 3, 2, 1, 0},   /* 4: loop */
    {JUMPZ, 3, 0, 0, 20}, /* 5 */
    {LOADI, 4, 0, 0, 0},  /* 6: index */
    {LESS, 3, 4, 9, 0},   /* 7: inner */
    {JUMPZ, 3, 0, 0, 16}, /* 8: prime */
    {FETCH, 5, 4, 0, 0},  /* 9 */
    {MUL, 6, 5, 5, 0},    /* 10 */
    {LESS, 3, 2, 6, 0},   /* 11: candidate < p * p: prime */
    {JUMPZ, 3, 0, 0, 14}, /* 12 */
    {JUMP, 0, 0, 0, 16},  /* 13 */
    {MOD, 6, 2, 5, 0},    /* 14 */
    {JUMPZ, 6, 0, 0, 18}, /* 15: divisible */
    {JUMP, 3, 0, 0, 21},  /* 16: see whether we came from the end of the list */
    {HALT, 0, 0, 0, 0},   /* 17 */
    {ADD, 2, 2, 8, 0},    /* 18: next candidate */
    {JUMP, 0, 0, 0, 4},   /* 19 */
    {HALT, 0, 0, 0, 0},   /* 20 */
    {LESS, 3, 4, 9, 0},   /* 21 */
    {JUMPZ, 3, 0, 0, 27}, /* 22: all tried */
    {FETCH, 5, 4, 0, 0},  /* 23 */
    {MUL, 6, 5, 5, 0},    /* 24 */
    {LESS, 3, 2, 6, 0},   /* 25 */
    {JUMPZ, 3, 0, 0, 30}, /* 26: not yet: try the next one */
    {STORE, 2, 9, 0, 0},  /* 27 */
    {ADD, 9, 9, 8, 0},    /* 28 */
    {JUMP, 0, 0, 0, 18},  /* 29 */
    {ADD, 4, 4, 8, 0},    /* 30 */
    {JUMP, 0, 0, 0, 7},   /* 31 */
};

static int64_t memory[1 << 20];

static int64_t run(int64_t limit) {
    int64_t r[16] = {0};
    r[1] = limit;
    for (const Insn *pc = program;; pc++) {
        switch (pc->op) {
        case LOADI:
            r[pc->a] = pc->imm;
            break;
        case MOVE:
            r[pc->a] = r[pc->b];
            break;
        case ADD:
            r[pc->a] = r[pc->b] + r[pc->c];
            break;
        case SUB:
            r[pc->a] = r[pc->b] - r[pc->c];
            break;
        case MUL:
            r[pc->a] = r[pc->b] * r[pc->c];
            break;
        case MOD:
            r[pc->a] = r[pc->b] % r[pc->c];
            break;
        case LESS:
            r[pc->a] = r[pc->b] < r[pc->c];
            break;
        case EQUAL:
            r[pc->a] = r[pc->b] == r[pc->c];
            break;
        case JUMP:
            pc = program + pc->imm - 1;
            break;
        case JUMPZ:
            pc = r[pc->a] ? pc : program + pc->imm - 1;
            break;
        case STORE:
            memory[r[pc->b]] = r[pc->a];
            break;
        case FETCH:
            r[pc->a] = memory[r[pc->b]];
            break;
        case HALT:
            return r[9];
        }
    }
}

int main(int argc, char **argv) {
    printf("%lld\n", (long long)run(work_amount(argc, argv, 1500000)));
    return 0;
}
