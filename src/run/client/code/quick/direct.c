/* direct.c: see direct.h. */
#include "run/client/code/quick/direct.h"

#include "run/client/tool/explain.h"

/* --------------------------------------------------------------------------------------------------------------- values */

/* A function of a tool's to be called at an instruction. */
typedef struct What {
    const SiteInsn *insn;
    const SiteCall *call;
} What;

static EmitValue constant(u64 number) {
    return (EmitValue){.kind = VALUE_CONSTANT, .number = number};
}

static bool is_access(const What *w) {
    return w->call->event == LATHE_LOAD || w->call->event == LATHE_STORE;
}

/* The address that the call is about; 0 if it is about none. Returns false if the address has a byte register in it, which emit_visit cannot do. */
static bool address_of(const What *w, EmitValue *value) {
    const InsnAccess *a = &w->insn->view.access[w->call->access];
    *value = is_access(w) ? (EmitValue){.kind = VALUE_ADDRESS, .at = a->at} : constant(0);
    return !is_access(w) || !(a->how & ACCESS_BYTE_INDEX);
}

static u64 bytes_of(const What *w) {
    bool block = w->call->event == LATHE_BLOCK;
    return is_access(w) ? w->insn->view.access[w->call->access].at.bits / 8 : block ? w->insn->block_bytes : 0;
}

/* Where the instruction leads; 0 if it leads nowhere. Returns false if only C can compute that. */
static bool target_of(const What *w, EmitValue *value) {
    bool transfers = w->call->event >= LATHE_BRANCH && w->call->event <= LATHE_RETURN;
    *value = constant(transfers ? w->insn->view.target : 0);
    return !transfers || !w->insn->view.indirect || emit_target(&w->insn->view, value);
}

static bool register_of(const LatheValue *v, const What *w, EmitValue *value) {
    u32 reg = tool_value_register(tool_hook(w->call->hook), v);
    *value = (EmitValue){.kind = VALUE_REGISTER, .number = reg};
    return reg < GUEST_REGISTERS;
}

/* The value that a hook asks for, as quick code can compute it; 0 if it has no meaning at this event. Returns false if only C can compute it, from
 * the whole state. */
static bool value_of(const LatheValue *v, const What *w, EmitValue *value) {
    const InsnView *view = &w->insn->view;
    *value = constant(0);
    switch (v->what) {
    case LATHE_CONSTANT:
        *value = constant((u64)v->number);
        return true;
    case LATHE_PC:
        *value = constant(w->insn->pc);
        return true;
    case LATHE_SIZE:
        *value = constant(view->size);
        return true;
    case LATHE_NEXT:
        *value = constant(w->insn->pc + view->size);
        return true;
    case LATHE_THREAD_ID:
        *value = (EmitValue){.kind = VALUE_THREAD_U32, .number = THREAD_TID};
        return true;
    case LATHE_THREAD_OWN:
        *value = (EmitValue){.kind = VALUE_THREAD, .number = THREAD_TOOL_OWN + (u64)v->number};
        return true;
    case LATHE_ADDRESS:
        return address_of(w, value);
    case LATHE_BYTES:
        *value = constant(bytes_of(w));
        return true;
    case LATHE_COUNT:
        *value = constant(w->call->event == LATHE_BLOCK ? w->insn->block_insns : 0);
        return true;
    case LATHE_TARGET:
        return target_of(w, value);
    case LATHE_TAKEN:
        *value = w->call->event == LATHE_BRANCH ? (EmitValue){.kind = VALUE_TAKEN} : constant(0);
        return true;
    case LATHE_REGISTER:
    case LATHE_ARGUMENT:
    case LATHE_RESULT:
    case LATHE_SP:
        return register_of(v, w, value);
    case LATHE_CLASSES:
        *value = constant(view->classes);
        return true;
    case LATHE_OPCODE:
        *value = constant(view->opcode);
        return true;
    case LATHE_NO_VALUE:
    case LATHE_NUMBER:
    case LATHE_NAME:
    case LATHE_OFFSET:
        return true;
    case LATHE_COUNTED:
        *value = (EmitValue){.kind = VALUE_THREAD, .number = tool_cell((u32)v->number, 0)};
        return true;
    case LATHE_SITE:
        *value = constant((u64)site_words(w->call->hook, w->insn->pc));
        return true;
    case LATHE_VALUE:
        break;
    }
    return false;
}

/* ---------------------------------------------------------------------------------------------------------------- calls */

/* The values end with the last one that the hook has. */
static bool visit_of(const What *w, EmitVisit *visit) {
    const LatheHook *hook = tool_hook(w->call->hook);
    visit->function = tool_variant(w->call->hook, is_access(w) ? bytes_of(w) : 0);
    visit->count = 0;
    for (u32 i = 0; i < LATHE_VALUES; i++) {
        if (!value_of(&hook->value[i], w, &visit->value[i]))
            return false;
        if (hook->value[i].what != LATHE_NO_VALUE)
            visit->count = i + 1;
    }
    return true;
}

/* How a call was made, and by how many bytes (for --explain). */
typedef struct Made {
    u8 way; /* ToolWay */
    u32 bytes;
} Made;

static bool emit_call(Emitter *e, const What *what, EmitVisit *visit, Made *made) {
    static const u8 ways[] = {[VISIT_COPIED] = TOOL_INLINED, [VISIT_SPLIT] = TOOL_SPLIT, [VISIT_CALLED] = TOOL_CALLED};
    const u8 *before = e->at;
    EmitVisited visited = visit_of(what, visit) ? emit_visit(e, visit) : VISIT_REFUSED;
    *made = (Made){ways[visited], (u32)(e->at - before)};
    return visited != VISIT_REFUSED;
}

static void explain(const SiteInsn *insn, SitePhase phase, const Made made[SITE_CALLS]) {
    for (u32 i = 0; i < insn->call_count; i++)
        if (insn->phase[i] == phase)
            explain_quick(insn->call[i].hook, (ToolWay)made[i].way, made[i].bytes);
}

static bool emit_calls(Emitter *e, const SiteInsn *insn, SitePhase phase) {
    Made made[SITE_CALLS];
    const u8 *end = e->at + DIRECT_BYTES - EMIT_VISIT_BYTES;
    bool before = phase == SITE_BEFORE || phase == SITE_PASS;
    EmitVisit visit = {.pc = before ? insn->pc : insn->pc + insn->view.size};
    for (u32 i = 0; i < insn->call_count; i++)
        visit.watched |= insn->phase[i] == phase ? tool_hook_registers(insn->call[i].hook) : 0;
    for (u32 i = 0; i < insn->call_count; i++) {
        What what = {insn, &insn->call[i]};
        if (insn->phase[i] == phase && (e->at > end || !emit_call(e, &what, &visit, &made[i])))
            return false;
    }
    explain(insn, phase, made);
    return true;
}

/* Left to C are instructions whose addresses are noted for a visit behind them, and the visits before and behind all passes of a repeated
 * instruction: when a signal was delivered between two passes, the guest comes back to the instruction, and only C knows that the visit before it was
 * made. */
static bool can_emit(const SiteInsn *insn, SitePhase phase) {
    return the.opt.tool_without != TOOL_WITHOUT_ALL && insn->known && !insn->notes_addresses &&
           insn->repeats == (phase == SITE_PASS);
}

bool direct_emit(Emitter *e, const SiteInsn *insn, SitePhase phase) {
    u8 *before = e->at;
    u32 colds = e->colds, rests = e->rests, kept = e->kept, aside = e->aside;
    EmitWords words = e->words;
    if (can_emit(insn, phase) && emit_calls(e, insn, phase)) {
        if (phase != SITE_BEFORE)
            emit_give_back(e, NULL);
        return true;
    }
    e->at = before;
    e->colds = colds;
    e->rests = rests;
    e->kept = kept;
    e->aside = aside;
    e->words = words;
    return false;
}

/* ------------------------------------------------------------------------------------------------------------- recalling */

extern u8 tool_returned[] __attribute__((visibility("hidden"))); /* of gate.S */

/* The first word of the stack on which a tool's function runs is the address that it returns to. */
void direct_recall(Thread *t) {
    u64 *returns_to = (u64 *)t->stack.tool_top - 1;
    if (*returns_to == (u64)tool_returned)
        return;
    t->tool.returns_to = *returns_to;
    *returns_to = (u64)tool_returned;
}

u64 direct_recalled(const Thread *t, u64 trap_pc) {
    return trap_pc == (u64)tool_returned + 1 ? t->tool.returns_to : 0;
}
