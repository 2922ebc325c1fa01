/* make.c: quick code for guest code: a block begins where the guest arrived and goes on over conditional jumps and calls to the next
 * jump or return, or to code that there is already. */
#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/above.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/map.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/quick/tally.h"
#include "run/client/code/quick/visit.h"
#include "run/client/memory/space.h"

enum { BLOCK_BYTES = (2 * EMIT_INSNS + 1) * EMIT_INSN_BYTES };

static void note_insn(u64 guest, u64 host, bool head) {
    InsnLens *lens = array_extend(&quick_all.lens, sizeof(InsnLens));
    lens->guest = guest & 15;
    lens->host = host & 0x7ff;
    lens->head = head;
    CHECK(lens->guest == guest && lens->host == host, "instructions are short");
}

u64 quick_code_bytes(u64 pc) {
    u64 page = page_down(pc);
    int here = space_prot(page);
    if (here == PROT_UNMAPPED || !(here & PROT_EXEC))
        return 0;
    int next = space_prot(page + PAGE);
    return (next != PROT_UNMAPPED && (next & PROT_EXEC) ? 2 : 1) * PAGE - (pc - page);
}

/* What a tool does before the instruction is like an instruction of no bytes. True: a jump may lead to what follows. */
static bool add_hooks(Emitter *e, Tally *tally) {
    const u8 *before = e->at;
    visit_insn(e);
    bool head = tally_insn(tally, e);
    if (e->at == before)
        return head;
    note_insn(0, (u64)(e->at - before), head);
    return false;
}

/* One instruction; false: the block ends with it. */
static bool add_insn(Emitter *e, u64 pc, u64 end, u64 *next, Tally *tally) {
    e->pc = pc;
    bool head = add_hooks(e, tally);
    const u8 *before = e->at;
    EmitResult r = emit_next(e, end - pc, next);
    if (r.exits || r.returns || r.ends)
        tally_end(tally);
    if (r.exits) {
        u32 number = exit_new(r.exit.kind, r.exit.pc, r.exit.site);
        if (!r.exit.site)
            emit_leave(e, number);
    }
    note_insn(*next - pc, (u64)(e->at - before), head);
    visit_note_size(*next - pc);
    if (r.returns)
        e->returned[e->returns++] = (EmitReturn){*next, e->at};
    return !r.ends;
}

/* Code at e->at for what follows from b->pc on, up to the block's end. Pages are guarded before they are read. */
static void add_insns(Emitter *e, QuickBlock *b) {
    u64 pc = b->pc, nearest = block_next(pc + 1), end = pc + quick_code_bytes(pc);
    Tally tally = {0};
    page_guard(pc >> PAGE_SHIFT);
    for (bool go_on = true; go_on;) {
        u64 page = pc >> PAGE_SHIFT;
        if ((pc + GUEST_INSN_BYTES) >> PAGE_SHIFT != page)
            page_guard((pc + GUEST_INSN_BYTES) >> PAGE_SHIFT);
        go_on = add_insn(e, pc, end, &pc, &tally);
        if (go_on && pc >> PAGE_SHIFT != page)
            nearest = block_next(pc), end = pc + quick_code_bytes(pc);
        b->insns = (u32)(quick_all.lens.len - b->lens) / (u32)sizeof(InsnLens);
        if (go_on && (b->insns >= EMIT_INSNS || pc >= nearest)) {
            tally_end(&tally);
            exit_new(EXIT_LINK, pc, emit_jump(e));
            b->goes_on = true;
            go_on = false;
        }
    }
    b->size = (u32)(pc - b->pc);
}

/* The exits of a new block. Those that do not lead forward are loops, and may have optimised code from an earlier run. */
static void link_exits(Thread *t, u32 first, u32 last, u64 end) {
    for (u32 i = first; i <= last; i++)
        if (exit_no(i)->site)
            exit_link(i);
    for (u32 i = first; i <= last; i++)
        if (exit_no(i)->site && exit_no(i)->kind == EXIT_LINK && exit_no(i)->pc < end)
            tier_found(t, exit_no(i)->pc);
}

/* Not before the whole block is there: other threads find it in the map from now on. */
static void let_return(Thread *t, const Emitter *e) {
    for (u32 i = 0; i < e->returns; i++)
        table_set_return(t, e->returned[i].pc, e->returned[i].code);
}

/* Where the block's code begins; what comes from the map has its own beginning in front of that. */
static u8 *begin_block(Emitter *e, u64 pc) {
    enum { ALIGN = 16 };
    e->at = arena_room(BLOCK_BYTES, ALIGN);
    e->calls = e->returns = 0;
    e->flags_set = false;
    if (map_covers(pc)) {
        e->at += (ALIGN - emit_entry_bytes) % ALIGN;
        emit_entry(e);
    }
    return e->at;
}

static u8 *make_block(Thread *t, u64 pc) {
    u64 start = the.opt.stats ? sys_now_us() : 0;
    u32 first_exit = exit_count();
    Emitter e;
    QuickBlock b = {.pc = pc, .code = begin_block(&e, pc), .lens = (u32)quick_all.lens.len};
    add_insns(&e, &b);
    emit_rest(&e);
    arena_keep(e.at);
    b.code_size = (u32)(e.at - b.code);
    block_add(&b);
    link_exits(t, first_exit + 1, exit_count(), b.pc + b.size);
    let_return(t, &e);
    the.stats.blocks++;
    the.stats.quick_insns += b.insns;
    the.stats.quick_us += the.opt.stats ? sys_now_us() - start : 0;
    return b.code;
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
