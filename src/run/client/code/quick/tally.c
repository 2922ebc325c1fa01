/* tally.c: see tally.h. */
#include "run/client/code/quick/tally.h"

#include "run/client/code/quick/blocks.h"
#include "run/client/memory/own.h"

/* The amounts of instructions: few are different, so each instruction has the number of its amounts. If a tool counts nothing but instructions, these are the same for
 * all, and not listed. */
typedef struct Amounts {
    i32 of[TOOL_COUNTS];
} Amounts;

static struct {
    Array kinds;  /* Amounts, all different */
    Array listed; /* u16: the kind of each instruction, from 1 on; 0, and what is behind the last: it counts nothing */
} tallies;

/* Additions to one word of memory wait for each other, so those of neighbouring runs go to different cells of a counter. */
static u32 next_cell(void) {
    static u32 last;
    return ++last % TOOL_CELLS;
}

/* Do all amounts stay small if those of an instruction are added? */
static bool stays_small(const Tally *tally, const SiteInsn *insn) {
    for (u32 i = 0; i < TOOL_COUNTS; i++) {
        i32 sum = tally->amount[i] + insn->amount[i];
        if (sum > EMIT_SMALL || sum < -EMIT_SMALL)
            return false;
    }
    return true;
}

static void open_run(Tally *tally, Emitter *e, const SiteInsn *first) {
    const ToolCounts *c = tool_counts();
    u32 cell = next_cell();
    *tally = (Tally){.open = true};
    tally->small = stays_small(tally, first);
    for (u32 i = 0; i < c->count; i++)
        tally->site[i] = emit_count(e, tool_cell(c->add[i].counter, cell), tally->small);
}

bool tally_insn(Tally *tally, Emitter *e, const SiteInsn *insn) {
    bool counts = tool_counts()->count;
    if (tally->small && !stays_small(tally, insn))
        tally_end(tally);
    bool begins = !counts || !tally->open;
    if (counts && begins)
        open_run(tally, e, insn);
    for (u32 i = 0; i < TOOL_COUNTS; i++)
        tally->amount[i] += insn->amount[i];
    return begins;
}

void tally_end(Tally *tally) {
    const ToolCounts *c = tool_counts();
    for (u32 i = 0; tally->open && i < c->count; i++)
        emit_set_amount(&tally->site[i], tally->amount[i]);
    *tally = (Tally){0};
}

/* ----------------------------------------------------------------------------------------------------------- taking back */

static bool all_count_alike(void) {
    return !sites_count_by_kind();
}

static u16 kind_of(const SiteInsn *insn) {
    enum { KINDS_MAX = 0x10000 };
    u64 count = tallies.kinds.len / sizeof(Amounts);
    for (u64 i = 0; i < count; i++)
        if (!memcmp(((Amounts *)tallies.kinds.at)[i].of, insn->amount, sizeof(insn->amount)))
            return (u16)(i + 1);
    CHECK(count + 1 < KINDS_MAX, "instructions are counted in few different ways");
    memcpy(array_extend(&tallies.kinds, sizeof(Amounts)), insn->amount, sizeof(insn->amount));
    return (u16)(count + 1);
}

void tally_note(u64 number, const SiteInsn *insn) {
    if (all_count_alike())
        return;
    u16 kind = kind_of(insn);
    while (tallies.listed.len <= number * sizeof(kind))
        array_extend(&tallies.listed, sizeof(kind));
    ((u16 *)tallies.listed.at)[number] = kind;
}

static i32 amount_of(u64 number, u32 i) {
    u16 kind = number < tallies.listed.len / sizeof(kind) ? ((u16 *)tallies.listed.at)[number] : 0;
    return kind ? ((Amounts *)tallies.kinds.at)[kind - 1].of[i] : 0;
}

void tally_add(u64 number, i64 sum[TOOL_COUNTS]) {
    const ToolCounts *c = tool_counts();
    for (u32 i = 0; i < c->count; i++)
        sum[i] += all_count_alike() ? c->add[i].amount : amount_of(number, i);
}

void tallies_forget_all(void) {
    array_free(&tallies.kinds);
    array_free(&tallies.listed);
}

void tally_take_back(Thread *t, const i64 ahead[TOOL_COUNTS]) {
    const ToolCounts *c = tool_counts();
    for (u32 i = 0; i < c->count; i++)
        t->tool.cell[c->add[i].counter][0] -= (u64)ahead[i];
}
