/* work.h: what the programs of this benchmark share: the amount of work as the argument, and random numbers that are the same
 * everywhere. */
#ifndef WORK_H
#define WORK_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static inline long work_amount(int argc, char **argv, long usual) {
    return argc > 1 ? atol(argv[1]) : usual;
}

static inline uint32_t work_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

#endif
