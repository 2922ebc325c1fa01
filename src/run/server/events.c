/* events.c: the events of instructions (lathe/tool.h) in lifted code.
 *
 * The lifter tells each instruction (lift/watch.h), site.c says which events it has, and this file adds what the tool's hooks do at these: calls of functions with
 * the values that the hooks ask for, and additions to counters. What lifted code cannot tell, as quick code does, is left to that: an instruction, or a whole function. */
#include <stdio.h>

#include "isa/isa.h"
#include "lift/watch.h"
#include "run/server/server.h"
#include "run/server/values/values.h"
#include "run/site/site.h"

enum { INSN_BYTES = 16 };

/* The instruction that is being lifted. */
typedef struct Here {
    Lifter *l;
    const Insn *in;
    InsnView view;
    u64 hooks;  /* those that apply: a bit for each */
    Val begins; /* of LiftWatch.before */
    Val sp;     /* the stack pointer before it, if values are followed */
    u32 count;
    SiteEvent event[SITE_EVENTS];
    Val address[INSN_ACCESSES]; /* of accesses that are told behind it */
    Val target, taken;          /* of LiftWatch.transfer */
    /* How control goes on, which is told when the lifter knows: */
    const SiteEvent *transfer;
    Val value[TOOL_HOOKS_MAX][LATHE_VALUES];
} Here;

struct Events {
    LiftWatch watch;
    ServerTool *tool;
    ToolHook hook[TOOL_HOOKS_MAX];
    u32 hook_count;
    bool follows;  /* undefined values are followed (values.h) */
    bool by_place; /* the client has to be asked which hooks apply to an instruction */
    const Isa *isa;
    ToolOffsets off;
    Pages *pages;
    /* of the request: */
    u64 base;
    Map64 places; /* from an instruction's address to its index in masks */
    VEC(u64) masks;
    LLVMModuleRef mod;
    bool failed; /* something cannot be told */
    Here here;
};

/* ---------------------------------------------------------------------------------------------------------------- hooks */

static bool wants(const ToolHook *h, LatheWhat what) {
    for (u32 i = 0; i < LATHE_VALUES; i++)
        if (h->value[i].what == what)
            return true;
    return false;
}

static bool has_hooks(const Events *e, u32 event) {
    for (u32 i = 0; i < e->hook_count; i++)
        if (e->hook[i].event == event)
            return true;
    return false;
}

static bool has_hooks_with(const Events *e, u32 event, LatheWhat what) {
    for (u32 i = 0; i < e->hook_count; i++)
        if (e->hook[i].event == event && wants(&e->hook[i], what))
            return true;
    return false;
}

/* These the lifter does itself (LatheTuning.cells). */
static bool is_counted_by_cells(const ToolHook *h) {
    return tool_plan_is_of_all_insns(h->plan, h->event, h->filtered);
}

/* Lifted code stores masks itself. */
static bool is_for_quick(const Events *e, const ToolHook *h) {
    const char *dot = strrchr(h->function, '.');
    return e->follows && dot && !strcmp(dot + 1, "lathe_undefined_stored");
}

static bool applies(const Events *e, u32 hook, u32 event) {
    const ToolHook *h = &e->hook[hook];
    if (is_for_quick(e, h))
        return false;
    return h->event == event && e->here.hooks >> hook & 1 && (!is_counted_by_cells(h) || h->plan->row_count);
}

/* --------------------------------------------------------------------------------------------------------------- places */

static void ask_places(Events *e, const u64 *pcs, size_t count) {
    MessageHeader header;
    Connection *c = pages_connection(e->pages);
    if (!connection_send(c, S_PLACES, pcs, count * sizeof(*pcs), NULL, 0) || !connection_receive(c, &header) ||
        header.type != C_PLACES || header.size != count * sizeof(u64)) {
        e->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        u64 mask;
        memcpy(&mask, c->buffer + i * sizeof(mask), sizeof(mask));
        map64_set(&e->places, pcs[i], (u32)e->masks.len);
        VEC_PUSH(&e->masks, mask);
    }
}

static bool is_known_place(const Events *e, u64 pc) {
    u32 i;
    return map64_get(&e->places, pc, &i);
}

static void begin(void *user, const u64 *pcs, size_t count) {
    Events *e = user;
    enum { ASKED = 1024 };
    u64 unknown[ASKED];
    size_t left = 0;
    for (size_t i = 0; e->by_place && !e->failed && i < count; i++) {
        unknown[left] = pcs[i];
        left += !is_known_place(e, pcs[i]);
        if (left == ASKED)
            ask_places(e, unknown, left), left = 0;
    }
    if (left && !e->failed)
        ask_places(e, unknown, left);
}

static u64 hooks_at(const Events *e, u64 pc) {
    u32 i;
    if (!e->by_place)
        return ~PLACE_IN_QUICK;
    return map64_get(&e->places, pc, &i) ? e->masks.at[i] : 0;
}

/* --------------------------------------------------------------------------------------------------------- instructions */

static bool view_at(const Events *e, u64 pc, InsnView *view) {
    u8 bytes[INSN_BYTES];
    return e->isa->view(bytes, pages_read(e->pages, pc, bytes, sizeof(bytes)), pc, view);
}

/* What memory has may not be read where the instruction itself may have left it alone. */
static bool can_tell_access(const Events *e, const InsnAccess *a, u32 event) {
    bool both = a->how & ACCESS_READ && a->how & ACCESS_WRITE;
    if (a->how & (ACCESS_BYTE_INDEX | ACCESS_ELEMENTS))
        return false;
    return both || !(a->how & ACCESS_MAYBE) || !has_hooks_with(e, event, LATHE_VALUE);
}

static bool can_tell(const Events *e, const InsnView *view, const SiteEvent *event) {
    if (!has_hooks(e, event->event))
        return true;
    if (event->phase == SITE_PASS || event->phase == SITE_PASSED)
        return false;
    bool access = event->event >= LATHE_LOAD && event->event <= LATHE_STORED;
    return !access || can_tell_access(e, &view->access[event->access], event->event);
}

/* Whether an instruction stays in quick code has to be known before it is decoded. One question is about all that follow it, as far as control goes on. */
static bool is_left_to_quick(Events *e, u64 pc) {
    enum { ASKED = 64 };
    u64 pcs[ASKED];
    size_t count = 0;
    InsnView view;
    if (e->by_place && !is_known_place(e, pc))
        for (u64 at = pc; count < ASKED && !is_known_place(e, at) && view_at(e, at, &view); at += view.size) {
            pcs[count++] = at;
            if (!site_goes_on(&view) && view.flow != FLOW_BRANCH && view.flow != FLOW_CALL)
                break;
        }
    if (count && !e->failed)
        ask_places(e, pcs, count);
    return hooks_at(e, pc) & PLACE_IN_QUICK;
}

/* The decoder makes one instruction of some that follow each other, if it is given the bytes of all of them. */
static bool look(void *user, u64 pc, const u8 *bytes, size_t *size) {
    Events *e = user;
    InsnView view;
    SiteEvent events[SITE_EVENTS];
    if (!e->isa->view(bytes, *size, pc, &view) || is_left_to_quick(e, pc))
        return false;
    *size = view.size;
    u32 count = site_events(&view, (SitePlace){0}, events);
    for (u32 i = 0; i < count; i++)
        if (!can_tell(e, &view, &events[i]))
            return false;
    return true;
}

static bool goes_on(void *user, const Insn *in) {
    InsnView view;
    return view_at(user, in->pc, &view) && site_goes_on(&view);
}

/* How large the block is that begins with the instruction. */
static void measure_block(const Events *e, u64 *bytes, u64 *insns) {
    InsnView view;
    *bytes = *insns = 0;
    do {
        if (!view_at(e, e->here.in->pc + *bytes, &view))
            return;
        *bytes += view.size;
        ++*insns;
    } while (site_goes_on(&view));
}

/* --------------------------------------------------------------------------------------------------------------- values */

static Val constant(const Events *e, u64 value) {
    return ir_int(e->here.l, I64, value);
}

static bool is_access(u32 event) {
    return event >= LATHE_LOAD && event <= LATHE_STORED;
}

static bool is_transfer(u32 event) {
    return event >= LATHE_BRANCH && event <= LATHE_RETURN;
}

/* The Thread by an address that LLVM does not know to be that of the state: the tool's functions reach it in other ways, too. */
static Val in_thread(const Events *e, u32 off) {
    Lifter *l = e->here.l;
    Val self = ir_load(l, I64, ir_state(l, e->off.self), 8, SPACE_STATE);
    LLVMSetMetadata(self, LLVMGetMDKindIDInContext(l->ctx, "invariant.load", 14), LLVMMDNodeInContext(l->ctx, NULL, 0));
    return ir_add_to(l, self, off);
}

static u32 counter_off(const Events *e, u64 counter) {
    return e->off.counters + (u32)counter * TOOL_CELLS * (u32)sizeof(u64);
}

static Val thread_id(const Events *e) {
    Lifter *l = e->here.l;
    return ir_zext(l, ir_load(l, I32, ir_state(l, e->off.tid), 4, SPACE_STATE), I64);
}

static Val register_no(const Events *e, u64 number) {
    const RegInfo *reg = number < e->isa->reg_count ? &e->isa->regs[number] : NULL;
    bool general = reg && reg->kind == REG_INT && reg->bits == 64;
    return general ? reg_read(e->here.l, (Reg)number, I64) : constant(e, 0);
}

static Val argument_of(const Events *e, u64 index) {
    const CallAbi *abi = &e->isa->abi;
    return index < abi->int_arg_count ? reg_read(e->here.l, abi->int_args[index], I64) : constant(e, 0);
}

static Val site_words(const Events *e, u32 hook) {
    char name[48];
    snprintf(name, sizeof(name), SITE_NAME, hook, (unsigned long long)(e->here.in->pc - e->base));
    LLVMValueRef words = LLVMGetNamedGlobal(e->mod, name);
    if (!words)
        words = LLVMAddGlobal(e->mod, LLVMInt64TypeInContext(LLVMGetModuleContext(e->mod)), name);
    return LLVMBuildPtrToInt(e->here.l->b, words, ir_type(e->here.l, I64), "");
}

static const InsnAccess *access_of(const Events *e, const SiteEvent *event) {
    return &e->here.view.access[event->access];
}

static Val address_of(const Events *e, const SiteEvent *event) {
    if (!is_access(event->event))
        return constant(e, 0);
    Val noted = e->here.address[event->access];
    return noted ? noted : e->isa->address(e->here.l, &access_of(e, event)->at);
}

static Val bytes_of(const Events *e, const SiteEvent *event) {
    u64 bytes = 0, insns;
    if (event->event == LATHE_BLOCK)
        measure_block(e, &bytes, &insns);
    return constant(e, is_access(event->event) ? access_of(e, event)->at.bits / 8u : bytes);
}

static Val count_of(const Events *e, const SiteEvent *event) {
    u64 bytes, insns = 0;
    if (event->event == LATHE_BLOCK)
        measure_block(e, &bytes, &insns);
    return constant(e, insns);
}

/* The first 8 bytes that memory has there. What a call stores will be there when it has transferred control. */
static Val memory_of(const Events *e, const SiteEvent *event) {
    Lifter *l = e->here.l;
    if (event->event == LATHE_STORED && event->phase == SITE_BEFORE)
        return pc_value(l, insn_end(e->here.in));
    u32 bits = access_of(e, event)->at.bits;
    LLVMTypeRef type = LLVMIntTypeInContext(l->ctx, bits < 64 ? bits : 64);
    Val word = LLVMBuildLoad2(l->b, type, ir_bitcast(l, address_of(e, event), PTR), "");
    LLVMSetAlignment(word, 1);
    return bits < 64 ? LLVMBuildZExt(l->b, word, ir_type(l, I64), "") : word;
}

static Val target_of(const Events *e, const SiteEvent *event) {
    if (!is_transfer(event->event))
        return constant(e, 0);
    return e->here.view.indirect ? e->here.target : pc_value(e->here.l, e->here.view.target);
}

static Val taken_of(const Events *e, const SiteEvent *event) {
    bool is_branch = event->event == LATHE_BRANCH;
    return is_branch ? e->here.taken ? ir_zext(e->here.l, e->here.taken, I64) : NULL : constant(e, 0);
}

/* What a hook asks for, as 64 bits; NULL: that is known when control is transferred. What has no meaning at an event is zero. */
static Val value_of(const Events *e, const SiteEvent *event, u32 hook, const LatheValue *v) {
    const Here *h = &e->here;
    switch (v->what) {
    case LATHE_CONSTANT:
        return constant(e, (u64)v->number);
    case LATHE_PC:
        return pc_value(h->l, h->in->pc);
    case LATHE_SIZE:
        return constant(e, h->view.size);
    case LATHE_NEXT:
        return pc_value(h->l, h->in->pc + h->view.size);
    case LATHE_THREAD_ID:
        return thread_id(e);
    case LATHE_THREAD_OWN:
        return in_thread(e, e->off.own + (u32)v->number);
    case LATHE_ADDRESS:
        return address_of(e, event);
    case LATHE_BYTES:
        return bytes_of(e, event);
    case LATHE_COUNT:
        return count_of(e, event);
    case LATHE_VALUE:
        return event->event == LATHE_LOADED || event->event == LATHE_STORED ? memory_of(e, event) : constant(e, 0);
    case LATHE_TARGET:
        return target_of(e, event);
    case LATHE_TAKEN:
        return taken_of(e, event);
    case LATHE_REGISTER:
        return register_no(e, (u64)v->number);
    case LATHE_ARGUMENT:
        return event->event == LATHE_FUNCTION ? argument_of(e, (u64)v->number) : constant(e, 0);
    case LATHE_RESULT:
        return event->event == LATHE_RETURN ? reg_read(h->l, e->isa->abi.int_result, I64) : constant(e, 0);
    case LATHE_SP:
        return reg_read(h->l, e->isa->abi.stack, I64);
    case LATHE_CLASSES:
        return constant(e, h->view.classes);
    case LATHE_OPCODE:
        return constant(e, h->view.opcode);
    case LATHE_SITE:
        return site_words(e, hook);
    case LATHE_COUNTED:
        return LLVMBuildPtrToInt(h->l->b, ir_state(h->l, counter_off(e, (u64)v->number)), ir_type(h->l, I64), "");
    case LATHE_NO_VALUE:
    case LATHE_NUMBER:
    case LATHE_NAME:
    case LATHE_OFFSET:
        break;
    }
    return constant(e, 0);
}

/* ---------------------------------------------------------------------------------------------------------------- calls */

static void add_at(Lifter *l, Val at, i32 amount) {
    ir_store(l, ir_add_to(l, ir_load(l, I64, at, 8, SPACE_STATE), amount), at, 8, SPACE_STATE);
}

/* The symbol stands for an offset that fits into an instruction. */
static LLVMValueRef row_symbol(const Events *e, const char *name) {
    LLVMContextRef ctx = LLVMGetModuleContext(e->mod);
    LLVMTypeRef word = LLVMInt64TypeInContext(ctx);
    LLVMValueRef row = LLVMGetNamedGlobal(e->mod, name);
    if (row)
        return row;
    row = LLVMAddGlobal(e->mod, LLVMInt8TypeInContext(ctx), name);
    LLVMMetadataRef range[] = {LLVMValueAsMetadata(LLVMConstInt(word, 0, false)),
                               LLVMValueAsMetadata(LLVMConstInt(word, (u64)INT32_MAX + 1, false))};
    LLVMGlobalSetMetadata(row, LLVMGetMDKindIDInContext(ctx, "absolute_symbol", 15),
                          LLVMMDNodeInContext2(ctx, range, ARRAY_LEN(range)));
    return row;
}

/* A key that the hook is given; true: it is an address, told from where the file is. */
static bool key_of(const Events *e, const SiteEvent *event, const LatheValue *v, u64 *key) {
    SiteFacts facts = {.view = &e->here.view, .pc = e->here.in->pc - e->base};
    if (event->event == LATHE_BLOCK && (v->what == LATHE_BYTES || v->what == LATHE_COUNT))
        measure_block(e, &facts.block_bytes, &facts.block_insns);
    *key = site_known_value(v, event, &facts);
    return v->what == LATHE_PC || v->what == LATHE_NEXT;
}

/* The row is addressed from the Thread's address as a number, so that LLVM does not take it for a field of the guest state. Its offset is a symbol that the client sets when it
 * links the object. */
static void count_row(const Events *e, const SiteEvent *event, u32 hook, const ToolRowAdd *row) {
    Lifter *l = e->here.l;
    u64 key[LATHE_KEYS];
    u32 relative = 0;
    char name[96];
    for (u32 i = 0; i < LATHE_KEYS; i++)
        if (!row->key[i].value)
            key[i] = row->key[i].constant;
        else
            relative |= (u32)key_of(e, event, &e->hook[hook].value[row->key[i].value - 1], &key[i]) << i;
    snprintf(name, sizeof(name), ROW_NAME, row->table, relative, (unsigned long long)key[0], (unsigned long long)key[1],
             (unsigned long long)key[2]);
    Val off = LLVMBuildPtrToInt(l->b, row_symbol(e, name), ir_type(l, I64), "");
    Val at = ir_bitcast(l, in_thread(e, 0), PTR);
    add_at(l, LLVMBuildGEP2(l->b, LLVMInt8TypeInContext(l->ctx), at, &off, 1, ""), row->amount);
}

static i32 amount_of(const Events *e, const SiteEvent *event, u32 hook, const ToolAdd *add) {
    u64 size;
    if (!add->value)
        return add->amount;
    key_of(e, event, &e->hook[hook].value[add->value - 1], &size);
    return (i32)size;
}

static void count(const Events *e, const SiteEvent *event, u32 hook) {
    const ToolPlan *plan = e->hook[hook].plan;
    Lifter *l = e->here.l;
    for (u32 i = 0; i < plan->add_count && !is_counted_by_cells(&e->hook[hook]); i++)
        add_at(l, ir_state(l, counter_off(e, plan->add[i].counter)), amount_of(e, event, hook, &plan->add[i]));
    for (u32 i = 0; i < plan->row_count; i++)
        count_row(e, event, hook, &plan->row[i]);
    tool_note_site(e->tool, hook, TOOL_AS_COUNTER, TOOL_ADD_INSNS * (plan->add_count + plan->row_count));
}

/* At an access of a usual size, the function in which that is a constant. */
static void call(Events *e, const SiteEvent *event, u32 hook, Val value[LATHE_VALUES]) {
    char variant[TOOL_VARIANT_NAME];
    const char *name = e->hook[hook].function;
    if (is_access(event->event) && wants(&e->hook[hook], LATHE_BYTES)) {
        tool_variant_name(variant, name, access_of(e, event)->at.bits / 8u);
        name = LLVMGetNamedFunction(e->mod, variant) ? variant : name;
    }
    if (!tool_call_function(e->tool, e->mod, e->here.l->b, hook, name, value))
        e->failed = true;
}

/* What a hook of kind TOOL_COUNT asks for is of no interest. */
static void evaluate(Events *e, const SiteEvent *event, u32 hook, Val value[LATHE_VALUES]) {
    bool calls = e->hook[hook].plan->kind == TOOL_CALL;
    for (u32 i = 0; i < LATHE_VALUES; i++)
        value[i] = calls ? value_of(e, event, hook, &e->hook[hook].value[i]) : NULL;
}

static void run_hook(Events *e, const SiteEvent *event, u32 hook, Val value[LATHE_VALUES]) {
    if (e->hook[hook].plan->kind == TOOL_COUNT)
        count(e, event, hook);
    else
        call(e, event, hook, value);
}

/* A block may begin here for some who come by. Values are made on the main line. */
static void run_if_begins(Events *e, const SiteEvent *event, u32 hook, Val value[LATHE_VALUES]) {
    Lifter *l = e->here.l;
    Label begins = ir_label(l, "block"), on = ir_label(l, "");
    ir_branch(l, e->here.begins, begins, on);
    ir_here(l, begins);
    run_hook(e, event, hook, value);
    ir_goto(l, on);
    ir_here(l, on);
}

static void tell(Events *e, const SiteEvent *event) {
    Val value[LATHE_VALUES];
    bool of_stack = is_access(event->event) && site_is_of_stack(access_of(e, event), e->isa->abi.stack);
    for (u32 i = 0; i < e->hook_count; i++) {
        if (!applies(e, i, event->event) || (of_stack && e->hook[i].not_stack))
            continue;
        evaluate(e, event, i, value);
        if (event->event == LATHE_BLOCK && !LLVMIsConstant(e->here.begins))
            run_if_begins(e, event, i, value);
        else
            run_hook(e, event, i, value);
    }
}

/* --------------------------------------------------------------------------------------------------------- the watcher's */

static bool is_known_later(const Events *e, const SiteEvent *event) {
    for (u32 i = 0; i < e->hook_count; i++)
        if (applies(e, i, event->event) &&
            ((event->event == LATHE_BRANCH && wants(&e->hook[i], LATHE_TAKEN)) ||
             (is_transfer(event->event) && e->here.view.indirect && wants(&e->hook[i], LATHE_TARGET))))
            return true;
    return false;
}

/* All other values are those of before the instruction. */
static void put_off(Events *e, const SiteEvent *event) {
    e->here.transfer = event;
    for (u32 i = 0; i < e->hook_count; i++)
        if (applies(e, i, event->event))
            evaluate(e, event, i, e->here.value[i]);
}

/* Addresses by the registers before the instruction, for what is told behind it. */
static void note_addresses(Events *e) {
    Here *h = &e->here;
    memset(h->address, 0, sizeof(h->address));
    for (u32 i = 0; i < h->count; i++)
        if (h->event[i].phase == SITE_BEHIND && is_access(h->event[i].event) && has_hooks(e, h->event[i].event) &&
            !h->address[h->event[i].access])
            h->address[h->event[i].access] = e->isa->address(h->l, &access_of(e, &h->event[i])->at);
}

/* Where undefined values are followed: where the instruction is, and the red zone of what it calls. */
static void mark_values(Events *e, Lifter *l, const Insn *in) {
    Here *h = &e->here;
    const CallAbi *abi = &e->isa->abi;
    h->sp = reg_read(l, abi->stack, I64);
    values_mark(l, pc_value(l, in->pc), h->sp);
    if (h->view.flow != FLOW_CALL || !abi->red_zone_bytes)
        return;
    Val top = ir_add_to(l, h->sp, -(i64)abi->return_address_bytes);
    values_mark_frame(l, ir_add_to(l, top, -(i64)abi->red_zone_bytes), top);
}

/* An instruction that computes the stack pointer from itself, and does no more, may have made room for a frame. */
static void mark_frame(Events *e, Lifter *l) {
    const InsnView *view = &e->here.view;
    u32 stack = (u32)1 << e->isa->abi.stack;
    if (view->reads & view->writes & stack && !view->access_count)
        values_mark_frame(l, reg_read(l, e->isa->abi.stack, I64), e->here.sp);
}

static void before(void *user, Lifter *l, const Insn *in, Val begins) {
    Events *e = user;
    Here *h = &e->here;
    e->failed |= h->transfer || !view_at(e, in->pc, &h->view); /* the transfer before was not told */
    if (e->failed)
        return;
    h->l = l, h->in = in, h->begins = begins;
    h->hooks = hooks_at(e, in->pc);
    SitePlace place = {.begins_block = begins, .begins_function = has_hooks(e, LATHE_FUNCTION)};
    h->count = site_events(&h->view, place, h->event);
    h->target = h->taken = NULL;
    if (e->follows)
        mark_values(e, l, in);
    note_addresses(e);
    for (u32 i = 0; i < h->count; i++)
        if (h->event[i].phase == SITE_BEFORE)
            (is_known_later(e, &h->event[i]) ? put_off : tell)(e, &h->event[i]);
}

static void transfer(void *user, Lifter *l, const Insn *in, Val target, Val taken) {
    Events *e = user;
    Here *h = &e->here;
    if (!h->transfer || e->failed)
        return;
    e->failed |= h->in != in;
    h->l = l, h->target = ir_bitcast(l, target, I64), h->taken = taken;
    for (u32 i = 0; i < e->hook_count && !e->failed; i++) {
        if (!applies(e, i, h->transfer->event))
            continue;
        for (u32 k = 0; k < LATHE_VALUES; k++)
            if (!h->value[i][k] && e->hook[i].plan->kind == TOOL_CALL)
                h->value[i][k] = value_of(e, h->transfer, i, &e->hook[i].value[k]);
        run_hook(e, h->transfer, i, h->value[i]);
    }
    h->transfer = NULL;
}

static void behind(void *user, Lifter *l, const Insn *in) {
    Events *e = user;
    Here *h = &e->here;
    if (e->failed || h->in != in)
        return;
    h->l = l;
    if (e->follows)
        mark_frame(e, l);
    for (u32 i = 0; i < h->count; i++)
        if (h->event[i].phase == SITE_BEHIND)
            tell(e, &h->event[i]);
}

/* --------------------------------------------------------------------------------------------------------------- public */

Events *events_new(ServerTool *tool, const InitMessage *init, Pages *pages) {
    Events *e = mem_new(sizeof(*e));
    *e = (Events){.tool = tool, .isa = isa_find((LatheArch)init->code.arch), .off = init->tool, .pages = pages};
    e->watch = (LiftWatch){.user = e,
                           .look = look,
                           .begin = begin,
                           .before = before,
                           .transfer = transfer,
                           .behind = behind,
                           .goes_on = goes_on,
                           .inside_off = init->tool.inside,
                           .inside_traps = init->code.with_quick};
    return e;
}

void events_free(Events *e) {
    if (!e)
        return;
    map64_free(&e->places);
    VEC_FREE(&e->masks);
    mem_free(e);
}

void events_begin_request(Events *e, const TranslateMessage *request) {
    map64_free(&e->places);
    e->places = (Map64){0};
    e->masks.len = 0;
    e->base = request->base;
}

static bool is_by_place(const ToolHook *h) {
    return site_is_event((LatheEvent)h->event) && (h->filtered || h->event == LATHE_FUNCTION);
}

const LiftWatch *events_begin(Events *e, LLVMModuleRef mod) {
    e->mod = mod;
    e->failed = !tool_add(e->tool, mod, e->hook, &e->hook_count);
    e->here = (Here){0};
    e->watch.blocks = has_hooks(e, LATHE_BLOCK);
    e->follows = !e->failed && values_wanted(mod);
    e->by_place = false;
    for (u32 i = 0; i < e->hook_count; i++)
        e->by_place |= is_by_place(&e->hook[i]);
    return &e->watch;
}

void events_follow(const Events *e, LLVMValueRef lifted) {
    if (e && e->follows && !e->failed)
        values_follow(lifted, e->isa, &e->off);
}

bool events_follows(const Events *e) {
    return e && e->follows;
}

bool events_failed(const Events *e) {
    return e && (e->failed || e->here.transfer);
}
