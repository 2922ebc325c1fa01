/* watching.c: a tool's counters, words and functions in code that runs under the client: what site/events.h asks for.
 *
 * The client knows which hooks apply at which places. What lifted code cannot tell is left to quick code. */
#include <stdio.h>

#include "isa/isa.h"
#include "run/server/server.h"
#include "run/server/values/values.h"

struct Watching {
    EventsDoor door;
    Events *events;
    ServerTool *tool;
    ToolHook hook[TOOL_HOOKS_MAX];
    u32 hook_count;
    bool follows;  /* undefined values are followed (values.h) */
    bool by_place; /* the client has to be asked which hooks apply to an instruction */
    ToolOffsets off;
    Pages *pages;
    /* of the request: */
    Map64 places; /* from an instruction's address to its index in masks */
    VEC(u64) masks;
    LLVMModuleRef mod;
    Val sp; /* the stack pointer before the instruction that is lifted, if values are followed */
};

/* --------------------------------------------------------------------------------------------------------------- places */

static void ask_places(Watching *w, const u64 *pcs, size_t count) {
    MessageHeader header;
    Connection *c = pages_connection(w->pages);
    if (!connection_send(c, S_PLACES, pcs, count * sizeof(*pcs), NULL, 0) || !connection_receive(c, &header) ||
        header.type != C_PLACES || header.size != count * sizeof(u64)) {
        events_fail(w->events);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        u64 mask;
        memcpy(&mask, c->buffer + i * sizeof(mask), sizeof(mask));
        map64_set(&w->places, pcs[i], (u32)w->masks.len);
        VEC_PUSH(&w->masks, mask);
    }
}

static bool is_known_place(const Watching *w, u64 pc) {
    u32 i;
    return map64_get(&w->places, pc, &i);
}

static void begin(void *user, const u64 *pcs, size_t count) {
    Watching *w = user;
    enum { ASKED = 1024 };
    u64 unknown[ASKED];
    size_t left = 0;
    for (size_t i = 0; w->by_place && !events_failed(w->events) && i < count; i++) {
        unknown[left] = pcs[i];
        left += !is_known_place(w, pcs[i]);
        if (left == ASKED)
            ask_places(w, unknown, left), left = 0;
    }
    if (left && !events_failed(w->events))
        ask_places(w, unknown, left);
}

static u64 hooks_at(void *user, u64 pc) {
    const Watching *w = user;
    u32 i;
    if (!w->by_place)
        return ~PLACE_IN_QUICK;
    return map64_get(&w->places, pc, &i) ? w->masks.at[i] : 0;
}

static size_t read(void *user, u64 pc, void *to, size_t size) {
    const Watching *w = user;
    return pages_read(w->pages, pc, to, size);
}

static bool view_at(Watching *w, u64 pc, InsnView *view) {
    enum { INSN_BYTES = 16 };
    u8 bytes[INSN_BYTES];
    return w->door.isa->view(bytes, read(w, pc, bytes, sizeof(bytes)), pc, view);
}

/* Whether an instruction stays in quick code has to be known before it is decoded. One question is about all that follow it, as far as control goes on. */
static bool is_left_to_quick(void *user, u64 pc) {
    enum { ASKED = 64 };
    Watching *w = user;
    u64 pcs[ASKED];
    size_t count = 0;
    InsnView view;
    if (w->by_place && !is_known_place(w, pc))
        for (u64 at = pc; count < ASKED && !is_known_place(w, at) && view_at(w, at, &view); at += view.size) {
            pcs[count++] = at;
            if (!site_goes_on(&view) && view.flow != FLOW_BRANCH && view.flow != FLOW_CALL)
                break;
        }
    if (count && !events_failed(w->events))
        ask_places(w, pcs, count);
    return hooks_at(w, pc) & PLACE_IN_QUICK;
}

/* Quick code tells it. */
static void cannot_tell(void *user, u64 pc, LatheEvent event) {
    (void)user, (void)pc, (void)event;
}

/* --------------------------------------------------------------------------------------------------------------- values */

/* The Thread by an address that LLVM does not know to be that of the state: the tool's functions reach it in other ways, too. */
static Val in_thread(const Watching *w, Lifter *l, u32 off) {
    Val self = ir_load(l, I64, ir_state(l, w->off.self), 8, SPACE_STATE);
    LLVMSetMetadata(self, LLVMGetMDKindIDInContext(l->ctx, "invariant.load", 14), LLVMMDNodeInContext(l->ctx, NULL, 0));
    return ir_add_to(l, self, off);
}

static Val thread_own(void *user, Lifter *l, u64 number) {
    const Watching *w = user;
    return in_thread(w, l, w->off.own + (u32)number);
}

static Val thread_id(void *user, Lifter *l) {
    const Watching *w = user;
    return ir_zext(l, ir_load(l, I32, ir_state(l, w->off.tid), 4, SPACE_STATE), I64);
}

static u32 counter_off(const Watching *w, u64 counter) {
    return w->off.counters + (u32)counter * TOOL_CELLS * (u32)sizeof(u64);
}

static Val counted(void *user, Lifter *l, u64 counter) {
    return LLVMBuildPtrToInt(l->b, ir_state(l, counter_off(user, counter)), ir_type(l, I64), "");
}

static Val site_words(void *user, Lifter *l, u32 hook, u64 pc) {
    const Watching *w = user;
    char name[48];
    snprintf(name, sizeof(name), SITE_NAME, hook, (unsigned long long)(pc - w->door.base));
    LLVMValueRef words = LLVMGetNamedGlobal(w->mod, name);
    if (!words)
        words = LLVMAddGlobal(w->mod, LLVMInt64TypeInContext(LLVMGetModuleContext(w->mod)), name);
    return LLVMBuildPtrToInt(l->b, words, ir_type(l, I64), "");
}

/* Others see the variable, so that LLVM does not take its value for known behind calls: a copy of the program (fork) has it zero again. */
static Val once(void *user, Lifter *l, u32 hook, u64 pc) {
    const Watching *w = user;
    char name[48];
    snprintf(name, sizeof(name), "once_%x_%llx", hook, (unsigned long long)(pc - w->door.base));
    LLVMValueRef called = LLVMGetNamedGlobal(w->mod, name);
    if (called)
        return called;
    called = LLVMAddGlobal(w->mod, LLVMInt8TypeInContext(l->ctx), name);
    LLVMSetInitializer(called, LLVMConstNull(LLVMInt8TypeInContext(l->ctx)));
    LLVMSetVisibility(called, LLVMHiddenVisibility);
    LLVMSetSection(called, TOOL_ONCE_SECTION);
    return called;
}

/* ------------------------------------------------------------------------------------------------------------- counting */

static void add_at(Lifter *l, Val at, i32 amount) {
    ir_store(l, ir_add_to(l, ir_load(l, I64, at, 8, SPACE_STATE), amount), at, 8, SPACE_STATE);
}

static void add(void *user, Lifter *l, u64 counter, i32 amount) {
    add_at(l, ir_state(l, counter_off(user, counter)), amount);
}

/* The symbol stands for an offset that fits into an instruction. */
static LLVMValueRef row_symbol(const Watching *w, const char *name) {
    LLVMContextRef ctx = LLVMGetModuleContext(w->mod);
    LLVMTypeRef word = LLVMInt64TypeInContext(ctx);
    LLVMValueRef row = LLVMGetNamedGlobal(w->mod, name);
    if (row)
        return row;
    row = LLVMAddGlobal(w->mod, LLVMInt8TypeInContext(ctx), name);
    LLVMMetadataRef range[] = {LLVMValueAsMetadata(LLVMConstInt(word, 0, false)),
                               LLVMValueAsMetadata(LLVMConstInt(word, (u64)INT32_MAX + 1, false))};
    LLVMGlobalSetMetadata(row, LLVMGetMDKindIDInContext(ctx, "absolute_symbol", 15),
                          LLVMMDNodeInContext2(ctx, range, ARRAY_LEN(range)));
    return row;
}

/* The row is addressed from the Thread's address as a number, so that LLVM does not take it for a field of the guest state. Its offset is a symbol that the client sets when it
 * links the object. */
static void add_row(void *user, Lifter *l, const EventsRow *row) {
    const Watching *w = user;
    char name[96];
    snprintf(name, sizeof(name), ROW_NAME, row->table, row->relative, (unsigned long long)row->key[0],
             (unsigned long long)row->key[1], (unsigned long long)row->key[2]);
    Val off = LLVMBuildPtrToInt(l->b, row_symbol(w, name), ir_type(l, I64), "");
    Val at = ir_bitcast(l, in_thread(w, l, 0), PTR);
    add_at(l, LLVMBuildGEP2(l->b, LLVMInt8TypeInContext(l->ctx), at, &off, 1, ""), row->amount);
}

static void counts(void *user, u32 hook) {
    const Watching *w = user;
    const ToolPlan *plan = w->hook[hook].plan;
    tool_note_site(w->tool, hook, TOOL_AS_COUNTER, TOOL_ADD_INSNS * (plan->add_count + plan->row_count));
}

static bool call(void *user, Lifter *l, u32 hook, const char *function, Val value[LATHE_VALUES]) {
    const Watching *w = user;
    return tool_call_function(w->tool, w->mod, l->b, hook, function, value);
}

/* ----------------------------------------------------------------------------------------------------- undefined values */

/* Where undefined values are followed: where the instruction is, and the red zone of what it calls. */
static void mark_values(void *user, Lifter *l, const Insn *in, const InsnView *view) {
    Watching *w = user;
    const CallAbi *abi = &w->door.isa->abi;
    if (!w->follows)
        return;
    w->sp = reg_read(l, abi->stack, I64);
    values_mark(l, pc_value(l, in->pc), w->sp);
    if (view->flow != FLOW_CALL || !abi->red_zone_bytes)
        return;
    Val top = ir_add_to(l, w->sp, -(i64)abi->return_address_bytes);
    values_mark_frame(l, ir_add_to(l, top, -(i64)abi->red_zone_bytes), top);
}

/* An instruction that computes the stack pointer from itself, and does no more, may have made room for a frame. */
static void mark_frame(void *user, Lifter *l, const InsnView *view) {
    const Watching *w = user;
    u32 stack = (u32)1 << w->door.isa->abi.stack;
    if (w->follows && view->reads & view->writes & stack && !view->access_count)
        values_mark_frame(l, reg_read(l, w->door.isa->abi.stack, I64), w->sp);
}

/* Lifted code stores masks itself. */
static bool is_for_quick(const Watching *w, const ToolHook *h) {
    const char *dot = strrchr(h->function, '.');
    return w->follows && dot && !strcmp(dot + 1, "lathe_undefined_stored");
}

/* --------------------------------------------------------------------------------------------------------------- public */

Watching *watching_new(ServerTool *tool, const InitMessage *init, Pages *pages) {
    Watching *w = mem_new(sizeof(*w));
    *w = (Watching){.tool = tool, .off = init->tool, .pages = pages};
    w->door = (EventsDoor){.isa = isa_find((LatheArch)init->code.arch),
                           .user = w,
                           .read = read,
                           .begin = begin,
                           .is_left = is_left_to_quick,
                           .hooks_at = hooks_at,
                           .cannot_tell = cannot_tell,
                           .before = mark_values,
                           .behind = mark_frame,
                           .thread_id = thread_id,
                           .thread_own = thread_own,
                           .site_words = site_words,
                           .counted = counted,
                           .once = once,
                           .add = add,
                           .add_row = add_row,
                           .call = call,
                           .counts = counts,
                           .inside_off = init->tool.inside,
                           .inside_traps = init->code.with_quick,
                           .counts_by_cells = true};
    w->events = events_new(&w->door);
    return w;
}

void watching_free(Watching *w) {
    if (!w)
        return;
    events_free(w->events);
    map64_free(&w->places);
    VEC_FREE(&w->masks);
    mem_free(w);
}

void watching_begin_request(Watching *w, const TranslateMessage *request) {
    map64_free(&w->places);
    w->places = (Map64){0};
    w->masks.len = 0;
    w->door.base = request->base;
}

static bool is_by_place(const ToolHook *h) {
    return site_is_event((LatheEvent)h->event) && (h->filtered || h->event == LATHE_FUNCTION);
}

const LiftWatch *watching_begin(Watching *w, LLVMModuleRef mod) {
    u64 skipped = tool_hooks_off(w->tool);
    w->mod = mod;
    w->hook_count = 0;
    bool added = tool_add(w->tool, mod, w->hook, &w->hook_count);
    w->follows = added && values_wanted(mod);
    w->by_place = false;
    for (u32 i = 0; i < w->hook_count; i++) {
        w->by_place |= is_by_place(&w->hook[i]);
        skipped |= (u64)is_for_quick(w, &w->hook[i]) << i;
    }
    const LiftWatch *watch = events_begin(w->events, mod, w->hook, w->hook_count, skipped);
    if (!added)
        events_fail(w->events);
    return watch;
}

void watching_follow(const Watching *w, LLVMValueRef lifted) {
    if (w && w->follows && !events_failed(w->events))
        values_follow(lifted, w->door.isa, &w->off);
}

bool watching_follows(const Watching *w) {
    return w && w->follows;
}

bool watching_failed(const Watching *w) {
    return w && events_failed(w->events);
}
