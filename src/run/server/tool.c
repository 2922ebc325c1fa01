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

#include "run/server/server.h"
#include "tool/counter.h"
#include "tool/hook.h"
#include "tool/package.h"

/* Functions with more instructions are called, and so are others in a module that has so many instructions of inlined ones. */
enum { INLINED_INSNS = 40, INLINED_SUM = 8000 };

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

/* Does a function call others, as rare parts of it are? */
static bool calls_others(LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) && !tool_counts_at(i) && LLVMGetIntrinsicID(LLVMGetCalledValue(i)) == 0)
                return true;
    return false;
}

static bool is_of_tool(LLVMValueRef value) {
    size_t len;
    return !LLVMIsDeclaration(value) && !strncmp(LLVMGetValueName2(value, &len), TOOL_PREFIX, strlen(TOOL_PREFIX));
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

/* The processor that it was compiled for must not keep a function from being inlined. */
static void prepare(LLVMModuleRef mod, u64 without) {
    for (LLVMValueRef f = LLVMGetFirstFunction(mod); f; f = LLVMGetNextFunction(f)) {
        LLVMRemoveStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, "target-cpu", 10);
        LLVMRemoveStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, "target-features", 15);
        LLVMRemoveStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, "tune-cpu", 8);
        if (is_inlined(f, without)) {
            add_attribute(f, "alwaysinline");
            mark_accesses(mod, f);
        } else if (!LLVMIsDeclaration(f)) {
            drop_body(f);
        }
    }
}

static bool read_module(ServerTool *tool, LLVMContextRef ctx) {
    if (tool->mod)
        return true;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)tool->parts.bitcode,
                                                                           tool->parts.head->bitcode_size, "tool");
    bool bad = LLVMParseBitcodeInContext2(ctx, buffer, &tool->mod);
    LLVMDisposeMemoryBuffer(buffer);
    if (bad)
        tool->mod = NULL;
    else
        prepare(tool->mod, tool->parts.head->without);
    return !bad;
}

/* ---------------------------------------------------------------------------------------------------------------- hooks */

/* As the function takes it: pointers and narrower integers are words, too. */
static LLVMValueRef as_parameter(LLVMBuilderRef b, LLVMValueRef v, LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(b, v, type, "");
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMBuildTrunc(b, v, type, "") : NULL;
}

/* LLVM's time grows faster than a function's size. True: the function is inlined. */
static bool limit_inlining(ServerTool *tool, LLVMValueRef function, LLVMValueRef call) {
    if (!has_attribute(function, "alwaysinline"))
        return false;
    tool->inlined += insn_count(function);
    if (tool->inlined <= INLINED_SUM)
        return true;
    unsigned kind = LLVMGetEnumAttributeKindForName("noinline", 8);
    LLVMContextRef ctx = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(ctx, kind, 0));
    return false;
}

void tool_note_site(ServerTool *tool, u32 hook, ToolWay way, u32 insns) {
    ToolSites *s = &tool->sites[hook][way];
    *s = (ToolSites){hook, way, s->sites + 1, s->size + insns};
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
    LLVMTypeRef type = function ? LLVMGlobalGetValueType(function) : NULL, types[LATHE_VALUES];
    u32 count = type ? LLVMCountParamTypes(type) : 0;
    if (!type || count > LATHE_VALUES)
        return false;
    LLVMGetParamTypes(type, types);
    for (u32 i = 0; i < count; i++)
        if (!(args[i] = as_parameter(b, values[i], types[i])))
            return false;
    bool inlined = limit_inlining(tool, function, LLVMBuildCall2(b, type, function, args, count, ""));
    ToolWay way = !inlined ? TOOL_CALLED : calls_others(function) ? TOOL_SPLIT : TOOL_INLINED;
    tool_note_site(tool, hook, way, inlined ? insn_count(function) : 1);
    return true;
}

static LatheValue read_value(LLVMValueRef value) {
    return (LatheValue){(LatheWhat)LLVMConstIntGetZExtValue(LLVMGetAggregateElement(value, 0)),
                        (long)LLVMConstIntGetSExtValue(LLVMGetAggregateElement(value, 1))};
}

static ToolHook read_hook(LLVMValueRef hook, const ToolPlan *plan) {
    size_t len;
    LLVMValueRef where = LLVMGetAggregateElement(hook, HOOK_WHERE);
    ToolHook out = {.event = (u32)LLVMConstIntGetZExtValue(LLVMGetAggregateElement(hook, HOOK_EVENT)),
                    .function = LLVMGetValueName2(LLVMGetAggregateElement(hook, HOOK_CALL), &len),
                    .plan = plan,
                    .filtered = !LLVMIsNull(where),
                    .not_stack = !LLVMIsNull(LLVMGetAggregateElement(where, WHERE_NOT_STACK))};
    for (u32 i = 0; i < LATHE_VALUES; i++)
        out.value[i] = read_value(LLVMGetAggregateElement(LLVMGetAggregateElement(hook, HOOK_VALUES), i));
    return out;
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
        hooks[i] = read_hook(LLVMGetAggregateElement(LLVMGetInitializer(list), i), &tool->parts.plans[i]);
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

void tool_inline(LLVMModuleRef mod, LLVMValueRef lifted, u32 counters_off) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(mod, "always-inline", NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (error)
        LLVMConsumeError(error);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(mod));
    LLVMValueRef cpu = LLVMGetParam(lifted, LLVMCountParams(lifted) - 1);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(lifted); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (tool_counts_at(i))
                count_in_state(b, i, cpu, counters_off);
        }
    LLVMDisposeBuilder(b);
}
