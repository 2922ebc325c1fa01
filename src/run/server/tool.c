/* tool.c: the functions of a tool in lifted code.
 *
 * Their bitcode comes with the tool's package and is linked into each module that is made: small functions are inlined at each event (events.c) and optimised
 * together with the program. Functions that are not inlined, and the tool's variables, are those that the client has in memory. */
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/ir.h"
#include "run/server/server.h"
#include "tool/counter.h"
#include "tool/hook.h"
#include "tool/keep.h"
#include "tool/package.h"
#include "tool/variant.h"

/* Functions with more instructions are called, and so are others in a module that has so many instructions of inlined ones. */
enum { INLINED_INSNS = 40, INLINED_SUM = 8000 };

/* Of a function that is called: it does not ask how far the program's code has counted. Calls of others that are deeper are not looked at. */
#define LEAVES_COUNTERS "lathe-leaves-counters"
enum { CALLS_DEEPEST = 6 };
#define READS_COUNTERS "lathe-reads-counters" /* of one that does: it is given LATHE_COUNTED */

struct ServerTool {
    void *package; /* a copy */
    ToolParts parts;
    LLVMModuleRef mod; /* its functions, in the context of the last module; NULL: not read yet */
    u32 inlined;       /* instructions of inlined functions in the module that it was added to last */
    ToolSites sites[TOOL_HOOKS_MAX][TOOL_WAYS]; /* in that module */
};

ServerTool *tool_new(const void *package, size_t size) {
    ServerTool *tool = mem_new(sizeof(*tool));
    tool->package = mem_new(size + 1);
    memcpy(tool->package, package, size);
    if (tool_open(tool->package, size, &tool->parts))
        return tool;
    tool_free(tool);
    return NULL;
}

void tool_forget_context(ServerTool *tool) {
    if (tool && tool->mod)
        LLVMDisposeModule(tool->mod);
    if (tool)
        tool->mod = NULL;
}

void tool_free(ServerTool *tool) {
    if (!tool)
        return;
    tool_forget_context(tool);
    mem_free(tool->package);
    mem_free(tool);
}

/* ----------------------------------------------------------------------------------------------------------- functions */

static void add_attribute(LLVMValueRef function, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMContextRef ctx = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(ctx, kind, 0));
}

static void add_text_attribute(LLVMValueRef function, const char *name) {
    LLVMContextRef ctx = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(ctx, name, (u32)strlen(name), "", 0));
}

static bool has_text_attribute(LLVMValueRef function, const char *name) {
    return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, name, (u32)strlen(name));
}

static bool has_attribute(LLVMValueRef function, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
}

static u32 insn_count(LLVMValueRef function) {
    u32 count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            count++;
    return count;
}

static bool is_call_of_other(LLVMValueRef insn) {
    LLVMValueRef called = LLVMIsACallInst(insn) ? LLVMGetCalledValue(insn) : NULL;
    return called && !tool_counts_at(insn) && !LLVMIsAInlineAsm(called) && !LLVMGetIntrinsicID(called);
}

/* Does a function call others, as rare parts of it are? */
static bool calls_others(LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (is_call_of_other(i))
                return true;
    return false;
}

static bool has_tool_name(LLVMValueRef value) {
    size_t len;
    return !strncmp(LLVMGetValueName2(value, &len), TOOL_PREFIX, strlen(TOOL_PREFIX));
}

static bool is_of_tool(LLVMValueRef value) {
    return !LLVMIsDeclaration(value) && has_tool_name(value);
}

/* A variable that is in the client, too far away for a direct reference, which LLVM allows for this one: another one of the same name takes its place. */
static void move_away(LLVMModuleRef mod, LLVMValueRef variable) {
    size_t len;
    char name[80];
    snprintf(name, sizeof(name), "%s", LLVMGetValueName2(variable, &len));
    LLVMValueRef other = LLVMAddGlobal(mod, LLVMGlobalGetValueType(variable), "");
    LLVMSetInitializer(other, LLVMGetInitializer(variable));
    LLVMSetGlobalConstant(other, LLVMIsGlobalConstant(variable));
    LLVMSetAlignment(other, LLVMGetAlignment(variable));
    LLVMSetLinkage(other, LLVMAvailableExternallyLinkage);
    LLVMReplaceAllUsesWith(variable, other);
    LLVMDeleteGlobal(variable);
    LLVMSetValueName2(other, name, strlen(name));
}

/* Functions are in the client, too; their bodies are here to be inlined. */
static void refer_elsewhere(LLVMModuleRef mod) {
    for (LLVMValueRef f = LLVMGetFirstFunction(mod); f; f = LLVMGetNextFunction(f))
        if (is_of_tool(f)) {
            LLVMSetVisibility(f, LLVMDefaultVisibility);
            LLVMSetLinkage(f, LLVMAvailableExternallyLinkage);
        }
    LLVMValueRef last = LLVMGetLastGlobal(mod);
    for (LLVMValueRef g = LLVMGetFirstGlobal(mod), next; g; g = next) {
        next = g == last ? NULL : LLVMGetNextGlobal(g);
        if (is_of_tool(g))
            move_away(mod, g);
    }
}

static bool is_inlined(LLVMValueRef function, u64 without) {
    if (without == TOOL_WITHOUT_ALL || without == TOOL_WITHOUT_INLINE)
        return false;
    if (LLVMIsDeclaration(function) || (without == TOOL_WITHOUT_SPLIT && calls_others(function)))
        return false;
    return !has_attribute(function, "noinline") && insn_count(function) <= INLINED_INSNS;
}

/* Functions that are called need no body here, which LLVM would work at in each module. */
static void drop_body(LLVMValueRef function) {
    LLVMSetLinkage(function, LLVMExternalLinkage);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i; (i = LLVMGetLastInstruction(b));) {
            if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind)
                LLVMReplaceAllUsesWith(i, LLVMGetUndef(LLVMTypeOf(i)));
            LLVMInstructionEraseFromParent(i);
        }
    for (LLVMBasicBlockRef b; (b = LLVMGetFirstBasicBlock(function));)
        LLVMDeleteBasicBlock(b);
}

static bool is_access(LLVMValueRef insn) {
    return LLVMIsALoadInst(insn) || LLVMIsAStoreInst(insn) || LLVMIsAAtomicRMWInst(insn) ||
           LLVMIsAAtomicCmpXchgInst(insn);
}

/* What becomes of each access is listed in a section of the object, wherever it is put. */
static void mark_accesses(LLVMModuleRef mod, LLVMValueRef function) {
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    unsigned kind = LLVMGetMDKindIDInContext(ctx, "pcsections", 10);
    LLVMMetadataRef name = LLVMMDStringInContext2(ctx, TOOL_ACCESSES, strlen(TOOL_ACCESSES));
    LLVMValueRef node = LLVMMetadataAsValue(ctx, LLVMMDNodeInContext2(ctx, &name, 1));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (is_access(i))
                LLVMSetMetadata(i, kind, node);
}

/* Is what the parameter of a hook's function points to surely the tool's? */
static bool is_given_own(LLVMValueRef hook, u32 parameter) {
    LLVMValueRef value = LLVMGetAggregateElement(LLVMGetAggregateElement(hook, HOOK_VALUES), parameter);
    u64 what = LLVMConstIntGetZExtValue(LLVMGetAggregateElement(value, VALUE_WHAT));
    return what == LATHE_THREAD_OWN || what == LATHE_SITE;
}

/* A function, or a variant of it. */
static bool is_for(LLVMValueRef function, LLVMValueRef of_hook) {
    size_t len, whole;
    const char *own = LLVMGetValueName2(of_hook, &len), *name = LLVMGetValueName2(function, &whole);
    return function == of_hook || (!strncmp(name, own, len) && !strncmp(name + len, ".b", 2));
}

/* The same, if the parameter is that in all hooks which the function is for. */
static bool points_to_own(LLVMValueRef argument) {
    LLVMValueRef function = LLVMGetParamParent(argument);
    LLVMValueRef list = LLVMGetInitializer(LLVMGetNamedGlobal(LLVMGetGlobalParent(function), TOOL_HOOKS));
    u32 parameter = 0, hooks = 0;
    while (LLVMGetParam(function, parameter) != argument)
        parameter++;
    for (u32 i = 0; parameter < LATHE_VALUES && i < LLVMGetArrayLength2(LLVMTypeOf(list)); i++) {
        LLVMValueRef hook = LLVMGetAggregateElement(list, i), called = LLVMGetAggregateElement(hook, HOOK_CALL);
        if (!called || !LLVMIsAFunction(called) || !is_for(function, called))
            continue;
        if (!is_given_own(hook, parameter))
            return false;
        hooks++;
    }
    return hooks;
}

/* Does the address come from what the function is given, and from nothing that it has read? Then it may be one of the program's. */
static bool may_be_guests(LLVMValueRef v, u32 depth) {
    bool given = false;
    if (LLVMIsAArgument(v))
        return !points_to_own(v);
    if (!depth)
        return true;
    if (!LLVMIsAInstruction(v) || LLVMIsALoadInst(v) || LLVMIsAAtomicRMWInst(v))
        return false;
    for (u32 i = 0; i < (u32)LLVMGetNumOperands(v); i++) {
        LLVMValueRef operand = LLVMGetOperand(v, i);
        if (LLVMIsALoadInst(operand))
            return false;
        given |= (LLVMIsAInstruction(operand) || LLVMIsAArgument(operand)) && may_be_guests(operand, depth - 1);
    }
    return given;
}

/* The tool's own memory, which it reaches by its variables, is not the program's: LLVM need not load it again when the program has stored something. */
static void set_apart_accesses(LLVMModuleRef mod, LLVMValueRef function) {
    enum { DEPTH = 8 };
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    unsigned kind = LLVMGetMDKindIDInContext(ctx, "noalias", 7);
    LLVMValueRef not_guest = ir_not_guest(ctx);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if ((LLVMIsALoadInst(i) && !may_be_guests(LLVMGetOperand(i, 0), DEPTH)) ||
                (LLVMIsAStoreInst(i) && !may_be_guests(LLVMGetOperand(i, 1), DEPTH)))
                LLVMSetMetadata(i, kind, not_guest);
}

/* Could it ask for totals, if it is called? What is behind pointers is not known. */
static bool may_read_counters(LLVMValueRef function, u32 depth) {
    static const char *const reading[] = {"lathe_total", "lathe_table_next", "lathe_fail"};
    size_t len;
    for (u32 i = 0; i < ARRAY_LEN(reading); i++)
        if (!strcmp(LLVMGetValueName2(function, &len), reading[i]))
            return true;
    if (has_text_attribute(function, READS_COUNTERS))
        return true;
    if (LLVMIsDeclaration(function) || !depth)
        return !depth;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef called = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
            if (!called || LLVMIsAInlineAsm(called))
                continue;
            if (!LLVMIsAFunction(called) || (called != function && may_read_counters(called, depth - 1)))
                return true;
        }
    return false;
}

/* The version of a function that keeps registers is in the client only; NULL: there is none. */
static LLVMValueRef declare_keeping(LLVMModuleRef mod, LLVMValueRef function, u64 without) {
    char name[TOOL_KEEP_NAME];
    if (without == TOOL_WITHOUT_ALL || without == TOOL_WITHOUT_KEEP || !tool_can_keep(function))
        return NULL;
    tool_keep_name(name, function);
    LLVMValueRef version = LLVMGetNamedFunction(mod, name);
    if (!version) {
        version = LLVMAddFunction(mod, name, LLVMGlobalGetValueType(function));
        LLVMSetFunctionCallConv(version, LLVMPreserveAllCallConv);
        add_attribute(version, "nounwind");
        if (!may_read_counters(function, CALLS_DEEPEST))
            add_text_attribute(version, LEAVES_COUNTERS);
    }
    return version;
}

/* What a function that is inlined calls is rare, as a rule: it must not cost the program's code any registers. */
static void keep_at_calls(LLVMModuleRef mod, LLVMValueRef function, u64 without) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef called = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
            bool stays = called && LLVMIsAFunction(called) && !is_inlined(called, without);
            LLVMValueRef version = stays ? declare_keeping(mod, called, without) : NULL;
            if (!version)
                continue;
            LLVMSetOperand(i, (u32)LLVMGetNumOperands(i) - 1, version);
            LLVMSetInstructionCallConv(i, LLVMPreserveAllCallConv);
        }
}

static bool is_given(LLVMValueRef hook, LatheWhat what) {
    for (u32 i = 0; i < LATHE_VALUES; i++) {
        LLVMValueRef value = LLVMGetAggregateElement(LLVMGetAggregateElement(hook, HOOK_VALUES), i);
        if (LLVMConstIntGetZExtValue(LLVMGetAggregateElement(value, VALUE_WHAT)) == (u64)what)
            return true;
    }
    return false;
}

static void mark_reading(LLVMModuleRef mod) {
    LLVMValueRef list = LLVMGetInitializer(LLVMGetNamedGlobal(mod, TOOL_HOOKS));
    for (u32 i = 0; i < LLVMGetArrayLength2(LLVMTypeOf(list)); i++) {
        LLVMValueRef hook = LLVMGetAggregateElement(list, i), called = LLVMGetAggregateElement(hook, HOOK_CALL);
        for (LLVMValueRef f = LLVMGetFirstFunction(mod); f && is_given(hook, LATHE_COUNTED); f = LLVMGetNextFunction(f))
            if (is_for(f, called))
                add_text_attribute(f, READS_COUNTERS);
    }
}

/* The processor that it was compiled for must not keep a function from being inlined. */
static void prepare(LLVMModuleRef mod, u64 without) {
    mark_reading(mod);
    for (LLVMValueRef f = LLVMGetFirstFunction(mod); f; f = LLVMGetNextFunction(f)) {
        LLVMRemoveStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, "target-cpu", 10);
        LLVMRemoveStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, "target-features", 15);
        LLVMRemoveStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, "tune-cpu", 8);
        if (is_inlined(f, without)) {
            add_attribute(f, "alwaysinline");
            mark_accesses(mod, f);
            set_apart_accesses(mod, f);
            keep_at_calls(mod, f, without);
        }
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(mod); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !is_inlined(f, without))
            drop_body(f);
}

static void run_passes(LLVMModuleRef mod, const char *passes) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(mod, passes, NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (error)
        LLVMConsumeError(error);
}

static bool read_module(ServerTool *tool, LLVMContextRef ctx) {
    if (tool->mod)
        return true;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)tool->parts.bitcode,
                                                                           tool->parts.head->bitcode_size, "tool");
    bool bad = LLVMParseBitcodeInContext2(ctx, buffer, &tool->mod);
    LLVMDisposeMemoryBuffer(buffer);
    if (bad) {
        tool->mod = NULL;
        return false;
    }
    tool_add_variants(tool->mod);
    run_passes(tool->mod, "always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)");
    prepare(tool->mod, tool->parts.head->without);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- hooks */

/* LLVM's time grows faster than a function's size. */
static bool may_inline(ServerTool *tool, LLVMValueRef function) {
    if (!has_attribute(function, "alwaysinline"))
        return false;
    tool->inlined += insn_count(function);
    return tool->inlined <= INLINED_SUM;
}

void tool_note_site(ServerTool *tool, u32 hook, ToolWay way, u32 insns) {
    ToolSites *s = &tool->sites[hook][way];
    *s = (ToolSites){hook, way, s->sites + 1, s->size + insns};
}

u64 tool_hooks_off(const ServerTool *tool) {
    return tool->parts.head->off;
}

void tool_tell_sites(const ServerTool *tool, LLVMModuleRef mod) {
    enum { MOST = TOOL_HOOKS_MAX * TOOL_WAYS, WORDS = sizeof(ToolSites) / sizeof(u32) };
    LLVMTypeRef word = LLVMInt32TypeInContext(LLVMGetModuleContext(mod));
    LLVMValueRef values[MOST * WORDS];
    u32 count = 0;
    for (u32 i = 0; i < MOST; i++) {
        u32 row[WORDS];
        memcpy(row, &tool->sites[i / TOOL_WAYS][i % TOOL_WAYS], sizeof(row));
        for (u32 k = 0; tool->sites[i / TOOL_WAYS][i % TOOL_WAYS].sites && k < WORDS; k++)
            values[count++] = LLVMConstInt(word, row[k], false);
    }
    if (!count)
        return;
    LLVMValueRef all = LLVMConstArray2(word, values, count);
    LLVMValueRef variable = LLVMAddGlobal(mod, LLVMTypeOf(all), "tool_sites"); /* no section may have this name */
    LLVMSetInitializer(variable, all);
    LLVMSetGlobalConstant(variable, true);
    LLVMSetSection(variable, TOOL_SITES_SECTION);
}

bool tool_call_function(ServerTool *tool, LLVMModuleRef mod, LLVMBuilderRef b, u32 hook, const char *name,
                        const LLVMValueRef values[LATHE_VALUES]) {
    LLVMValueRef function = LLVMGetNamedFunction(mod, name), args[LATHE_VALUES];
    u32 count;
    if (!events_arguments(b, function, values, args, &count))
        return false;
    bool inlined = !tool->parts.plans[hook].once && may_inline(tool, function);
    LLVMValueRef keeping = inlined ? NULL : declare_keeping(mod, function, tool->parts.head->without);
    LLVMValueRef called =
        LLVMBuildCall2(b, LLVMGlobalGetValueType(function), keeping ? keeping : function, args, count, "");
    LLVMSetInstructionCallConv(called, LLVMGetFunctionCallConv(keeping ? keeping : function));
    if (!keeping && !inlined)
        ir_call_attribute(called, "noinline", 0);
    ToolWay way = keeping                  ? TOOL_CALLED_KEEPING
                  : !inlined               ? TOOL_CALLED
                  : calls_others(function) ? TOOL_SPLIT
                                           : TOOL_INLINED;
    tool_note_site(tool, hook, way, inlined ? insn_count(function) : 1);
    return true;
}

bool tool_add(ServerTool *tool, LLVMModuleRef mod, ToolHook hooks[TOOL_HOOKS_MAX], u32 *count) {
    if (!read_module(tool, LLVMGetModuleContext(mod)))
        return false;
    LLVMModuleRef copy = LLVMCloneModule(tool->mod);
    LLVMSetTarget(copy, LLVMGetTarget(mod));
    LLVMSetDataLayout(copy, LLVMGetDataLayoutStr(mod));
    LLVMValueRef list = LLVMGetNamedGlobal(tool->mod, TOOL_HOOKS);
    if (!list || LLVMLinkModules2(mod, copy))
        return false;
    LLVMDeleteGlobal(LLVMGetNamedGlobal(mod, TOOL_HOOKS));
    refer_elsewhere(mod);
    tool->inlined = 0;
    memset(tool->sites, 0, sizeof(tool->sites));
    *count = tool->parts.head->hook_count;
    for (u32 i = 0; i < *count; i++)
        hooks[i] = events_read_hook(LLVMGetAggregateElement(LLVMGetInitializer(list), i), &tool->parts.plans[i]);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- counters */

/* lathe_count(&counter, amount) becomes an addition to the thread's first cell of the counter, which is in the guest's state. */
static void count_in_state(LLVMBuilderRef b, LLVMValueRef call, LLVMValueRef cpu, u32 counters_off) {
    LLVMContextRef ctx =
        LLVMGetModuleContext(LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call))));
    LLVMTypeRef word = LLVMInt64TypeInContext(ctx);
    u64 cell = (u64)tool_counter_number(LLVMGetOperand(call, 0)) * TOOL_CELLS;
    LLVMValueRef off = LLVMConstInt(word, counters_off + cell * sizeof(u64), false);
    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef at = LLVMBuildGEP2(b, LLVMInt8TypeInContext(ctx), cpu, &off, 1, "");
    LLVMValueRef sum = LLVMBuildAdd(b, LLVMBuildLoad2(b, word, at, ""), LLVMGetOperand(call, 1), "");
    LLVMBuildStore(b, sum, at);
    LLVMInstructionEraseFromParent(call);
}

static bool is_in_state(LLVMValueRef pointer, LLVMValueRef cpu) {
    while (LLVMIsAGetElementPtrInst(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    return pointer == cpu;
}

static LLVMValueRef pointer_of(LLVMValueRef insn) {
    if (LLVMIsALoadInst(insn))
        return LLVMGetOperand(insn, 0);
    return LLVMIsAStoreInst(insn) ? LLVMGetOperand(insn, 1) : NULL;
}

static bool leaves_counters(LLVMValueRef insn) {
    LLVMValueRef called = LLVMIsACallInst(insn) ? LLVMGetCalledValue(insn) : NULL;
    return called && LLVMIsAFunction(called) && has_text_attribute(called, LEAVES_COUNTERS);
}

/* What the tool's functions leave alone need not be in memory when they are called: counters, which stay in registers through loops, and the guest's registers. */
static void set_apart_state(LLVMContextRef ctx, LLVMValueRef lifted, LLVMValueRef cpu) {
    static const char name[] = "state for tools";
    LLVMMetadataRef text = LLVMMDStringInContext2(ctx, name, sizeof(name) - 1),
                    domain = LLVMMDNodeInContext2(ctx, &text, 1);
    LLVMMetadataRef parts[] = {text, domain}, scope = LLVMMDNodeInContext2(ctx, parts, 2);
    LLVMValueRef list = LLVMMetadataAsValue(ctx, LLVMMDNodeInContext2(ctx, &scope, 1));
    unsigned in = LLVMGetMDKindIDInContext(ctx, "alias.scope", 11), out = LLVMGetMDKindIDInContext(ctx, "noalias", 7);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(lifted); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef pointer = pointer_of(i);
            if (pointer && is_in_state(pointer, cpu) && !LLVMGetMetadata(i, in))
                LLVMSetMetadata(i, in, list);
            else if (leaves_counters(i))
                LLVMSetMetadata(i, out, list);
        }
}

/* What nothing refers to any more would be optimised in vain. A declaration that is hidden would be a symbol of the object. */
static void drop_functions(LLVMModuleRef mod) {
    bool dropped = true;
    while (dropped) {
        dropped = false;
        for (LLVMValueRef f = LLVMGetFirstFunction(mod), next; f; f = next) {
            next = LLVMGetNextFunction(f);
            if (!has_tool_name(f) || LLVMGetFirstUse(f))
                continue;
            LLVMDeleteFunction(f);
            dropped = true;
        }
    }
}

void tool_inline(LLVMModuleRef mod, LLVMValueRef lifted, u32 counters_off) {
    run_passes(mod, "always-inline");
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(mod));
    LLVMValueRef cpu = LLVMGetParam(lifted, LLVMCountParams(lifted) - 1);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(lifted); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (tool_counts_at(i))
                count_in_state(b, i, cpu, counters_off);
        }
    LLVMDisposeBuilder(b);
    set_apart_state(LLVMGetModuleContext(mod), lifted, cpu);
    drop_functions(mod);
}
