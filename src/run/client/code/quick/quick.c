/* quick.c: the quick tier: the C functions that quick code leaves for.
 *
 * Where guest and host are the same kind of machine, an instruction's own encoding is its fastest translation and the only one that needs no
 * semantics: copy_emit.c copies it. Elsewhere quick code is made of stencils (code/stencil). Both keep the guest's state exact at every instruction,
 * and a jump may lead to every instruction of a block.
 *
 * make.c makes blocks; blocks.c has their tables. A block's exit is a jump, which leads to a stub at first: the stub comes to quick_exit with the
 * exit's number, and the jump leads to the target's code from then on. Targets that are computed (returns, calls and jumps by register) are looked up
 * in the map or the thread's tables; quick_lookup and its relatives are called for those that are not there. */
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

/* Delivers a noted signal or a trap. These look for the flags in the state, where optimised code has them. Returns true if the guest goes on where it was. */
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

/* Code for the guest to go on at pc. If visits of that instruction are not to be made again (visit.c), it is quick code: optimised code knows nothing
 * of that. */
static u8 *find_to_go_on(Thread *t, u64 pc) {
    u8 *code = quick_find(t, pc);
    u32 n = t->tool.skip_pc == pc ? block_at(pc) : 0;
    return n && block_no(n)->enter == code ? block_no(n)->code : code;
}

/* Lets the debugger have its turn, which looks for the flags in the state, too. */
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

/* Called whenever the thread is about to (re-)enter quick code at t->cpu.pc: waits if it is halted, delivers signals, begins all code anew if that is
 * due, and sets t->quick.target. */
static void go_on(Thread *t) {
    if (t->quick.stop)
        stop_here(t);
    bool inside = deliver(t) && t->tool.inside;
    t->tool.inside = false;
    arena_lock();
    if (quick_is_crowded())
        quick_renew(t);
    t->quick.target = (u64)(inside ? quick_find_inside : find_to_go_on)(t, t->cpu.pc);
    if (quick_is_stale()) { /* because of the block that was just made */
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

/* Makes a system call whose place this thread knows from an earlier one, without a lock: threads with many calls would wait for one another. */
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

/* Goes on at the target of a jump or call, for which code is made if there is none, and links the exit to it. */
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

/* The same for a call through a PLT, which may go directly to the function from now on. */
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

/* Finds code for t->cpu.pc, and notes it in the map or the thread's table under the address `asked`, unless a signal leads the guest elsewhere. */
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

/* A host return leaves the host address of its code on the guest's stack, in the place that the guest has given up. Programs whose stack is a list of
 * what to do return through the same place again: then the guest's pc is a host address, and this replaces it by the guest address. The map leads to
 * emit_entry's code in front. Returns that drop bytes are looked up as jumps. */
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

/* A thread is on its way from optimised code to quick code at t->quick.target, and a signal is noted. */
__attribute__((visibility("hidden"))) void quick_arrive(Thread *t) {
    QuickPlace place;
    CHECK(quick_locate(t->quick.target, &place) && place.boundary, "optimised code goes on at a guest instruction");
    t->cpu.pc = place.pc;
    go_on(t);
}

/* Optimised code has returned because of a trap, with the flags in the state. */
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

/* A host signal handler has made the thread come here (translated_diversion), with the guest's state in the Thread. */
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
    arena_written(the.tier.quick_text, size);
    emit_prepare();
    return blocks_init();
}
