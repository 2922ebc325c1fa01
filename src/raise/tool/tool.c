/* tool.c: see tool.h. */
#include "raise/tool/tool.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>

#include "codegen/link.h"
#include "tool/condition.h"
#include "tool/hook.h"

/* ---------------------------------------------------------------------------------------------------------------- check */

static const char *const event_names[LATHE_EVENTS] = {
#define EVENT(event) [event] = #event,
#include "tool/events.def"
#undef EVENT
};

static const char *const value_names[] = {
#define VALUE(value, when, events) [value] = #value,
#include "tool/values.def"
#undef VALUE
};

static bool has_event(u32 event) {
    return site_is_event((LatheEvent)event) || event == LATHE_START || event == LATHE_END || event == LATHE_MODULE ||
           event == LATHE_MODULE_END;
}

static bool has_value(LatheWhat what) {
    switch (what) {
    case LATHE_REGISTER:
    case LATHE_SP:
    case LATHE_ARGUMENT:
    case LATHE_RESULT:
    case LATHE_COUNTED:
        return false;
    default:
        return true;
    }
}

static bool check_hook(const RaiseTool *t, u32 number) {
    const ToolHook *h = &t->hook[number];
    if (!has_event(h->event))
        return raise_fail(t->r, "the tool's hook %u is for %s, which nobody tells in a raised program", number + 1,
                          event_names[h->event]);
    for (u32 i = 0; i < LATHE_VALUES; i++)
        if (!has_value(h->value[i].what))
            return raise_fail(t->r, "the tool's hook %u asks for %s, which a raised program does not have", number + 1,
                              value_names[h->value[i].what]);
    return true;
}

/* What the run-time's object defines. */
typedef struct Defined {
    const char *name;
    bool found;
} Defined;

static void find_defined(void *user, const char *name, u64 address, u64 size) {
    Defined *d = user;
    (void)address, (void)size;
    d->found |= !strcmp(name, d->name);
}

static bool has_function(RaiseObject runtime, const char *name) {
    LinkNeeds needs;
    Defined d = {name, false};
    if (link_measure(runtime.bytes, runtime.size, &needs) < 0)
        return false;
    u64 *work = mem_new(needs.work_bytes + 8);
    link_symbols(runtime.bytes, runtime.size, &(LinkPlace){.code_run = 4096, .data_run = 4096, .work = work},
                 find_defined, &d);
    mem_free(work);
    return d.found;
}

static bool check_functions(const RaiseTool *t, RaiseObject runtime) {
    size_t len;
    for (LLVMValueRef f = LLVMGetFirstFunction(t->mod); f; f = LLVMGetNextFunction(f)) {
        const char *name = LLVMGetValueName2(f, &len);
        if (LLVMIsDeclaration(f) && LLVMGetFirstUse(f) && !LLVMGetIntrinsicID(f) && !has_function(runtime, name))
            return raise_fail(t->r, "the tool calls %s, which a raised program does not have", name);
    }
    return true;
}

static bool check_program(const RaiseTool *t) {
    Raise *r = t->r;
    if (r->foreign)
        return raise_fail(r, "tools are for programs that are raised for their own machine");
    if (r->is_static || r->is_library || r->is_object)
        return raise_fail(r, "tools are for programs that are linked dynamically with the C library");
    if (!elf_dynamic_number(r->elf, DT_FINI))
        return raise_fail(r, "it has no function that is called at its end (DT_FINI), where tools report");
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- hooks */

/* The text that a member of a hook points to; NULL: there is none. */
static const char *text_of(const RaiseTool *t, LLVMValueRef pointer) {
    LLVMValueRef variable = LLVMIsAGlobalVariable(pointer) ? LLVMGetInitializer(pointer) : NULL;
    size_t len;
    if (variable && LLVMIsConstantString(variable)) {
        const char *text = LLVMGetAsString(variable, &len);
        return arena_printf(&t->r->arena, "%.*s", (int)len, text);
    }
    return variable && LLVMIsNull(variable) ? "" : NULL;
}

static u64 number_of(LLVMValueRef where, unsigned member) {
    return LLVMConstIntGetZExtValue(LLVMGetAggregateElement(where, member));
}

static bool read_place(RaiseTool *t, LLVMValueRef hook, ToolPlace *place) {
    LLVMValueRef where = LLVMGetAggregateElement(hook, HOOK_WHERE);
    if (LLVMIsNull(where))
        return true;
    *place = (ToolPlace){.module = text_of(t, LLVMGetAggregateElement(where, WHERE_MODULE)),
                         .symbol = text_of(t, LLVMGetAggregateElement(where, WHERE_SYMBOL)),
                         .opcode = text_of(t, LLVMGetAggregateElement(where, WHERE_OPCODE)),
                         .classes = number_of(where, WHERE_CLASSES),
                         .leaves = number_of(where, WHERE_LEAVES)};
    if (number_of(where, WHERE_FROM) || number_of(where, WHERE_TO))
        return raise_fail(t->r, "the tool has a hook for certain addresses, which are not known before a program runs");
    return true;
}

static bool read_hooks(RaiseTool *t) {
    LLVMValueRef list = LLVMGetNamedGlobal(t->mod, TOOL_HOOKS);
    for (u32 i = 0; list && i < t->parts.head->hook_count; i++) {
        LLVMValueRef hook = LLVMGetAggregateElement(LLVMGetInitializer(list), i);
        t->hook[i] = events_read_hook(hook, &t->parts.plans[i]);
        if (!check_hook(t, i) || !read_place(t, hook, &t->place[i]))
            return false;
    }
    return list || raise_fail(t->r, "the tool has no hooks");
}

static bool read_module(RaiseTool *t) {
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)t->parts.bitcode, t->parts.head->bitcode_size, "tool");
    bool bad = LLVMParseBitcodeInContext2(t->r->ctx, buffer, &t->mod);
    LLVMDisposeMemoryBuffer(buffer);
    return !bad || raise_fail(t->r, "the tool's functions cannot be read");
}

/* --------------------------------------------------------------------------------------------------------------- public */

bool raise_use_tool(Raise *r, const ToolUse *use) {
    RaiseTool *t = r->tool = mem_new(sizeof(*t));
    const char *slash = strrchr(use->file, '/');
    *t = (RaiseTool){.r = r, .options = use->options, .module = slash ? slash + 1 : use->file};
    t->package = memcpy(mem_new(use->size + 1), use->package, use->size);
    t->parallel = raise_may_share(r);
    if (!tool_open(t->package, use->size, &t->parts))
        return raise_fail(r, "the tool is damaged");
    tool_open_door(t);
    if (!check_program(t) || !read_module(t) || !read_hooks(t) || !check_functions(t, use->runtime))
        return false;
    u32 count = t->parts.head->hook_count;
    r->tool_watch = events_begin(t->events, r->mod, t->hook, count, tool_left_out(t->parts.plans, count, t->options));
    return true;
}

RaiseObject raise_tool_object(const Raise *r) {
    return (RaiseObject){r->tool->parts.object, r->tool->parts.head->object_size};
}

void raise_tool_lifting(Raise *r) {
    if (r->tool)
        r->tool->lifting = true;
}

void raise_tool_end(Raise *r) {
    RaiseTool *t = r->tool;
    if (!t)
        return;
    events_free(t->events);
    if (t->mod)
        LLVMDisposeModule(t->mod);
    VEC_FREE(&t->rows);
    map64_free(&t->row_by_hash);
    mem_free(t->package);
    mem_free(t);
}

/* ------------------------------------------------------------------------------------------------- beginning and end */

static void call_before(RaiseTool *t, const char *name, LLVMValueRef in) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(t->r->ctx);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(t->r->ctx), NULL, 0, false);
    LLVMPositionBuilderBefore(b, in);
    LLVMBuildCall2(b, type, tool_function(t, name, type), NULL, 0, "");
    LLVMDisposeBuilder(b);
}

/* Functions that end the program without what exit() does before. */
static bool ends_at_once(const char *name) {
    return name && (!strcmp(name, "_exit") || !strcmp(name, "_Exit") || !strcmp(name, "quick_exit"));
}

/* The functions of other files that a lifted function calls are found by lookup(cpu, address). */
static bool is_call_of_end(const Raise *r, LLVMValueRef in) {
    LLVMValueRef called = LLVMIsACallInst(in) ? LLVMGetCalledValue(in) : NULL;
    return called == r->lookup && ends_at_once(raise_imported_name(r, LLVMGetOperand(in, 1)));
}

static void mark_ends(RaiseTool *t, const RaiseFunction *f, bool is_last) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->plain); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (is_call_of_end(t->r, in) || (is_last && LLVMIsAReturnInst(in)))
                call_before(t, TOOL_ENDS, in);
}

static bool check_kept(RaiseTool *t, const RaiseFunction *f) {
    return !f->kept || raise_fail(t->r,
                                  "0x%lx: the function stays as it is, so that a tool would not see it; with "
                                  "--fallback=no, the program stops there instead",
                                  f->pc);
}

bool raise_tool_surround(Raise *r) {
    RaiseTool *t = r->tool;
    u64 last = t ? elf_dynamic_number(r->elf, DT_FINI) : 0;
    if (t && events_failed(t->events))
        return raise_fail(r, "an event of an instruction cannot be told to the tool");
    for (size_t i = 0; t && i < r->functions.len; i++) {
        RaiseFunction *f = &r->functions.at[i];
        if (!check_kept(t, f))
            return false;
        if (!f->plain)
            continue;
        if (f->pc == elf_entry(r->elf))
            call_before(t, TOOL_BEGINS, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f->plain)));
        mark_ends(t, f, f->pc == last);
    }
    return true;
}
