/* events.c: see events.h.
 *
 * The lifter tells each instruction (lift/watch.h), site.c says which events it has, and this file adds what the tool's hooks do at these: calls of functions with
 * the values that the hooks ask for, and additions to counters. What lifted code cannot tell, as quick code does, is left to others: an instruction, or a whole function. */
#include "site/events.h"

#include "isa/isa.h"
#include "tool/hook.h"

enum { INSN_BYTES = 16 };

/* The instruction that is being lifted. */
typedef struct Here {
    Lifter *l;
    const Insn *in;
    InsnView view;
    u64 hooks;  /* those that apply: a bit for each */
    Val begins; /* of LiftWatch.before */
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
    const EventsDoor *door;
    ToolHook hook[TOOL_HOOKS_MAX];
    u32 hook_count;
    u64 skipped;
    const Isa *isa;
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
static bool is_counted_by_cells(const Events *e, const ToolHook *h) {
    return e->door->counts_by_cells && tool_plan_is_of_all_insns(h->plan, h->event, h->filtered);
}

static bool applies(const Events *e, u32 hook, u32 event) {
    const ToolHook *h = &e->hook[hook];
    if (e->skipped >> hook & 1)
        return false;
    return h->event == event && e->here.hooks >> hook & 1 && (!is_counted_by_cells(e, h) || h->plan->row_count);
}

/* --------------------------------------------------------------------------------------------------------- instructions */

static bool view_at(const Events *e, u64 pc, InsnView *view) {
    u8 bytes[INSN_BYTES];
    return e->isa->view(bytes, e->door->read(e->door->user, pc, bytes, sizeof(bytes)), pc, view);
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

static void begin(void *user, const u64 *pcs, size_t count) {
    Events *e = user;
    if (e->door->begin)
        e->door->begin(e->door->user, pcs, count);
}

/* The decoder makes one instruction of some that follow each other, if it is given the bytes of all of them. */
static bool look(void *user, u64 pc, const u8 *bytes, size_t *size) {
    Events *e = user;
    InsnView view;
    SiteEvent events[SITE_EVENTS];
    if (!e->isa->view(bytes, *size, pc, &view) || e->door->is_left(e->door->user, pc))
        return false;
    *size = view.size;
    u32 count = site_events(&view, (SitePlace){0}, events);
    for (u32 i = 0; i < count; i++)
        if (!can_tell(e, &view, &events[i])) {
            e->door->cannot_tell(e->door->user, pc, (LatheEvent)events[i].event);
            return false;
        }
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

static Val register_no(const Events *e, u64 number) {
    const RegInfo *reg = number < e->isa->reg_count ? &e->isa->regs[number] : NULL;
    bool general = reg && reg->kind == REG_INT && reg->bits == 64;
    return general ? reg_read(e->here.l, (Reg)number, I64) : constant(e, 0);
}

static Val argument_of(const Events *e, u64 index) {
    const CallAbi *abi = &e->isa->abi;
    return index < abi->int_arg_count ? reg_read(e->here.l, abi->int_args[index], I64) : constant(e, 0);
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
        return e->door->thread_id(e->door->user, h->l);
    case LATHE_THREAD_OWN:
        return e->door->thread_own(e->door->user, h->l, (u64)v->number);
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
        return e->door->site_words(e->door->user, h->l, hook, h->in->pc);
    case LATHE_COUNTED:
        return e->door->counted(e->door->user, h->l, (u64)v->number);
    case LATHE_NO_VALUE:
    case LATHE_NUMBER:
    case LATHE_NAME:
    case LATHE_OFFSET:
        break;
    }
    return constant(e, 0);
}

/* ---------------------------------------------------------------------------------------------------------------- calls */

/* A key that the hook is given; true: it is an address, told from where the file is. */
static bool key_of(const Events *e, const SiteEvent *event, const LatheValue *v, u64 *key) {
    SiteFacts facts = {.view = &e->here.view, .pc = e->here.in->pc - e->door->base};
    if (event->event == LATHE_BLOCK && (v->what == LATHE_BYTES || v->what == LATHE_COUNT))
        measure_block(e, &facts.block_bytes, &facts.block_insns);
    *key = site_known_value(v, event, &facts);
    return v->what == LATHE_PC || v->what == LATHE_NEXT;
}

static void count_row(const Events *e, const SiteEvent *event, u32 hook, const ToolRowAdd *add) {
    EventsRow row = {.table = add->table, .amount = add->amount};
    for (u32 i = 0; i < LATHE_KEYS; i++)
        if (!add->key[i].value)
            row.key[i] = add->key[i].constant;
        else
            row.relative |= (u32)key_of(e, event, &e->hook[hook].value[add->key[i].value - 1], &row.key[i]) << i;
    e->door->add_row(e->door->user, e->here.l, &row);
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
    const EventsDoor *door = e->door;
    for (u32 i = 0; i < plan->add_count && !is_counted_by_cells(e, &e->hook[hook]); i++)
        door->add(door->user, e->here.l, plan->add[i].counter, amount_of(e, event, hook, &plan->add[i]));
    for (u32 i = 0; i < plan->row_count; i++)
        count_row(e, event, hook, &plan->row[i]);
    door->counts(door->user, hook);
}

/* At an access of a usual size, the function in which that is a constant. */
static void call(Events *e, const SiteEvent *event, u32 hook, Val value[LATHE_VALUES]) {
    char variant[TOOL_VARIANT_NAME];
    const char *name = e->hook[hook].function;
    if (is_access(event->event) && wants(&e->hook[hook], LATHE_BYTES)) {
        tool_variant_name(variant, name, access_of(e, event)->at.bits / 8u);
        name = LLVMGetNamedFunction(e->mod, variant) ? variant : name;
    }
    if (!e->door->call(e->door->user, e->here.l, hook, name, value))
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

/* Several threads may find that it was not called yet. */
static void run_once(Events *e, const SiteEvent *event, u32 hook, Val value[LATHE_VALUES]) {
    Lifter *l = e->here.l;
    Label first = ir_label(l, "first"), on = ir_label(l, "");
    Val called = e->door->once(e->door->user, l, hook, e->here.in->pc);
    ir_branch_rare(l, ir_icmp(l, EQ, ir_load(l, I8, called, 1, SPACE_STATE), ir_int(l, I8, 0)), first, on);
    ir_here(l, first);
    ir_store(l, ir_int(l, I8, 1), called, 1, SPACE_STATE);
    call(e, event, hook, value);
    ir_goto(l, on);
    ir_here(l, on);
}

static void run(Events *e, const SiteEvent *event, u32 hook, Val value[LATHE_VALUES]) {
    if (e->hook[hook].once && e->door->once)
        run_once(e, event, hook, value);
    else
        run_hook(e, event, hook, value);
}

/* A block may begin here for some who come by. Values are made on the main line. */
static void run_if_begins(Events *e, const SiteEvent *event, u32 hook, Val value[LATHE_VALUES]) {
    Lifter *l = e->here.l;
    Label begins = ir_label(l, "block"), on = ir_label(l, "");
    ir_branch(l, e->here.begins, begins, on);
    ir_here(l, begins);
    run(e, event, hook, value);
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
            run(e, event, i, value);
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

static void before(void *user, Lifter *l, const Insn *in, Val begins) {
    Events *e = user;
    Here *h = &e->here;
    e->failed |= h->transfer || !view_at(e, in->pc, &h->view); /* the transfer before was not told */
    if (e->failed)
        return;
    h->l = l, h->in = in, h->begins = begins;
    h->hooks = e->door->hooks_at(e->door->user, in->pc);
    SitePlace place = {.begins_block = begins, .begins_function = has_hooks(e, LATHE_FUNCTION)};
    h->count = site_events(&h->view, place, h->event);
    h->target = h->taken = NULL;
    if (e->door->before)
        e->door->before(e->door->user, l, in, &h->view);
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
        run(e, h->transfer, i, h->value[i]);
    }
    h->transfer = NULL;
}

static void behind(void *user, Lifter *l, const Insn *in) {
    Events *e = user;
    Here *h = &e->here;
    if (e->failed || h->in != in)
        return;
    h->l = l;
    if (e->door->behind)
        e->door->behind(e->door->user, l, &h->view);
    for (u32 i = 0; i < h->count; i++)
        if (h->event[i].phase == SITE_BEHIND)
            tell(e, &h->event[i]);
}

/* --------------------------------------------------------------------------------------------------------------- public */

Events *events_new(const EventsDoor *door) {
    Events *e = mem_new(sizeof(*e));
    *e = (Events){.door = door, .isa = door->isa};
    e->watch = (LiftWatch){.user = e,
                           .look = look,
                           .begin = begin,
                           .before = before,
                           .transfer = transfer,
                           .behind = behind,
                           .goes_on = goes_on,
                           .inside_off = door->inside_off,
                           .inside_traps = door->inside_traps};
    return e;
}

void events_free(Events *e) {
    mem_free(e);
}

const LiftWatch *events_begin(Events *e, LLVMModuleRef mod, const ToolHook *hooks, u32 count, u64 skipped) {
    e->mod = mod;
    e->failed = false;
    e->here = (Here){0};
    memcpy(e->hook, hooks, count * sizeof(*hooks));
    e->hook_count = count;
    e->skipped = skipped;
    e->watch.blocks = has_hooks(e, LATHE_BLOCK);
    return &e->watch;
}

bool events_have(const Events *e, LatheEvent event) {
    return has_hooks(e, event);
}

void events_fail(Events *e) {
    e->failed = true;
}

bool events_failed(const Events *e) {
    return e && (e->failed || e->here.transfer);
}

/* ---------------------------------------------------------------------------------------------------- hooks in bitcode */

/* As the function takes it: pointers and narrower integers are words, too. */
static LLVMValueRef as_parameter(LLVMBuilderRef b, LLVMValueRef v, LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(b, v, type, "");
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMBuildTrunc(b, v, type, "") : NULL;
}

bool events_arguments(LLVMBuilderRef b, LLVMValueRef function, const LLVMValueRef values[LATHE_VALUES],
                      LLVMValueRef args[LATHE_VALUES], u32 *count) {
    LLVMTypeRef type = function ? LLVMGlobalGetValueType(function) : NULL, types[LATHE_VALUES];
    *count = type ? LLVMCountParamTypes(type) : 0;
    if (!type || *count > LATHE_VALUES)
        return false;
    LLVMGetParamTypes(type, types);
    for (u32 i = 0; i < *count; i++)
        if (!(args[i] = as_parameter(b, values[i], types[i])))
            return false;
    return true;
}

static LatheValue read_value(LLVMValueRef value) {
    return (LatheValue){(LatheWhat)LLVMConstIntGetZExtValue(LLVMGetAggregateElement(value, VALUE_WHAT)),
                        (long)LLVMConstIntGetSExtValue(LLVMGetAggregateElement(value, VALUE_NUMBER))};
}

static bool is_filtered(LLVMValueRef where) {
    bool filtered = false;
    for (u32 i = 0; i < WHERE_MEMBERS; i++)
        filtered |= i < WHERE_ONCE && !LLVMIsNull(LLVMGetAggregateElement(where, i));
    return filtered;
}

ToolHook events_read_hook(LLVMValueRef hook, const ToolPlan *plan) {
    size_t len;
    LLVMValueRef where = LLVMGetAggregateElement(hook, HOOK_WHERE);
    ToolHook out = {.event = (u32)LLVMConstIntGetZExtValue(LLVMGetAggregateElement(hook, HOOK_EVENT)),
                    .function = LLVMGetValueName2(LLVMGetAggregateElement(hook, HOOK_CALL), &len),
                    .plan = plan,
                    .filtered = is_filtered(where),
                    .once = plan->once,
                    .not_stack = !LLVMIsNull(LLVMGetAggregateElement(where, WHERE_NOT_STACK))};
    for (u32 i = 0; i < LATHE_VALUES; i++)
        out.value[i] = read_value(LLVMGetAggregateElement(LLVMGetAggregateElement(hook, HOOK_VALUES), i));
    return out;
}
