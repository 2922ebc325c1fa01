/* expect.h: how much more of a loop there will be, seen from a branch in it that is known each time. */
#ifndef BINOPT_MACHINE_EXPECT_H
#define BINOPT_MACHINE_EXPECT_H

#include "binopt/machine/graph.h"

/* How far the comparison before the branch was from being equal, the last time. */
typedef struct Expect {
    i64 distance;
    u64 outs;
    bool before;
} Expect;

/* The branch is met again: how many instructions are to come, if the distance goes on to shrink as it did. */
static inline u64 expect_next(Expect *e, const Unit *u) {
    i64 nearer = e->distance - u->compare, passes = 0;
    if (e->before && nearer && (u->compare > 0) == (nearer > 0))
        passes = u->compare / nearer;
    u64 outs = u->total_outs - e->outs;
    *e = (Expect){u->compare, u->total_outs, true};
    return (u64)passes * outs;
}

#endif
