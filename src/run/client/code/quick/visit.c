/* visit.c: see visit.h. */
#include "run/client/code/quick/visit.h"

#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/direct.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/quick/tally.h"
#include "run/client/core/guest.h"
#include "run/client/tool/explain.h"

static void explain_left(const SiteInsn *insn, SitePhase phase, u64 bytes) {
    u64 hooks = 0;
    for (u32 i = 0; i < insn->call_count; i++)
        if (insn->phase[i] == phase) {
            explain_quick(insn->call[i].hook, TOOL_LEFT, 0);
            hooks |= (u64)1 << insn->call[i].hook;
        }
    explain_quick_bytes(hooks, bytes);
}

/* Emits the exit of a visit whose functions are called outside of quick code. */
static void emit_left(Emitter *e, const SiteInsn *insn, SitePhase phase, u32 exit) {
    const u8 *before = e->at;
    emit_leave(e, exit);
    explain_left(insn, phase, (u64)(e->at - before));
}

/* Emits a visit before each pass of a repeated instruction. If a signal is noted, it leaves quick code, so that the signal is delivered between two passes. */
static void emit_pass(Emitter *e, const SiteInsn *insn, u32 exit) {
    u8 *before = e->at;
    emit_leave_if_asked(e, exit);
    if (direct_emit(e, insn, SITE_PASS))
        return;
    e->at = before;
    emit_left(e, insn, SITE_PASS, exit);
}

bool visit_emit(Emitter *e, const SiteInsn *insn, SitePhase phase) {
    if (!sites_has(insn, phase) || (phase != SITE_PASS && direct_emit(e, insn, phase)))
        return false;
    u32 number = site_new(insn, phase), exit = exit_new(EXIT_VISIT, number, NULL);
    emit_give_back(e, NULL);
    if (phase == SITE_PASS)
        emit_pass(e, insn, exit);
    else
        emit_left(e, insn, phase, exit);
    site_no(number)->behind = e->at;
    return true;
}

/* True if the exit's jump may be put over the code of the next instructions. That is possible if jumps lead only to beginnings of what the tool sees
 * as blocks, so that no thread comes to the middle of that code. Only bytes that are guarded against writes are looked at. */
static bool can_be_covered(const SiteInsn *insn, u32 insns) {
    u64 bytes = quick_code_bytes(insn->pc);
    return insns >= EMIT_SWITCH_INSNS && sites_have_blocks() && insn->begins_block &&
           emit_can_switch(insn->pc, bytes < GUEST_INSN_BYTES ? bytes : GUEST_INSN_BYTES);
}

bool visit_emit_once(Emitter *e, const SiteInsn *insn, u32 insns) {
    if (!sites_has(insn, SITE_ONCE))
        return false;
    const u8 *before = e->at;
    emit_give_back(e, NULL);
    u8 *place = emit_switch(e, can_be_covered(insn, insns));
    u32 number = site_new(insn, SITE_ONCE);
    site_no(number)->exit = exit_new(EXIT_ONCE, number, place);
    site_no(number)->behind = e->at;
    explain_left(insn, SITE_ONCE, (u64)(e->at - before));
    return true;
}

void visits_begin_once(void) {
    if (!sites_call_once())
        return;
    arena_lock();
    exits_begin_once();
    arena_unlock();
}

/* Numbers of visits are from 1 here. */
u32 visit_behind(const SiteInsn *insn) {
    return sites_has(insn, SITE_BEHIND) ? site_new(insn, SITE_BEHIND) + 1 : 0;
}

static Site take_site(u64 number) {
    arena_lock();
    Site s = *site_no((u32)number);
    arena_unlock();
    return s;
}

/* ------------------------------------------------------------------------------------------------------------- skipping */

/* The visits before an instruction have an order: the one before all passes, and the one before each pass. A signal may come before each of them. */
static u32 order_of(const Site *s) {
    return s->phase == SITE_PASS;
}

/* What was counted before a repeated instruction will be counted again when the guest comes back to it. */
static void take_back_passes(Thread *t, const Site *s) {
    TallySum sum;
    if (s->phase != SITE_PASS && s->phase != SITE_PASSED)
        return;
    arena_lock();
    site_amounts(s, &sum);
    arena_unlock();
    tally_take_back(t, &sum);
}

/* Notes that the visits of the first so many phases were made, so that they are not made again when the guest comes back. */
static void skip(Thread *t, const Site *s, u32 phases) {
    take_back_passes(t, s);
    if (!phases)
        return;
    t->tool.skip_pc = s->pc;
    t->tool.skip_sp = guest_sp(&t->cpu);
    t->tool.skip_phases = phases;
}

/* True if this visit was made before a signal came, and is not to be made again. */
static bool is_again(Thread *t, const Site *s) {
    if (t->tool.skip_pc != s->pc || t->tool.skip_sp != guest_sp(&t->cpu))
        return false;
    bool again = order_of(s) < t->tool.skip_phases;
    if (order_of(s) + 1 >= t->tool.skip_phases)
        t->tool.skip_pc = 0;
    return again;
}

/* --------------------------------------------------------------------------------------------------------------- calls */

/* True if the thread cannot go on in this code: a signal has to be delivered first, or the code is forgotten. */
static bool is_left(const Thread *t, const Site *s) {
    return t->pending_signals || s->dead;
}

static bool visit_before(Thread *t, u32 number, const Site *s) {
    t->cpu.pc = s->pc;
    t->tool.inside = s->inside;
    if (is_left(t, s)) {
        skip(t, s, s->has_before);
        return false;
    }
    if (is_again(t, s))
        site_note(t, s);
    else
        site_call(t, s);
    t->quick.target = (u64)s->behind;
    t->tool.visited = (u64)s->behind;
    t->tool.visited_site = number;
    return true;
}

/* Calls functions of hooks with `once`, and takes the exit's jump away. Another thread that has come by the same exit may call them, too. A noted
 * signal is delivered first; the visit is made when its handler has returned. */
static bool visit_once(Thread *t, u32 number, const Site *s) {
    t->cpu.pc = s->pc;
    t->tool.inside = s->inside;
    if (is_left(t, s))
        return false;
    site_call(t, s);
    arena_lock();
    exit_end_once(site_no(number)->exit);
    arena_unlock();
    t->quick.target = (u64)s->behind;
    return true;
}

/* Calls the functions behind an instruction, or behind a pass, even if a signal has to be delivered first: the guest does not come back to this place. */
static bool visit_after(Thread *t, const Site *s) {
    bool repeats = s->phase == SITE_PASSED && guest_repeats(&t->cpu, t->quick.flags, s->text, s->size);
    t->cpu.pc = repeats ? s->pc : s->pc + s->size;
    t->tool.inside = sites_have_blocks();
    site_call(t, s);
    if (!is_left(t, s)) {
        t->quick.target = (u64)s->behind;
        return true;
    }
    if (repeats)
        skip(t, s, s->has_before);
    return false;
}

bool visit_call(Thread *t, u64 number) {
    Site s = take_site(number);
    if (s.phase == SITE_ONCE)
        return visit_once(t, (u32)number, &s);
    bool before = s.phase == SITE_BEFORE || s.phase == SITE_PASS;
    return before ? visit_before(t, (u32)number, &s) : visit_after(t, &s);
}

void visit_call_behind(Thread *t, u32 number) {
    if (!number)
        return;
    Site s = take_site(number - 1);
    site_call(t, &s);
}

void visit_done(Thread *t) {
    t->tool.visited = 0;
}

/* If the visit is the last thing that the thread has done, the signal came between the visit and its instruction. */
void visit_interrupted(Thread *t) {
    bool just_now = t->tool.visited && t->tool.visited == t->quick.target;
    t->tool.visited = 0;
    if (!just_now)
        return;
    Site s = take_site(t->tool.visited_site);
    skip(t, &s, order_of(&s) + 1);
}
