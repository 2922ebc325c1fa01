/* copy_flags.c: what quick code keeps for a few programs only, because it costs time.
 *
 * The flags behind a call: compiled C never reads them, but there are other conventions; SBCL's functions tell by the carry how many values they
 * return. Returns that keep the flags take longer, so they are for programs that make a call behind which flags are read.
 *
 * Registers that the program will write before it reads them: only the handler of a fault or a tracer can see them in the middle of a block. In
 * programs that have neither, a tool's functions may use such registers. */
#include "isa/x86_64/shape.h"
#include "run/client/code/quick/above.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/quick.h"
#include "run/client/host/x86_64/copy/copy.h"
#include "run/client/memory/space.h"

enum { LOOK_INSNS = 8, LOOK_FAR_INSNS = 24 };

static bool exact; /* returns keep the flags */
static bool keeps; /* registers that only the handler of a fault could need */
static bool stale; /* there may be code for a tool that does not keep all that is to be kept */

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

/* How many bytes at pc may be looked at for code elsewhere. None if the program may write there: it may be other code when it is reached. */
static u64 bytes_elsewhere(u64 pc) {
    int prot = space_prot(pc);
    return prot == PROT_UNMAPPED || prot & PROT_WRITE ? 0 : quick_code_bytes(pc);
}

/* True if nobody reads the flags behind this transfer. No program hands flags over by a computed call, and by a return only those for which they are kept. */
static bool ends_flags(const Shape *s, bool handed) {
    return s->kind == SHAPE_CALL_INDIRECT || (s->kind == SHAPE_RET && !handed && !exact);
}

/* Looks along jumps and calls, too, as far as they say where they lead. */
bool flags_are_dead(u64 pc, bool handed) {
    u64 end = pc + quick_code_bytes(pc);
    Shape s;
    for (u32 i = 0; i < LOOK_FAR_INSNS && shape_of((const u8 *)pc, end - pc, &s); i++) {
        if (s.flags & (SHAPE_READS_FLAGS | SHAPE_FLAGS_UNKNOWN))
            return false;
        if (s.flags & SHAPE_KILLS_FLAGS || ends_flags(&s, handed))
            return true;
        if (s.kind != SHAPE_PLAIN && s.kind != SHAPE_JMP && s.kind != SHAPE_CALL)
            return false;
        pc += s.length;
        if (s.kind == SHAPE_PLAIN)
            continue;
        pc += (u64)s.target;
        end = pc + bytes_elsewhere(pc);
    }
    return false;
}

void quick_keep_flags(bool anew) {
    if (exact)
        return;
    exact = true;
    stale = anew && *the.opt.tool;
    tier_stop_locked();
    for (Thread *t = the.threads; t; t = t->next)
        quick_set_returns(t);
}

/* Nothing to do: the guest's flags are in the host's register at every instruction. */
void quick_show_flags(void) {
}

void quick_keep_registers(void) {
    stale |= !keeps && *the.opt.tool;
    keeps = true;
}

bool quick_keeps_registers(u64 pc) {
    int prot = space_prot(pc);
    return keeps || prot == PROT_UNMAPPED || prot & PROT_WRITE;
}

bool quick_is_stale(void) {
    return stale;
}

void emit_forget_all(void) {
    stale = false;
    kept_forget_all();
}

bool quick_keeps_flags(void) {
    return exact;
}
