/* code.c: code of the optimising tier: how it is found, linked and run.
 *
 * The table `map` has all translations (entries.h). Each thread has a small table of its own (Thread.table), which translated code searches by
 * itself, with the targets that its jumps and calls through registers have asked for. A thread fills its own table, under the arena's lock; whatever
 * makes translations invalid empties the tables of all threads.
 *
 * A direct call to a function that is not translated goes to a stub, which asks for the function. When its code exists, the stub becomes a jump to
 * it. */
#include <linux/futex.h>

#include "cache/pack.h"
#include "host_stubs.h"
#include "run/client/code/arena/arena.h"
#include "run/client/code/cache/store.h"
#include "run/client/code/optimised/accesses.h"
#include "run/client/code/optimised/code.h"
#include "run/client/code/optimised/entries.h"
#include "run/client/code/optimised/leave.h"
#include "run/client/code/optimised/once.h"
#include "run/client/code/quick/above.h"
#include "run/client/code/quick/emit.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/server/remote.h"
#include "run/client/core/events.h"
#include "run/client/core/frame.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"
#include "run/client/memory/watch.h"
#include "run/client/tool/perf.h"
#include "run/client/tool/tool.h"

enum { MAP_BITS = 8 }; /* of the first map; most programs have nothing optimised, and look through all of it */

static Code code_of_process;

/* of enter.S */
void code_enter(Thread *t, void *code);
void lathe_leave(void);

/* ------------------------------------------------------------------------------------------------------- translations */

static void *link_timed(Code *c, const void *object, u32 size, const Module *m, u64 pc) {
    u64 start = sys_now_us();
    void *code = objects_add(c, object, size, m ? m->base : 0, pc);
    if (code)
        perf_note(pc, code, (u64)(arena_room(0, 1) - (u8 *)code));
    the.stats.link_us += sys_now_us() - start;
    the.stats.objects_bytes += size;
    the.stats.functions += code != NULL;
    return code;
}

/* No optimised code is requested for this place any more. Images keep that. */
static void give_up(CodeEntry *e) {
    e->asked = e->given_up = true;
    the.tier.code->any = true;
}

static void refuse(CodeEntry *e) {
    e->refused = true;
    give_up(e);
}

static void *from_cache(Code *c, Module *m, u64 pc) {
    Stored s;
    const void *object = m && !the.opt.no_cache ? store_find(m, pc, &s) : NULL;
    if (object && !s.object_size)
        refuse(entry_for(c, pc));
    void *code = object && s.object_size ? link_timed(c, object, s.object_size, m, pc) : NULL;
    if (code)
        entry_for(c, pc)->span = s.span;
    the.stats.cached += code != NULL;
    the.stats.guest_insns += code ? s.insns : 0;
    return code;
}

static void note_answer(Code *c, u64 pc, const ObjectMessage *facts, const void *code) {
    if (code)
        entry_for(c, pc)->alien = !facts->inside, entry_for(c, pc)->span = facts->span;
    the.stats.requested++;
    the.stats.lift_us += facts->lift_us;
    the.stats.opt_us += facts->opt_us;
    the.stats.emit_us += facts->emit_us;
    the.stats.guest_insns += code ? facts->insns : 0;
}

/* The module whose file has the code at pc. NULL also where the guest may write: such code may become other code at any time, and is guarded. */
static Module *module_of_code(u64 pc) {
    int prot = space_prot(pc);
    return prot != PROT_UNMAPPED && prot & PROT_WRITE ? NULL : space_module(pc);
}

/* Asks the server and waits, without the lock. Meanwhile, other threads may change the map, forget this very code, or move the module. Then the
 * answer does not count, and the function returns false: ask again. */
static bool from_server(Code *c, Remote *r, Thread *t, u64 pc, ObjectMessage *facts, void **code) {
    TranslateMessage request = remote_request(pc, module_of_code(pc));
    u64 start = sys_now_us();
    entry_for(c, pc)->maker = t->tid;
    const void *object = NULL;
    c->requests++;
    arena_unlock();
    bool served = remote_translate(t, r, request, facts, &object);
    arena_lock();
    c->requests--;
    the.stats.wait_us += sys_now_us() - start;
    const Module *m = module_of_code(pc);
    bool valid = entry_known(c, pc)->maker == t->tid && (m ? m->base : 0) == request.base;
    *code = valid && object ? link_timed(c, object, facts->object_size, m, pc) : NULL;
    if (valid)
        entry_for(c, pc)->maker = 0;
    if (!served && !quick_works())
        die("this processor has no quick code, so the program cannot go on without the translation server");
    if (!served && *the.opt.plugin)
        die("the program cannot go on with the plugin, because there is no translation server");
    c->unserved |= !served;
    note_answer(c, pc, facts, *code);
    return valid || !served;
}

/* Waits until a request of another thread has been answered, but not longer than a tenth of a second: if that thread was killed meanwhile, nobody
 * will wake this one. */
static void await_news(Code *c) {
    u32 seen = c->news;
    struct timespec patience = {.tv_nsec = 100000000};
    arena_unlock();
    sys_futex(&c->news, FUTEX_WAIT_PRIVATE, seen, &patience);
    arena_lock();
}

static void tell_news(Code *c) {
    __atomic_fetch_add(&c->news, 1, __ATOMIC_RELEASE);
    sys_futex(&c->news, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL);
}

static bool is_being_made(const CodeEntry *e) {
    return e->maker && sys_tkill(e->maker, 0) != -ESRCH;
}

/* Code for a guest address that cannot be translated: it sets the trap and returns to the dispatcher. */
static void *trapping(u64 pc, LatheTrap trap) {
    u8 *at = arena_code(STUB_TRAP_BYTES, STUB_BYTES);
    stub_write_trap(arena_writable(at), offsetof(GuestCpu, trap), trap, pc);
    arena_written(at, STUB_TRAP_BYTES);
    return at;
}

bool code_init(void) {
    Code *c = the.tier.code = &code_of_process;
    c->map_cap = 1 << MAP_BITS;
    c->map = sys_pages(c->map_cap * sizeof(CodeEntry));
    the.tier.code_age = 1;
    objects_init(c);
    return true;
}

static void set_code(Code *c, CodeEntry *e, void *code) {
    c->any = true;
    e->code = code;
    if (e->stub)
        stub_redirect(e->stub, code);
}

/* True if there is a tool, and quick code for it: the server gives no code where it could not tell the tool of everything; quick code can. */
static bool is_watched(void) {
    u64 size;
    return tool_package(&size) && quick_works();
}

/* With --tier=opt: gets optimised code for pc, and waits for the server if necessary. Several threads ask for different functions at the same time;
 * if one asks for the same function already, this one waits for its answer. */
static void *find_optimised(Thread *t, Code *c, u64 pc) {
    if (!quick_code_bytes(pc))
        return trapping(pc, LATHE_TRAP_UNREADABLE);
    void *code = from_cache(c, module_of_code(pc), pc);
    bool answered = code;
    ObjectMessage facts = {0};
    while (!answered) {
        Remote *r = is_being_made(entry_known(c, pc)) ? NULL : remote_take(t);
        if (r) {
            answered = from_server(c, r, t, pc, &facts, &code);
            remote_give(r);
            tell_news(c);
        } else {
            await_news(c);
            code = entry_known(c, pc)->code;
            if (code)
                return code;
        }
    }
    c->unserved |= !code && is_watched();
    if (!code && c->unserved)
        return trapping(pc, LATHE_TRAP_NONE);
    if (!code)
        return trapping(pc, facts.undecodable ? LATHE_TRAP_UNSUPPORTED : LATHE_TRAP_UNREADABLE);
    set_code(c, entry_for(c, pc), code);
    return code;
}

/* The way from optimised code to the quick code at pc, for a place that has no optimised code. */
static void *find_quick(Thread *t, Code *c, u64 pc) {
    const u8 *quick = quick_find_function(t, pc);
    CodeEntry *e = entry_for(c, pc);
    if (e->code) /* it was in the cache */
        return e->code;
    if (!e->leave)
        c->any = true, e->leave = emit_cross(quick, true);
    if (e->stub)
        stub_redirect(e->stub, e->leave);
    return e->leave;
}

/* With --tier=auto, a thread with a noted signal goes to quick code, which delivers it; optimised code may not look for signals. */
static void *find(Thread *t, Code *c, u64 pc) {
    bool is_auto = the.opt.tier == TIER_AUTO;
    void *code = is_auto && t->pending_signals ? NULL : entry_known(c, pc)->code;
    if (!code)
        code = is_auto ? find_quick(t, c, pc) : find_optimised(t, c, pc);
    return code;
}

/* With --tier=opt: true if the code at pc may be optimised. If the guest is of the host's kind, that is only code of files to which the guest may not
 * write; quick code is there for the rest, and sees each change. An address with nothing to execute counts as well: optimised code for it raises the
 * guest's fault. */
static bool is_fixed(u64 pc) {
    int prot = space_prot(pc);
    bool executable = prot != PROT_UNMAPPED && (prot & PROT_EXEC);
    return !guest_facts.is_hosts || !executable || (space_module(pc) && !(prot & PROT_WRITE));
}

void *code_find(Thread *t, u64 pc) {
    arena_lock();
    void *code = find(t, the.tier.code, pc);
    arena_unlock();
    return code;
}

/* ---------------------------------------------------------------------------------------------------------- both tiers */

bool code_has(u64 pc) {
    const CodeEntry *e = entry_known(the.tier.code, pc);
    return e->code || e->asked;
}

bool code_is_settled(u64 pc) {
    const CodeEntry *e = entry_known(the.tier.code, pc);
    return e->code || e->given_up;
}

bool code_is_given_up(u64 pc) {
    return entry_known(the.tier.code, pc)->given_up;
}

u64 code_warm(u64 pc, u32 heat) {
    CodeEntry *e = entry_for(the.tier.code, pc);
    e->heat = heat > UINT32_MAX - e->heat ? UINT32_MAX : e->heat + heat;
    the.tier.code->heat += heat;
    return (u64)e->heat + e->past;
}

void code_ask(u64 pc) {
    entry_for(the.tier.code, pc)->asked = true;
}

/* Makes all threads go on in this optimised code when they come to pc. */
static void take_over(Thread *t, Code *c, u64 pc, void *code) {
    set_code(c, entry_for(c, pc), code);
    for (Thread *each = the.threads; each; each = each->next)
        if (entry_row(each, pc)->pc == pc)
            __atomic_store_n(&entry_row(each, pc)->code, (u64)code, __ATOMIC_RELEASE);
    quick_override(t, pc, emit_cross(code, false));
}

/* Takes all ways to the entry's code away: direct calls, its stub, and jumps of quick code. */
static void drop_code(Code *c, CodeEntry *e) {
    if (e->code)
        quick_restore(e->pc);
    if (e->code || e->leave)
        entry_to_lazy(c, e);
    e->code = e->leave = NULL;
}

static void revert(CodeEntry *e) {
    e->code = NULL;
    give_up(e);
    quick_restore(e->pc);
    the.stats.reverted++;
}

void code_revert(u64 offset) {
    Code *c = the.tier.code;
    for (u64 i = 0; i < c->map_cap; i++) {
        CodeEntry *e = &c->map[i];
        if (!e->used || !e->code || (u64)e->code - the.code_base != offset)
            continue;
        revert(e);
        return;
    }
}

void code_recall(u64 pc, u32 heat, bool given_up, bool refused) {
    CodeEntry *e = entry_for(the.tier.code, pc);
    e->past = heat;
    e->refused |= refused;
    if (given_up && e->code)
        revert(e);
    else if (given_up || (refused && !e->code))
        give_up(e);
}

void code_revert_all(void) {
    Code *c = the.tier.code;
    for (u64 i = 0; i < c->map_cap && c->map_len; i++) {
        CodeEntry *e = &c->map[i];
        if (e->used && e->code)
            drop_code(c, e);
        if (e->used)
            e->asked = e->given_up;
    }
    if (c->any)
        entry_empty_rows();
}

void code_forget_all(void) {
    Code *c = the.tier.code;
    memset(c->map, 0, c->map_cap * sizeof(CodeEntry));
    c->map_len = 0;
    c->any = false;
    accesses_forget_all();
    once_forget_all();
    entry_empty_rows();
}

void code_load(Thread *t, u64 pc) {
    Code *c = the.tier.code;
    Module *m = space_module(pc);
    void *code = entry_known(c, pc)->code ? NULL : from_cache(c, m, pc);
    if (code)
        take_over(t, c, pc, code);
}

void code_install(Thread *t, const ObjectMessage *facts, const void *object) {
    Code *c = the.tier.code;
    void *code = link_timed(c, object, facts->object_size, space_module(facts->pc), facts->pc);
    note_answer(c, facts->pc, facts, code);
    if (code)
        take_over(t, c, facts->pc, code);
}

void code_unask(u64 pc) {
    CodeEntry *e = entry_for(the.tier.code, pc);
    e->asked = e->given_up;
}

void code_refused(const ObjectMessage *facts) {
    note_answer(the.tier.code, facts->pc, facts, NULL);
    refuse(entry_for(the.tier.code, facts->pc));
    the.stats.refused++;
}

/* Called by enter.S when the table had no answer. */
__attribute__((visibility("hidden"))) void *code_resolve(Thread *t) {
    u64 pc = t->cpu.pc;
    if (t->tier.optimised && (t->pending_signals || leave_due(t) || !is_fixed(pc)))
        return (void *)lathe_leave; /* thread_run knows what to do */
    arena_lock();
    void *code = find(t, the.tier.code, pc);
    *entry_row(t, pc) = (TableEntry){pc, (u64)code};
    the.stats.lookups_missed++;
    arena_unlock();
    return code;
}

static void note_changed(u64 start, u64 end) {
    for (u32 i = 0; i < the.memory.module_count; i++)
        if (the.memory.modules[i].base < end && start < the.memory.modules[i].end)
            the.memory.modules[i].changes++;
}

/* True if the translation of this entry was made from bytes in [start, end). A translation of code that is in no file has a guard of its own, so only
 * its first address counts. */
static bool is_of(const CodeEntry *e, u64 start, u64 end) {
    bool begins = e->pc >= start && e->pc < end, touches = e->span.start < end && start < e->span.end;
    return e->used && (begins || (touches && e->code && space_module(e->pc)));
}

/* Forgets translations of code in [start, end), which has changed: stubs of direct callers ask again. Their memory is not used again. Returns true if
 * there were some. */
static bool forget(Code *c, u64 start, u64 end) {
    bool any = false;
    for (u64 i = 0; i < c->map_cap; i++) {
        CodeEntry *e = &c->map[i];
        if (!is_of(e, start, end))
            continue;
        any |= e->code != NULL;
        drop_code(c, e);
        e->heat = e->past = 0;
        e->asked = e->given_up = e->refused = false;
        e->maker = 0; /* what is being made is of old code */
    }
    entry_empty_rows();
    return any;
}

void code_discard_at(u64 pc) {
    Code *c = the.tier.code;
    CodeEntry *e = c->any ? entry_slot(c->map, c->map_cap, pc) : NULL;
    if (!e || !e->used || (!e->code && !e->leave))
        return;
    entry_to_lazy(c, e);
    e->code = e->leave = NULL;
    for (Thread *t = the.threads; t; t = t->next)
        if (entry_row(t, pc)->pc == pc)
            __atomic_store_n(&entry_row(t, pc)->pc, 0, __ATOMIC_RELEASE);
}

/* Returns true if there was optimised code. */
static bool discard(u64 start, u64 end) {
    bool any = false;
    if (the.tier.code && the.tier.code->any) {
        arena_lock();
        any = forget(the.tier.code, start, end);
        arena_unlock();
    }
    quick_forget(start, end);
    return any;
}

void code_discard(u64 start, u64 end) {
    discard(start, end);
}

/* With the lock held. */
static void give_up_all(void) {
    forget(the.tier.code, 0, ~(u64)0);
    leave_give_up();
}

/* With the lock held. */
static void change_kind(CodeConfig to) {
    u64 difference = pack_key_kind(&the.opt.code) ^ pack_key_kind(&to);
    if (!difference)
        return;
    the.opt.code = to;
    give_up_all();
    store_change(difference);
}

void code_share(void) {
    if (the.opt.tier != TIER_OPT)
        return;
    arena_lock();
    CodeConfig to = the.opt.code;
    to.memory = guest_facts.memory;
    change_kind(to);
    arena_unlock();
}

void code_watch(void) {
    if (the.opt.tier != TIER_OPT)
        return;
    arena_lock();
    CodeConfig to = the.opt.code;
    to.polls = 1;
    change_kind(to);
    arena_unlock();
}

/* No image is written: the next run would begin with code of this slower kind, and translate anew all that runs before the handler is installed. */
void code_keep_state(void) {
    arena_lock();
    CodeConfig to = the.opt.code;
    to.exact = 1;
    change_kind(to);
    the.tier.no_image = true;
    arena_unlock();
}

static void tell_plugin_ends(const char *why) {
    char line[512];
    sys_write_all(
        the.stats_fd, line,
        format_text(line, sizeof(line), "lathe: from here on the program runs without the plugin: %s\n", why));
}

/* No image is written, because it would have code of both tiers. */
void code_give_way(const char *why) {
    arena_lock();
    if (the.opt.tier == TIER_OPT) {
        if (*the.opt.plugin)
            tell_plugin_ends(why);
        the.opt.tier = TIER_QUICK;
        the.tier.no_image = true;
        give_up_all();
    }
    arena_unlock();
}

static bool is_allowed(u64 addr, int access) {
    int prot = space_prot(addr);
    return prot != PROT_UNMAPPED && (prot & access);
}

/* No thread returns to frames of optimised code on its host stack. */
static void leave_frames(void) {
    for (Thread *t = the.threads; t; t = t->next)
        quick_expect_nobody(t);
}

/* A module whose memory is no longer executable here does not count as changed: a dynamic linker maps all of a file first, and then its data over a
 * part of that. If optimised code was forgotten, threads must not stay in it. With --tier=opt that is only enforced where the guest may write to its
 * code now, since the next change will not be noticed. */
void code_forget(u64 start, u64 end) {
    if (is_allowed(start, PROT_EXEC))
        note_changed(start, end);
    if (!discard(start, end))
        return;
    if (the.opt.tier == TIER_OPT && is_allowed(start, PROT_WRITE)) {
        leave_give_up();
        leave_wait(thread_self());
    } else if (the.opt.tier == TIER_AUTO) {
        arena_lock();
        quick_with_others_stopped(thread_self(), leave_frames);
        arena_unlock();
    }
}

/* The threads that sent these requests are threads of the parent; fork copied only this one, so nobody here waits for the answers. */
void code_after_fork(void) {
    Code *c = the.tier.code;
    for (u64 i = 0; i < c->map_cap && c->requests; i++)
        c->map[i].maker = 0;
    c->requests = 0;
    once_after_fork();
}

/* Called by enter.S from the guard of a translation whose guest code has changed. */
__attribute__((visibility("hidden"))) void *code_renew(Thread *t) {
    code_discard(t->cpu.pc, t->cpu.pc + 1);
    return code_resolve(t);
}

/* --------------------------------------------------------------------------------------------------------------- images */

/* True if the row leads to optimised code, which an image has. Rows that lead to quick code are looked up anew. */
static bool is_kept_row(const Code *c, const TableEntry *row) {
    const CodeEntry *e = entry_known(c, row->pc);
    return row->pc && e->used && e->code && row->code == (u64)e->code;
}

static ImagePart list_rows(const Thread *t, const Code *c) {
    u64 count = 0;
    TableEntry *list = sys_pages(sizeof(t->table));
    for (u64 i = 0; list && i < ARRAY_LEN(t->table); i++)
        if (is_kept_row(c, &t->table[i]))
            list[count++] = t->table[i];
    return (ImagePart){(u8 *)list, count * sizeof(TableEntry), 0};
}

void code_drop(bool (*keeps)(u64 pc)) {
    Code *c = the.tier.code;
    for (u64 i = 0; i < c->map_cap; i++) {
        CodeEntry *e = &c->map[i];
        if (e->used && (e->alien || !keeps(e->pc))) {
            drop_code(c, e);
            e->given_up = false;
        }
        e->heat = e->past = 0;
        e->asked = e->given_up;
    }
}

CodeCounts code_export(const Thread *t, ImagePart parts[CODE_PARTS]) {
    const Code *c = the.tier.code;
    CodeCounts counts = {.entries = c->map_len};
    memset(parts, 0, CODE_PARTS * sizeof(*parts));
    if (!c->any)
        return (CodeCounts){0};
    parts[0] = (ImagePart){(u8 *)c->map, c->map_cap * sizeof(CodeEntry), 0};
    parts[1] = list_rows(t, c);
    parts[2] = accesses_export();
    for (u64 i = 0; i < c->map_cap; i++)
        counts.functions += c->map[i].used && c->map[i].code;
    return counts;
}

void code_import(Thread *t, const ImagePart parts[CODE_PARTS], CodeCounts counts) {
    Code *c = the.tier.code;
    if (!parts[0].size)
        return;
    the.stats.functions = the.stats.imaged = counts.functions;
    sys_pages_free(c->map, c->map_cap * sizeof(CodeEntry));
    c->map = (CodeEntry *)parts[0].at;
    c->map_cap = parts[0].size / sizeof(CodeEntry);
    c->map_len = counts.entries;
    c->any = true;
    const TableEntry *rows = (const TableEntry *)parts[1].at;
    for (u64 i = 0; i < parts[1].size / sizeof(TableEntry); i++)
        *entry_row(t, rows[i].pc) = rows[i];
    accesses_import(&parts[2]);
}

/* ------------------------------------------------------------------------------------------------------------ threads */

/* True if optimised code has returned because only quick code can go on: it has come to a page of its file that can be written to, to an instruction
 * that the lifter has no row for, or to one of which it cannot tell a tool; or there is no server. */
static bool is_for_quick(const Thread *t) {
    if (t->cpu.trap == LATHE_TRAP_NONE)
        return the.tier.code->unserved;
    return t->cpu.trap == LATHE_TRAP_UNREADABLE
               ? !is_fixed(t->cpu.pc)
               : t->cpu.trap == LATHE_TRAP_UNSUPPORTED && (guest_facts.is_hosts || is_watched());
}

static const char unfixed[] = "it has come to code that is in no file, or that it can write to";

/* Runs optimised code until it returns to this, the dispatcher. Before and after that, no frame of it is on the host's stack. */
static void run_optimised(Thread *t) {
    char why[160];
    if (!is_fixed(t->cpu.pc)) {
        code_give_way(unfixed);
        return;
    }
    code_enter(t, code_find(t, t->cpu.pc));
    if (is_for_quick(t)) {
        format_text(why, sizeof(why), "it has come to an instruction, or to a use of flags, that is not lifted, at %lx",
                    t->cpu.pc);
        bool unsupported = t->cpu.trap == LATHE_TRAP_UNSUPPORTED;
        t->cpu.trap = LATHE_TRAP_NONE;
        code_give_way(unsupported ? why : unfixed);
    } else if (t->cpu.trap) {
        signal_trap(t);
    }
    signal_deliver(t);
}

/* Looks at the tier after leave_done, because code_give_way changes the tier first and then the age of code. */
void thread_run(Thread *t) {
    for (leave_done(t); the.opt.tier == TIER_OPT; leave_done(t)) {
        t->tool.known = 0; /* registers may have been changed here */
        run_optimised(t);
    }
    if (t->tier.optimised)
        frame_become_quick(t);
    quick_run(t);
}
