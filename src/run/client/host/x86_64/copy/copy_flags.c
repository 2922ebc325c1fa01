/* copy_flags.c: does somebody read the flags that a call has left? Compiled C does not, but there are such conventions: SBCL's functions tell
 * by the carry how many values they return. Returns that keep the flags take longer, so they are for programs that make such a
 * call. */
#include "isa/x86_64/shape.h"
#include "run/client/code/quick/above.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/quick.h"

enum { LOOK_INSNS = 8 };

static bool exact; /* returns keep the flags */

bool flags_are_read(u64 pc) {
    u64 end = pc + quick_code_bytes(pc);
    Shape s;
    for (u32 i = 0; i < LOOK_INSNS && shape_of((const u8 *)pc, end - pc, &s); i++) {
        if (s.flags & SHAPE_READS_FLAGS)
            return true;
        if (s.kind != SHAPE_PLAIN || s.flags)
            return false;
        pc += s.length;
    }
    return false;
}

bool flags_are_dead(u64 pc) {
    u64 end = pc + quick_code_bytes(pc);
    Shape s;
    for (u32 i = 0; i < LOOK_INSNS && shape_of((const u8 *)pc, end - pc, &s); i++) {
        if (s.flags & (SHAPE_READS_FLAGS | SHAPE_FLAGS_UNKNOWN))
            return false;
        if (s.flags & SHAPE_KILLS_FLAGS)
            return true;
        if (s.kind != SHAPE_PLAIN)
            return false;
        pc += s.length;
    }
    return false;
}

void quick_keep_flags(void) {
    if (exact)
        return;
    exact = true;
    tier_stop_locked();
    for (Thread *t = the.threads; t; t = t->next)
        quick_set_returns(t);
}

bool quick_keeps_flags(void) {
    return exact;
}
