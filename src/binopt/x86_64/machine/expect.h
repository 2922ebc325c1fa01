/* expect.h: estimates how many more passes a loop will make, at a branch in it that is known each time. */
#ifndef BINOPT_MACHINE_EXPECT_H
#define BINOPT_MACHINE_EXPECT_H

#include "binopt/x86_64/machine/graph.h"

/* How far the operands of the comparison before the branch were apart, the last time. */
typedef struct Expect {
    i64 distance;
    u64 outs;
    bool before;
} Expect;

static inline u64 expect_size(i64 v) {
    return v < 0 ? 0 - (u64)v : (u64)v;
}

/* The branch is reached again. Returns how many instructions are to come if the distance continues to shrink as it did. */
static inline u64 expect_next(Expect *e, const MachineUnit *u) {
    i64 nearer = (i64)((u64)e->distance - (u64)u->compare);
    u64 passes = 0, outs = u->total_outs - e->outs, more;
    if (e->before && nearer && (u->compare > 0) == (nearer > 0))
        passes = expect_size(u->compare) / expect_size(nearer);
    *e = (Expect){u->compare, u->total_outs, true};
    return __builtin_mul_overflow(passes, outs, &more) ? UINT64_MAX : more;
}

#endif
