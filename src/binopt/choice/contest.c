/* contest.c: how contests begin and end; see contest.h. */
#include "binopt/choice/contest.h"

#include "binopt/x86_64/door/clock.h"

Contest *contest_begin(const Door *door, const BinoptFunc *versions, u32 count) {
    if (!clock_may_be_read())
        return NULL;
    Contest *c = mem_new(sizeof(*c));
    *c = (Contest){.bell = {.enter = door_enter, .ring = contest_turn}, .door = *door, .left = door_count(door)};
    door_hang(door, &c->bell);
    contest_begin_again(c, versions, count);
    return c;
}

void contest_free(Contest *c) {
    mem_free(c);
}

int contest_winner(const Contest *c) {
    return __atomic_load_n(&c->winner, __ATOMIC_RELAXED);
}

bool contest_lost(const Contest *c) {
    return contest_winner(c) == (int)c->count - 1;
}
