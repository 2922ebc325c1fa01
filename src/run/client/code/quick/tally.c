/* tally.c: see tally.h. */
#include "run/client/code/quick/tally.h"

#include "run/client/tool/tool.h"

/* Additions to one word of memory wait for each other, so those of neighbouring runs go to different cells of a counter. */
static u32 next_cell(void) {
    static u32 last;
    return ++last % TOOL_CELLS;
}

static void open_run(Tally *tally, Emitter *e) {
    const ToolCounts *c = tool_counts();
    u32 cell = next_cell();
    *tally = (Tally){.open = true};
    for (u32 i = 0; i < c->count; i++)
        tally->site[i] = emit_count(e, tool_cell(c->add[i].counter, cell));
}

bool tally_insn(Tally *tally, Emitter *e) {
    bool counts = tool_counts()->count;
    if (tool_calls(LATHE_INSN)) /* whoever leaves for a function of the tool's has counted nothing ahead */
        tally_end(tally);
    bool head = !counts || !tally->open;
    if (counts && head)
        open_run(tally, e);
    tally->insns++;
    return head;
}

void tally_end(Tally *tally) {
    const ToolCounts *c = tool_counts();
    for (u32 i = 0; tally->open && i < c->count; i++)
        emit_set_amount(tally->site[i], c->add[i].amount * (i32)tally->insns);
    *tally = (Tally){0};
}

void tally_take_back(Thread *t, u32 insns) {
    const ToolCounts *c = tool_counts();
    for (u32 i = 0; i < c->count; i++)
        t->tool.cell[c->add[i].counter][0] -= (u64)((i64)c->add[i].amount * insns);
}
