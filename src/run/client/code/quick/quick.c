/* quick.c: the quick tier: what its code asks of C.
 *
 * Where guest and host are the same kind of machine, an instruction's own encoding is its fastest translation and the only one
 * that needs no semantics: copy_emit.c copies it. All guest registers are in their own host registers, so the guest's state is exact
 * at every instruction, and every instruction of a block is a place where a jump may lead.
 *
 * make.c makes blocks; blocks.c has the tables of them. A block's exits are jumps whose displacement leads to a stub at first,
 * which asks here for the target by the exit's number, and to the target's code once there is some. What is computed (returns,
 * calls and jumps by register) is looked up in the thread's tables by quick.S, and asked for here if it is not there. */
#include "run/client/code/quick/quick.h"
#include "run/client/code/quick/visit.h"

#include "guest_flags.h"
#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/above.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/halt.h"
#include "run/client/core/debug.h"
#include "run/client/core/events.h"
#include "run/client/memory/space.h"

/* Signals and traps, which have to see the state where the other tier has it. true: the guest goes on where it was. */
static bool deliver(Thread *t) {
    u64 pc = t->cpu.pc;
    if (!t->pending_signals && !t->cpu.trap)
        return true;
    frame_set_flags(&t->cpu, t->quick.flags);
    if (t->cpu.trap)
        signal_trap(t);
    else
        signal_deliver(t);
    t->quick.flags = frame_flags(&t->cpu);
    return pc == t->cpu.pc;
}

/* The visits of an instruction that a signal came before are not made again (visit.c), which optimised code knows nothing of. */
static u8 *find_to_go_on(Thread *t, u64 pc) {
    u8 *code = quick_find(t, pc);
    u32 n = t->tool.skip_pc == pc ? block_at(pc) : 0;
    return n && block_no(n)->enter == code ? block_no(n)->code : code;
}

/* The debugger sees the flags where the other tier has them, too. */
static void attend(Thread *t) {
    __atomic_fetch_and(&t->quick.stop, ~halt_bit(HALT_ATTEND), __ATOMIC_SEQ_CST);
    frame_set_flags(&t->cpu, t->quick.flags);
    debug_attend(t);
    t->quick.flags = frame_flags(&t->cpu);
}

static void stop_here(Thread *t) {
    while (t->quick.stop) {
        halt_wait(t);
        if (t->quick.stop & halt_bit(HALT_ATTEND))
            attend(t);
    }
}

static void go_on(Thread *t) {
    if (t->quick.stop)
        stop_here(t);
    bool inside = deliver(t) && t->tool.inside;
    t->tool.inside = false;
    arena_lock();
    if (quick_is_crowded())
        quick_renew(t);
    t->quick.target = (u64)(inside ? quick_find_inside : find_to_go_on)(t, t->cpu.pc);
    if (quick_is_stale()) { /* by this code */
        quick_renew(t);
        t->quick.target = (u64)(inside ? quick_find_inside : find_to_go_on)(t, t->cpu.pc);
    }
    arena_unlock();
    if (t->debug.step)
        debug_arm(t);
}

/* --------------------------------------------------------------------------------------------------------------- exits */

static void system_call(Thread *t) {
    guest_enter_call(&t->cpu, t->quick.flags);
    frame_set_flags(&t->cpu, t->quick.flags);
    guest_syscall(&t->cpu);
    t->quick.flags = frame_flags(&t->cpu);
}

static void interrupt(Thread *t) {
    u8 text[2] = {0};
    guest_read(t->cpu.pc, text, sizeof(text));
    t->cpu.pc += sizeof(text);
    t->cpu.trap = LATHE_TRAP_INTERRUPT;
    t->cpu.trap_info = text[1];
}

/* A call that this thread has made before takes no lock: threads with many calls would wait for one another. */
static bool call_known(Thread *t) {
    const CallSite *c = &t->lookup.sites[t->quick.exit % CALL_SITES];
    if (c->exit != t->quick.exit || c->age != quick_tables_age())
        return false;
    t->cpu.pc = c->pc;
    system_call(t);
    bool on =
        t->cpu.pc == c->pc && c->age == quick_tables_age() && !t->quick.stop && !t->pending_signals && !t->cpu.trap;
    if (on)
        t->quick.target = c->code;
    else
        go_on(t);
    return true;
}

static void call_and_note(Thread *t, u64 pc) {
    u64 exit = t->quick.exit, age = quick_tables_age();
    system_call(t);
    go_on(t);
    if (t->cpu.pc == pc)
        t->lookup.sites[exit % CALL_SITES] = (CallSite){exit, pc, t->quick.target, age};
}

typedef u8 *Find(Thread *t, u64 pc);

static Find *finder_of(ExitKind kind) {
    return kind == EXIT_LINK ? quick_find : kind == EXIT_INSIDE ? quick_find_inside : quick_find_function;
}

/* To the target of a jump or call, which has code from now on. */
static void follow(Thread *t, u32 number) {
    arena_lock();
    const Exit *x = exit_no(number);
    if (x->kind == EXIT_CALL_FLAGS)
        quick_keep_flags(true);
    t->tool.inside = x->kind == EXIT_INSIDE;
    t->quick.target = (u64)finder_of((ExitKind)x->kind)(t, x->pc);
    exit_link(number);
    bool crowded = quick_is_crowded();
    arena_unlock();
    if (t->pending_signals || crowded)
        go_on(t);
}

/* The same where a call may go directly to the function that it leads to. */
static void follow_linkage(Thread *t, u32 number) {
    u64 pc, target;
    arena_lock();
    pc = exit_no(number)->pc;
    t->quick.target = (u64)quick_find_function(t, pc);
    if (emit_linkage(pc, exit_no(number)->site, &target)) {
        quick_find_function(t, target);
        exit_link_linkage(number, target);
    }
    bool crowded = quick_is_crowded();
    arena_unlock();
    if (t->pending_signals || crowded)
        go_on(t);
}

__attribute__((visibility("hidden"))) void quick_exit(Thread *t) {
    u32 number = (u32)t->quick.exit;
    t->tool.inside = false;
    if (call_known(t))
        return;
    arena_lock();
    Exit x = *exit_no(number);
    arena_unlock();
    t->cpu.pc = x.pc;
    switch ((ExitKind)x.kind) {
    case EXIT_LINK:
    case EXIT_INSIDE:
    case EXIT_CALL:
    case EXIT_CALL_FLAGS:
        follow(t, number);
        return;
    case EXIT_LINKAGE:
        follow_linkage(t, number);
        return;
    case EXIT_SYSCALL:
        call_and_note(t, x.pc);
        return;
    case EXIT_SPECIAL:
        guest_special(&t->cpu);
        visit_call_behind(t, x.next);
        t->tool.inside = sites_have_blocks();
        break;
    case EXIT_INTERRUPT:
        interrupt(t);
        break;
    case EXIT_UNSUPPORTED:
        t->cpu.trap = LATHE_TRAP_UNSUPPORTED;
        break;
    case EXIT_UNDEFINED:
        t->cpu.trap = LATHE_TRAP_UNDEFINED;
        break;
    case EXIT_UNREADABLE:
        t->cpu.trap = LATHE_TRAP_UNREADABLE;
        break;
    case EXIT_VISIT:
    case EXIT_ONCE:
        if (!visit_call(t, x.pc))
            go_on(t);
        return;
    case EXIT_UNBOUND:
        CHECK(false, "a call goes directly to a function that it has led to before");
    }
    go_on(t);
}

/* ------------------------------------------------------------------------------------------------------------- lookups */

typedef void Remember(Thread *t, u64 pc, const u8 *code);

/* Code for t->cpu.pc, which the thread's table gets under the address that is `asked` for, unless a signal leads elsewhere. */
static void look_up(Thread *t, u64 asked, Find *find_here, Remember *remember) {
    the.stats.lookups_missed++;
    t->tool.inside = false;
    bool here = deliver(t);
    arena_lock();
    u8 *code = (here ? find_here : quick_find)(t, t->cpu.pc);
    if (here)
        remember(t, asked, code);
    t->quick.target = (u64)code;
    arena_unlock();
}

/* A host return has left the address of its code on the stack, and the guest returns by the same place again: this is the way of
 * programs whose stack is a list of what to do. What the map has is in front of that code. Returns that drop bytes ask as jumps do. */
static void undo_return(Thread *t) {
    QuickPlace place;
    u64 host = t->cpu.pc;
    if (arena_holds(host) && emit_is_entered((u8 *)host + emit_entry_bytes))
        host += emit_entry_bytes;
    if (arena_holds(host) && quick_locate(host, &place) && place.boundary)
        t->cpu.pc = place.pc;
}

__attribute__((visibility("hidden"))) void quick_lookup(Thread *t) {
    u64 asked = t->cpu.pc;
    undo_return(t);
    look_up(t, asked, quick_find_target, table_set_return);
}

__attribute__((visibility("hidden"))) void quick_lookup_call(Thread *t) {
    look_up(t, t->cpu.pc, quick_find_function, table_set_call);
}

__attribute__((visibility("hidden"))) void quick_lookup_jump(Thread *t) {
    t->cpu.pc -= t->quick.spill_base; /* see quick_jump */
    u64 asked = t->cpu.pc;
    undo_return(t);
    look_up(t, asked, quick_find_target, table_set_jump);
}

/* ------------------------------------------------------------------------------------------------------- from elsewhere */

/* On its way from optimised code, to t->quick.target. */
__attribute__((visibility("hidden"))) void quick_arrive(Thread *t) {
    QuickPlace place;
    CHECK(quick_locate(t->quick.target, &place) && place.boundary, "optimised code goes on at a guest instruction");
    t->cpu.pc = place.pc;
    go_on(t);
}

/* Translated code has a trap, and the flags in the state. */
__attribute__((visibility("hidden"))) void quick_trapped(Thread *t) {
    t->quick.flags = frame_flags(&t->cpu);
    if (t->cpu.trap == LATHE_TRAP_INSIDE)
        t->cpu.trap = LATHE_TRAP_NONE; /* t->tool.inside says it */
    if (t->cpu.trap == LATHE_TRAP_SYSCALL) {
        t->cpu.trap = LATHE_TRAP_NONE;
        system_call(t);
    }
    go_on(t);
}

/* From a host signal handler, with the guest's state in the Thread. */
__attribute__((visibility("hidden"))) void quick_redirect(Thread *t) {
    visit_interrupted(t);
    if (t->tier.sampled)
        tier_sample(t);
    go_on(t);
}

void quick_run(Thread *t) {
    go_on(t);
    quick_enter();
}

/* ------------------------------------------------------------------------------------------------------------- assembly */

void quick_connect(Thread *t) {
    const void *const all[] = {(void *)quick_lookup,     (void *)quick_lookup_call, (void *)quick_lookup_jump,
                               (void *)quick_arrive,     (void *)quick_exit,        (void *)cross_back,
                               (void *)quick_interrupted};
    memcpy(t->quick.c, all, sizeof(all));
    t->quick.leave = quick_near(quick_leave);
    t->quick.cross_enter = cross_enter;
    t->quick.cross_leave = cross_leave;
    t->quick.arena = the.code_base;
    quick_connect_maker(t);
    quick_expect_nobody(t);
    tables_init(t);
}

bool quick_is_in_assembly(u64 host) {
    u64 at = quick_original(host);
    return (at >= (u64)quick_start && at < (u64)quick_end) || (at >= (u64)cross_start && at < (u64)cross_end);
}

/* ------------------------------------------------------------------------------------------------------ quick.S's copy */

void (*quick_near(void (*place)(void)))(void) {
    return (void (*)(void))(the.tier.quick_text + ((u64)place - (u64)quick_start));
}

u64 quick_original(u64 place) {
    u64 off = place - (u64)the.tier.quick_text;
    return off < (u64)(quick_end - quick_start) ? (u64)quick_start + off : place;
}

bool quick_init(void) {
    u64 size = (u64)(quick_end - quick_start);
    the.tier.quick_text = arena_code(size, 64);
    memcpy(arena_writable(the.tier.quick_text), quick_start, size);
    emit_prepare();
    return blocks_init();
}
