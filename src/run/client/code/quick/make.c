/* make.c: quick code for guest code: a block begins where the guest arrived and goes on over conditional jumps and calls to the next
 * jump or return, or to code that there is already. */
#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/above.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/direct.h"
#include "run/client/code/quick/map.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/quick/tally.h"
#include "run/client/code/quick/visit.h"
#include "run/client/memory/space.h"
#include "run/client/tool/perf.h"

/* Each instruction has code of its own and some behind the block, and so has what a tool does before and behind it. */
enum { BLOCK_BYTES = 2 * (EMIT_INSNS + 1) * (EMIT_INSN_BYTES + 2 * DIRECT_BYTES) };

/* A block while it is made. */
typedef struct Making {
    Emitter *e;
    QuickBlock *b;
    Tally tally;
    bool watched; /* a tool does something at instructions, or counts them */
    bool begins;  /* the next instruction begins what a tool sees as a block */
    u32 guest_insns;
} Making;

static InsnLens *note_insn(u64 guest, u64 host) {
    InsnLens *lens = array_extend(&quick_all.lens, sizeof(InsnLens));
    u64 units = guest / GUEST_LENGTH_UNIT;
    lens->guest = units & ((1 << GUEST_LENGTH_BITS) - 1);
    lens->host = host & INSN_HOST_BYTES;
    CHECK(lens_guest(*lens) == guest && lens->host == host, "instructions are short");
    return lens;
}

/* Notes the lengths of what a tool does, which may be longer than one entry can say. */
static void note_hooks(u64 host, InsnLens first) {
    for (u64 bytes; host; host -= bytes) {
        bytes = host < INSN_HOST_BYTES ? host : INSN_HOST_BYTES;
        InsnLens *lens = note_insn(0, bytes);
        lens->head = first.head, lens->run = first.run, lens->behind = first.behind;
        first.head = first.run = false;
    }
}

u64 quick_code_bytes(u64 pc) {
    u64 page = page_down(pc);
    int here = space_prot(page);
    if (here == PROT_UNMAPPED || !(here & PROT_EXEC))
        return 0;
    int next = space_prot(page + PAGE);
    return (next != PROT_UNMAPPED && (next & PROT_EXEC) ? 2 : 1) * PAGE - (pc - page);
}

/* ------------------------------------------------------------------------------------------------------- instructions */

/* Sets how large what a tool sees as a block is, if one begins with this instruction and a hook asks for its size. */
static void measure_block(SiteInsn *insn) {
    InsnView v;
    insn->block_bytes = insn->block_insns = 0;
    for (bool more = insn->begins_block && sites_want_extents(); more; more = site_goes_on(&v)) {
        u64 pc = insn->pc + insn->block_bytes;
        if (!insn_view((const u8 *)pc, quick_code_bytes(pc), pc, &v))
            return;
        insn->block_bytes += v.size;
        insn->block_insns++;
    }
}

static void look_at(const Making *m, u64 bytes, SiteInsn *insn) {
    insn->pc = m->e->pc;
    insn->begins_block = m->begins;
    measure_block(insn);
    sites_look(insn, bytes);
}

/* Emits what is counted at the instruction, and then calls of functions that quick code makes by itself, which may ask for the counts. Returns false,
 * with nothing emitted, if there are no such functions. */
static bool add_direct(Making *m, const SiteInsn *insn, bool *begins_run) {
    u8 *before = m->e->at;
    Tally tally = m->tally;
    if (insn->repeats || !sites_has(insn, SITE_BEFORE))
        return false;
    *begins_run = tally_insn(&m->tally, m->e, insn);
    if (direct_emit(m->e, insn, SITE_BEFORE))
        return true;
    m->e->at = before;
    if (*begins_run)
        tally_forget(&m->tally);
    else
        m->tally = tally;
    return false;
}

/* Emits an exit for functions that are called outside of quick code, and then what is counted. In this order, because a signal may come at the exit:
 * then the instruction is begun, and counted, again. */
static bool add_left(Making *m, const SiteInsn *insn) {
    if (visit_emit(m->e, insn, SITE_BEFORE) || insn->repeats)
        tally_end(&m->tally);
    return tally_insn(&m->tally, m->e, insn);
}

/* Emits what a tool does before the instruction, which the tables have like an instruction of no bytes. Returns the marks (head, run) for the
 * instruction itself; none, if what the tool does has got them. */
static InsnLens add_hooks(Making *m, const SiteInsn *insn) {
    const u8 *before = m->e->at;
    u32 aside = m->e->aside;
    InsnLens first = {0};
    bool begins_run;
    if (visit_emit_once(m->e, insn, EMIT_INSNS - m->guest_insns))
        tally_end(&m->tally);
    first.run = add_direct(m, insn, &begins_run) ? begins_run : add_left(m, insn);
    emit_give_back(m->e, insn->known ? &insn->view : NULL);
    tally_explain(&m->tally, insn);
    first.head = sites_have_blocks() ? insn->begins_block : first.run;
    if (m->e->at == before)
        return first;
    if (aside)
        emit_note_aside(before, aside);
    note_hooks((u64)(m->e->at - before), first);
    return (InsnLens){0};
}

/* The instruction's own code. */
static EmitResult add_code(Making *m, u64 bytes, u64 *next, const SiteInsn *insn, InsnLens first) {
    Emitter *e = m->e;
    const u8 *before = e->at;
    EmitResult r = emit_next(e, bytes, next);
    bool ends_block = !insn->known || !site_goes_on(&insn->view);
    m->begins = ends_block || !sites_have_blocks();
    if (r.exits || r.returns || r.ends || (ends_block && sites_have_blocks()))
        tally_end(&m->tally);
    if (r.exits) {
        u32 number = exit_new(r.exit.kind, r.exit.pc, r.exit.site);
        if (r.exit.kind == EXIT_SPECIAL)
            exit_no(number)->next = visit_behind(insn);
        if (!r.exit.site)
            emit_leave(e, number);
    }
    InsnLens *lens = note_insn(*next - e->pc, (u64)(e->at - before));
    lens->head = first.head, lens->run = first.run;
    if (tallies_exist())
        tally_note(quick_all.lens.len / sizeof(InsnLens) - 1, insn);
    return r;
}

/* Notes what a tool does behind the instruction, from `before` on. There, nothing is counted ahead. */
static void add_behind(Making *m, const u8 *before) {
    if (m->e->at == before)
        return;
    tally_end(&m->tally);
    note_hooks((u64)(m->e->at - before), (InsnLens){.run = true, .behind = true});
}

/* A repeated instruction whose passes a tool sees. */
static EmitResult add_passes(Making *m, u64 bytes, u64 *next, const SiteInsn *insn, InsnLens first) {
    Emitter *e = m->e;
    u8 *before = e->at;
    EmitLoop loop = emit_loop_begin(e, bytes);
    visit_emit(e, insn, SITE_PASS);
    note_hooks((u64)(e->at - before), first);
    e->one_pass = true;
    EmitResult r = add_code(m, bytes, next, insn, (InsnLens){0});
    e->one_pass = false;
    before = e->at;
    emit_loop_count(e, bytes);
    visit_emit(e, insn, SITE_PASSED);
    emit_loop_end(e, bytes, &loop);
    visit_emit(e, insn, SITE_BEHIND);
    add_behind(m, before);
    return r;
}

static EmitResult add_plain(Making *m, u64 bytes, u64 *next, const SiteInsn *insn, InsnLens first) {
    EmitResult r = add_code(m, bytes, next, insn, first);
    const u8 *before = m->e->at;
    if (!r.ends)
        visit_emit(m->e, insn, SITE_BEHIND);
    add_behind(m, before);
    return r;
}

/* How many bytes emit_next may look at. It may join several guest instructions if it sees all their bytes; a tool has to see each one, so it gets the
 * bytes of one only. */
static u64 bytes_for(const SiteInsn *insn, u64 bytes) {
    return sites_exist() && insn->known ? insn->view.size : bytes;
}

static EmitResult add_watched(Making *m, u64 bytes, u64 *next) {
    SiteInsn insn;
    look_at(m, bytes, &insn);
    InsnLens first = add_hooks(m, &insn);
    return (insn.repeats ? add_passes : add_plain)(m, bytes_for(&insn, bytes), next, &insn, first);
}

static EmitResult add_unwatched(Making *m, u64 bytes, u64 *next) {
    static const SiteInsn nothing;
    return add_code(m, bytes, next, &nothing, (InsnLens){.head = true, .run = true});
}

/* Emits one instruction. Returns false if the block ends with it. */
static bool add_insn(Making *m, u64 pc, u64 end, u64 *next) {
    m->e->pc = pc;
    EmitResult r = (m->watched ? add_watched : add_unwatched)(m, end - pc, next);
    m->guest_insns++;
    if (r.returns)
        m->e->returned[m->e->returns++] = (EmitReturn){*next, m->e->at};
    return !r.ends;
}

/* --------------------------------------------------------------------------------------------------------------- blocks */

/* Ends the block in front of pc with a jump to the code for pc. */
static void end_here(Making *m, u64 pc) {
    const u8 *before = m->e->at;
    emit_give_back(m->e, NULL);
    add_behind(m, before);
    tally_end(&m->tally);
    exit_new(m->begins ? EXIT_LINK : EXIT_INSIDE, pc, emit_jump(m->e));
    m->b->goes_on = true;
    m->b->ends_inside = !m->begins;
}

/* Emits the instructions from b->pc on, up to the block's end. Each page is guarded before its bytes are read, so that no change is missed. */
static void add_insns(Making *m) {
    QuickBlock *b = m->b;
    u64 pc = b->pc, nearest = block_next(pc + 1), end = pc + quick_code_bytes(pc);
    page_guard(pc >> PAGE_SHIFT);
    for (bool go_on = true; go_on;) {
        u64 page = pc >> PAGE_SHIFT;
        if ((pc + GUEST_INSN_BYTES) >> PAGE_SHIFT != page)
            page_guard((pc + GUEST_INSN_BYTES) >> PAGE_SHIFT);
        go_on = add_insn(m, pc, end, &pc);
        if (go_on && pc >> PAGE_SHIFT != page)
            nearest = block_next(pc), end = pc + quick_code_bytes(pc);
        bool meets =
            pc >= nearest &&
            m->begins; /* it has come to a block that exists; a tool must not see one begin in the middle of another */
        if (go_on && (m->guest_insns >= EMIT_INSNS || meets)) {
            end_here(m, pc);
            go_on = false;
        }
    }
    b->insns = (u32)(quick_all.lens.len - b->lens) / (u32)sizeof(InsnLens);
    b->size = (u32)(pc - b->pc);
}

/* Links the exits of a new block. Where one leads back, a loop may begin, for which there may be optimised code of an earlier run. */
static void link_exits(Thread *t, u32 first, u32 last, u64 end) {
    for (u32 i = first; i <= last; i++)
        if (exit_no(i)->site)
            exit_link(i);
    for (u32 i = first; i <= last; i++)
        if (exit_no(i)->site && exit_no(i)->kind == EXIT_LINK && exit_no(i)->pc < end)
            tier_found_loop(t, exit_no(i)->pc);
}

/* Notes where the guest returns to behind the block's calls. Called when the whole block is there, because other threads find these places in the map
 * from now on. */
static void let_return(Thread *t, const Emitter *e) {
    for (u32 i = 0; i < e->returns; i++)
        table_set_return(t, e->returned[i].pc, e->returned[i].code);
}

/* Begins the code of a block, with the entry for jumps by the map. Returns where the first instruction's code begins. */
static u8 *begin_block(Emitter *e, u64 pc) {
    enum { ALIGN = 16 };
    e->at = arena_room(BLOCK_BYTES, ALIGN);
    e->calls = e->returns = e->colds = e->rests = e->live.count = 0;
    e->flags_set = e->one_pass = false;
    e->kept = e->aside = e->words.registers = 0;
    e->looked_from = ~(u64)0;
    e->looked_to = 0;
    if (map_covers(pc)) {
        e->at += (ALIGN - emit_entry_bytes) % ALIGN;
        emit_entry(e);
    }
    return e->at;
}

/* True if the block depends on its own guest bytes only, so that it may come back when they are the same (suspend.c). A block that ends because there
 * is no instruction depends on bytes behind it. */
static bool follows_from_bytes(const QuickBlock *b, const Emitter *e, u32 first_exit) {
    if (e->looked_to && (e->looked_from < b->pc || e->looked_to > b->pc + b->size))
        return false;
    for (u32 i = first_exit; i <= exit_count(); i++)
        if (exit_no(i)->kind >= EXIT_UNSUPPORTED)
            return false;
    return !b->inside;
}

static u8 *make_any_block(Thread *t, u64 pc, bool inside) {
    u64 start = the.opt.stats ? sys_now_us() : 0;
    u32 first_exit = exit_count();
    Emitter e;
    QuickBlock b = {.pc = pc,
                    .code = begin_block(&e, pc),
                    .lens = (u32)quick_all.lens.len,
                    .inside = inside,
                    .first_site = site_count()};
    Making m = {.e = &e, .b = &b, .watched = sites_exist() || tallies_exist(), .begins = !inside};
    add_insns(&m);
    emit_rest(&e);
    arena_keep(e.at);
    b.code_size = (u32)(e.at - b.code);
    arena_written(b.code, b.code_size);
    b.sites = site_count() - b.first_site;
    if (follows_from_bytes(&b, &e, first_exit + 1))
        block_keep_text(&b);
    block_add(&b);
    link_exits(t, first_exit + 1, exit_count(), b.pc + b.size);
    let_return(t, &e);
    perf_note(b.pc, b.code, b.code_size);
    the.stats.blocks++;
    the.stats.quick_insns += b.insns;
    the.stats.quick_us += the.opt.stats ? sys_now_us() - start : 0;
    return b.code;
}

static u8 *make_block(Thread *t, u64 pc) {
    u32 number = block_resume(t, pc);
    return number ? block_no(number)->code : make_any_block(t, pc, false);
}

/* The number of the block that begins at pc. */
static u32 make_block_at(Thread *t, u64 pc) {
    if (!block_at(pc))
        make_block(t, pc);
    return block_at(pc);
}

u8 *quick_find(Thread *t, u64 pc) {
    u32 number;
    u8 *code = block_find(pc, &number);
    return code ? code : make_block(t, pc);
}

u8 *quick_find_inside(Thread *t, u64 pc) {
    u32 number;
    u8 *code = block_find_inside(pc, &number);
    return code ? code : make_any_block(t, pc, true);
}

u8 *quick_find_target(Thread *t, u64 pc) {
    u32 number;
    u8 *code = block_find(pc, &number);
    if (code && (!map_covers(pc) || emit_is_entered(code)))
        return code;
    return make_block(t, pc);
}

u8 *quick_find_function(Thread *t, u64 pc) {
    u32 n = make_block_at(t, pc);
    if (!block_no(n)->entry) {
        block_no(n)->entry = true;
        tier_found(t, pc);
    }
    const QuickBlock *b = block_no(n);
    return b->enter ? b->enter : b->code;
}

void quick_override(Thread *t, u64 pc, u8 *enter) {
    block_no(make_block_at(t, pc))->enter = enter;
    exits_redirect(pc, enter);
}

void quick_restore(u64 pc) {
    u32 n = block_at(pc);
    if (!n)
        return;
    block_no(n)->enter = NULL;
    exits_redirect(pc, block_no(n)->code);
}
