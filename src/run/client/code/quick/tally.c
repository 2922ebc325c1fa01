/* tally.c: see tally.h. */
#include "run/client/code/quick/tally.h"

#include "run/client/code/quick/blocks.h"
#include "run/client/memory/own.h"
#include "run/client/tool/explain.h"
#include "run/client/tool/table/tables.h"

/* What each instruction adds to a tool's counts. There are few different sets of amounts (kinds), so each instruction has the number of its kind. If
 * a tool counts nothing but instructions, all instructions count alike, and nothing is listed. */
typedef struct Amounts {
    i32 of[TOOL_COUNTS];
} Amounts;

static struct {
    Array kinds;  /* Amounts, all different */
    Array listed; /* u16: the kind of each instruction, counted from 1; 0, or no entry: it counts nothing */
    Array rows;   /* RowAdd: the additions to rows of tables, of one instruction after the other */
    Array ends;   /* u32, if there are tables: where in `rows` the additions of each instruction end */
} tallies;

bool tallies_exist(void) {
    return tool_counts()->count || sites_count_in_rows();
}

/* Additions to one word of memory wait for each other, so those of neighbouring runs go to different cells of a counter. */
static u32 next_cell(void) {
    static u32 last;
    return ++last;
}

/* True if all amounts of the run are still small with those of this instruction. */
static bool stays_small(const Tally *tally, const SiteInsn *insn) {
    for (u32 i = 0; i < TOOL_COUNTS; i++) {
        i32 sum = tally->amount[i] + insn->amount[i];
        if (sum > EMIT_SMALL || sum < -EMIT_SMALL)
            return false;
    }
    return true;
}

/* Emits one addition to a row that stands for all rows of the run (a shared row). */
static void open_rows(Tally *tally, Emitter *e) {
    if (!sites_count_in_rows())
        return;
    tally->shared = row_share();
    tally->row_site = emit_count(e, row_off(tally->shared), true);
}

static void add_row(Tally *tally, const RowAdd *add) {
    for (u32 i = 0; i < tally->row_count; i++)
        if (tally->row[i].row == add->row) {
            tally->row[i].amount += add->amount;
            return;
        }
    tally->row[tally->row_count++] = *add;
}

/* Sets what that addition adds. If the run adds to one row only, it adds to that row itself. */
static void end_rows(Tally *tally) {
    const RowAdd *only = &tally->row[0];
    bool single = tally->row_count == 1 && only->amount <= EMIT_SMALL && only->amount >= -EMIT_SMALL;
    if (single)
        emit_set_off(&tally->row_site, row_off(only->row));
    emit_set_amount(&tally->row_site, single ? only->amount : tally->row_count != 0);
    if (single || !tally->row_count)
        row_unshare(tally->shared);
    else
        row_set_shared(tally->shared, tally->row, tally->row_count);
}

static void open_run(Tally *tally, Emitter *e, const SiteInsn *first) {
    const ToolCounts *c = tool_counts();
    u32 cell = next_cell();
    *tally = (Tally){.open = true};
    tally->small = stays_small(tally, first);
    for (u32 i = 0; i < c->count; i++)
        tally->site[i] =
            emit_count(e, tool_cell(c->add[i].counter, cell % tool_cells(c->add[i].counter)), tally->small);
    open_rows(tally, e);
}

void tally_explain(Tally *tally, const SiteInsn *insn) {
    for (u32 i = 0; insn->counting >> i; i++)
        if (insn->counting >> i & 1)
            explain_quick(i, tally->hooks >> i & 1 ? TOOL_MERGED : TOOL_AS_COUNTER, 0);
    tally->hooks |= insn->counting;
}

static void explain_run(const Tally *tally) {
    u64 bytes = tally->row_count ? tally->row_site.bytes : 0;
    for (u32 i = 0; i < tool_counts()->count; i++)
        bytes += tally->amount[i] ? tally->site[i].bytes : 0;
    explain_quick_bytes(tally->hooks, bytes);
}

bool tally_insn(Tally *tally, Emitter *e, const SiteInsn *insn) {
    bool counts = tallies_exist();
    bool alone = the.opt.tool_without == TOOL_WITHOUT_MERGE;
    if (alone || (tally->small && !stays_small(tally, insn)) || tally->rows_seen + insn->row_count > TOOL_RUN_ROWS)
        tally_end(tally);
    bool begins = !counts || !tally->open;
    if (counts && begins)
        open_run(tally, e, insn);
    for (u32 i = 0; i < TOOL_COUNTS; i++)
        tally->amount[i] += insn->amount[i];
    for (u32 i = 0; i < insn->row_count; i++)
        add_row(tally, &insn->row[i]);
    tally->rows_seen += insn->row_count;
    return begins;
}

void tally_forget(Tally *tally) {
    if (tally->shared)
        row_unshare(tally->shared);
    *tally = (Tally){0};
}

void tally_end(Tally *tally) {
    if (!tally->open)
        return;
    const ToolCounts *c = tool_counts();
    for (u32 i = 0; i < c->count; i++)
        emit_set_amount(&tally->site[i], tally->amount[i]);
    if (tally->shared)
        end_rows(tally);
    explain_run(tally);
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

static u32 rows_end(u64 number) {
    return number < tallies.ends.len / sizeof(u32) ? ((const u32 *)tallies.ends.at)[number] : 0;
}

/* Lists the additions to rows of an instruction. Instructions between the last one that was noted and this one have none. */
static void note_rows(u64 number, const SiteInsn *insn) {
    if (!rows_exist())
        return;
    u32 before = (u32)(tallies.rows.len / sizeof(RowAdd)), after = before + insn->row_count;
    while (tallies.ends.len < number * sizeof(u32))
        memcpy(array_extend(&tallies.ends, sizeof(u32)), &before, sizeof(before));
    memcpy(array_extend(&tallies.ends, sizeof(u32)), &after, sizeof(after));
    if (insn->row_count)
        memcpy(array_extend(&tallies.rows, insn->row_count * sizeof(RowAdd)), insn->row,
               insn->row_count * sizeof(RowAdd));
}

static void add_rows(u64 number, TallySum *sum) {
    for (u32 i = number ? rows_end(number - 1) : 0; i < rows_end(number); i++)
        sum->row[sum->row_count++] = ((const RowAdd *)tallies.rows.at)[i];
}

void tally_note(u64 number, const SiteInsn *insn) {
    note_rows(number, insn);
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

void tally_add(u64 number, TallySum *sum) {
    const ToolCounts *c = tool_counts();
    for (u32 i = 0; i < c->count; i++)
        sum->amount[i] += all_count_alike() ? c->add[i].amount : amount_of(number, i);
    add_rows(number, sum);
}

void tallies_forget_all(void) {
    array_free(&tallies.kinds);
    array_free(&tallies.listed);
    array_free(&tallies.rows);
    array_free(&tallies.ends);
    rows_unshare_all();
}

void tally_take_back(Thread *t, const TallySum *ahead) {
    const ToolCounts *c = tool_counts();
    for (u32 i = 0; i < c->count; i++)
        t->tool.cell[c->add[i].counter][0] -= (u64)ahead->amount[i];
    for (u32 i = 0; i < ahead->row_count; i++)
        t->row[ahead->row[i].row] -= (u64)(i64)ahead->row[i].amount;
}
