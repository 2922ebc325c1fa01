/* visit.c: see visit.h. */
#include "run/client/code/quick/visit.h"

#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/memory/own.h"
#include "run/client/tool/tool.h"

typedef struct Visit {
    u64 pc;
    u8 *behind; /* the code behind the exit */
    u32 size;   /* of the instruction */
} Visit;

static Array visits;

static Visit *visit_no(u64 number) {
    return (Visit *)visits.at + number;
}

void visit_insn(Emitter *e) {
    if (!tool_calls(LATHE_INSN))
        return;
    u64 number = visits.len / sizeof(Visit);
    array_extend(&visits, sizeof(Visit));
    emit_leave(e, exit_new(EXIT_VISIT, number, NULL));
    *visit_no(number) = (Visit){.pc = e->pc, .behind = e->at};
}

void visit_note_size(u64 bytes) {
    if (tool_calls(LATHE_INSN))
        visit_no(visits.len / sizeof(Visit) - 1)->size = (u32)bytes;
}

bool visit_call(Thread *t, u64 number) {
    arena_lock();
    Visit v = *visit_no(number);
    arena_unlock();
    t->cpu.pc = v.pc;
    if (t->pending_signals)
        return false;
    bool again = t->tool.skip_pc == v.pc && t->tool.skip_sp == guest_sp(&t->cpu);
    t->tool.skip_pc = again ? 0 : t->tool.skip_pc;
    if (!again)
        tool_call(LATHE_INSN, &(ToolEvent){.pc = v.pc, .size = v.size});
    t->quick.target = (u64)v.behind;
    t->tool.visited = (u64)v.behind;
    return true;
}

void visit_done(Thread *t) {
    t->tool.visited = 0;
}

/* A signal came behind the functions and before the instruction. */
void visit_interrupted(Thread *t) {
    bool just_now = t->tool.visited && t->tool.visited == t->quick.target;
    t->tool.visited = 0;
    if (!just_now)
        return;
    t->tool.skip_pc = t->cpu.pc;
    t->tool.skip_sp = guest_sp(&t->cpu);
}

void visits_forget_all(void) {
    if (visits.at)
        sys_pages_free(visits.at, visits.cap);
    visits = (Array){0};
}
