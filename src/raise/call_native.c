/* call_native.c: how raised functions call native code, and code that is known only at run time.
 *
 * A call of native code is inline assembly with the guest's registers in the host's: it notes where the host stack is, goes over to
 * the guest's stack and calls. An address that is known only at run time may be a raised function's, which then is called without
 * leaving the host stack: a function of our own, for each set of registers that are passed, decides that, and is inlined. Programs with exceptions call
 * native code by a function of the runtime instead of inline assembly, and functions of the C library that are known to be harmless are called directly. */
#include <llvm-c/Core.h>
#include <stdio.h>

#include "raise/rewrite.h"

/* A call of native code in the making: what is passed, in the order of the assembly's operands. */
typedef struct NativeCall {
    Raise *r;
    LLVMBuilderRef b;
    Reg passed[REG_MAX], results[REG_MAX];
    LLVMValueRef values[REG_MAX];
    unsigned count, result_count;
    LLVMValueRef stack, target, cpu;
    bool twice; /* it may return twice */
    bool ends;  /* does it end the thread? */
} NativeCall;

static bool is_result(const NativeCall *c, Reg reg) {
    return raise_is_listed(c->results, c->result_count, reg);
}

typedef struct Text {
    char at[2048];
    size_t len;
} Text;

static void put(Text *t, const char *format, const char *name) {
    int n = snprintf(t->at + t->len, sizeof(t->at) - t->len, format, t->len ? "," : "", name);
    t->len += (size_t)n;
    CHECK(t->len < sizeof(t->at), "constraints of a call have room");
}

/* Results first, then what is passed and lost (each register is an input and an output), then the fixed ones. */
static LLVMTypeRef constrain(const NativeCall *c, Text *t, LLVMValueRef *args, unsigned *arg_count) {
    Raise *r = c->r;
    const HostRaise *host = r->host->raise;
    LLVMTypeRef in[REG_MAX + 3], out[2 * REG_MAX];
    unsigned outs = 0, ins = 0;
    for (unsigned i = 0; i < c->result_count; i++) {
        put(t, "%s={%s}", host->reg_name(c->results[i]));
        out[outs++] = raise_reg_type(r, c->results[i]);
    }
    for (unsigned i = 0; i < c->count; i++)
        if (!is_result(c, c->passed[i])) {
            put(t, "%s={%s}", host->reg_name(c->passed[i]));
            out[outs++] = raise_reg_type(r, c->passed[i]);
        }
    for (unsigned i = 0; i < 2; i++) {
        put(t, "%s={%s}", i ? host->call_target : host->call_stack);
        out[outs++] = LLVMInt64TypeInContext(r->ctx);
    }
    for (unsigned i = 0; i < c->count; i++) {
        put(t, "%s{%s}", host->reg_name(c->passed[i]));
        args[ins] = c->values[i];
        in[ins++] = raise_reg_type(r, c->passed[i]);
    }
    LLVMValueRef fixed[] = {c->stack, c->target, c->cpu};
    const char *const names[] = {host->call_stack, host->call_target, host->call_state};
    for (unsigned i = 0; i < 3; i++) {
        put(t, "%s{%s}", names[i]);
        args[ins] = fixed[i];
        in[ins++] = LLVMTypeOf(fixed[i]);
    }
    for (Reg reg = 0; reg < r->isa->reg_count; reg++) {
        const char *name = host->reg_name(reg);
        if (name && !regset_has(&r->isa->abi.kept, reg) && !is_result(c, reg) && strcmp(name, host->call_target) &&
            !raise_is_listed(c->passed, c->count, reg))
            put(t, "%s~{%s}", name);
    }
    put(t, "%s%s", host->call_lost);
    *arg_count = ins;
    return LLVMFunctionType(LLVMStructTypeInContext(r->ctx, out, outs, false), in, ins, false);
}

/* The values of c->results, as a struct at the beginning of what is returned. */
static LLVMValueRef build_inline(const NativeCall *c, Rewriter *w) {
    LLVMValueRef args[REG_MAX + 3];
    unsigned count;
    Text constraints = {0};
    char text[1024];
    LLVMTypeRef type = constrain(c, &constraints, args, &count);
    const HostRaise *host = c->r->host->raise;
    const char *format = c->ends ? host->call_end : c->r->uses_rest ? host->call_rest : host->call;
    int len = snprintf(text, sizeof(text), format, (long)raise_thread_offset(c->r), host->stack_bytes);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, (size_t)len, constraints.at, constraints.len, true, false,
                                         LLVMInlineAsmDialectATT, false);
    LLVMValueRef call =
        w ? rewrite_build_call(w, type, code, args, count) : LLVMBuildCall2(c->b, type, code, args, count, "");
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, raise_attribute(c->r, "nounwind", 0));
    return call;
}

/* --------------------------------------------------------------------------------------------- calls that may throw */

/* The signature of a function of the runtime that calls native code: as that of raised functions, with the address that is called before the state. */
typedef struct WayOut {
    LLVMTypeRef params[REG_MAX + 3];
    LLVMValueRef args[REG_MAX + 3]; /* stack pointer, integers, vectors, target, state */
    unsigned count;
    char name[64];
    bool counts_vectors; /* the host's convention has their number in a register, as for variable arguments */
} WayOut;

static LLVMValueRef value_of(const NativeCall *c, Reg reg) {
    for (unsigned i = 0; i < c->count; i++)
        if (c->passed[i] == reg)
            return c->values[i];
    return NULL;
}

static void add_param(WayOut *o, LLVMValueRef v) {
    o->params[o->count] = LLVMTypeOf(v);
    o->args[o->count++] = v;
}

/* The registers of a list up to the last one that is passed. */
static unsigned add_params(const NativeCall *c, WayOut *o, const Reg *regs, u32 count) {
    while (count && !value_of(c, regs[count - 1]))
        count--;
    for (u32 i = 0; i < count; i++) {
        LLVMValueRef v = value_of(c, regs[i]);
        add_param(o, v ? v : LLVMGetPoison(raise_reg_type(c->r, regs[i])));
    }
    return count;
}

static void describe(const NativeCall *c, WayOut *o) {
    const CallAbi *abi = &c->r->isa->abi;
    add_param(o, c->stack);
    unsigned ints = add_params(c, o, abi->int_args, abi->int_arg_count),
             vectors = add_params(c, o, abi->float_args, abi->float_arg_count);
    add_param(o, c->target);
    add_param(o, c->cpu);
    for (unsigned i = 0; i < c->count; i++)
        o->counts_vectors |= !raise_passes_in_place(c->r, c->passed[i]);
    snprintf(o->name, sizeof(o->name), RAISE_OUT "%u_%u%s", ints, vectors, o->counts_vectors ? "_v" : "");
}

static LLVMValueRef declare_way_out(const NativeCall *c, const WayOut *o, LLVMTypeRef type) {
    LLVMValueRef fn = LLVMGetNamedFunction(c->r->mod, o->name);
    if (fn)
        return fn;
    fn = LLVMAddFunction(c->r->mod, o->name, type);
    LLVMSetVisibility(fn, LLVMHiddenVisibility);
    char text[192];
    int len =
        snprintf(text, sizeof(text), "\t.globl %s\n\t.hidden %s\n%s = lathe_raise_out\n", o->name, o->name, o->name);
    LLVMAppendModuleInlineAsm(c->r->mod, text, (size_t)len);
    return fn;
}

/* A function of the runtime changes stacks and calls: exceptions find what they need to know of the stacks in its unwind table. */
static LLVMValueRef build_way_out(const NativeCall *c, Rewriter *w) {
    Raise *r = c->r;
    WayOut o = {0};
    LLVMTypeRef results[REG_MAX];
    describe(c, &o);
    for (unsigned i = 0; i < c->result_count; i++)
        results[i] = raise_reg_type(r, c->results[i]);
    LLVMTypeRef result = LLVMStructTypeInContext(r->ctx, results, c->result_count, false);
    LLVMTypeRef type = LLVMFunctionType(result, o.params, o.count, o.counts_vectors);
    LLVMValueRef fn = declare_way_out(c, &o, type);
    LLVMValueRef call =
        w ? rewrite_build_call(w, type, fn, o.args, o.count) : LLVMBuildCall2(c->b, type, fn, o.args, o.count, "");
    raise_mark_call(r, call);
    LLVMAddCallSiteAttribute(call, o.count - 1, raise_attribute(r, r->host->raise->target_mark, 0));
    return call;
}

/* A function that needs nothing of the program's stack is called where we are, as any function of C. */
static LLVMValueRef build_leaf(const NativeCall *c) {
    Raise *r = c->r;
    const CallAbi *abi = &r->isa->abi;
    WayOut o = {0};
    LLVMTypeRef results[REG_MAX];
    add_params(c, &o, abi->int_args, abi->int_arg_count);
    add_params(c, &o, abi->float_args, abi->float_arg_count);
    for (unsigned i = 0; i < c->result_count; i++)
        results[i] = raise_reg_type(r, c->results[i]);
    LLVMTypeRef type =
        LLVMFunctionType(LLVMStructTypeInContext(r->ctx, results, c->result_count, false), o.params, o.count, false);
    LLVMValueRef fn = LLVMBuildIntToPtr(c->b, c->target, LLVMPointerTypeInContext(r->ctx, 0), "");
    LLVMValueRef call = LLVMBuildCall2(c->b, type, fn, o.args, o.count, "");
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, raise_attribute(r, "nounwind", 0));
    return call;
}

/* `w`: the function that is being rewritten, if the call is in it. `operand`: which is the stack pointer. */
static LLVMValueRef build_native(const NativeCall *c, Rewriter *w, unsigned *operand) {
    bool inlined = !c->r->unwinds || c->twice;
    *operand = inlined ? c->count : 0;
    return inlined ? build_inline(c, w) : build_way_out(c, w);
}

static void list_results(NativeCall *c) {
    c->result_count = raise_results(c->r, &c->r->isa->abi.results, c->results);
}

/* ----------------------------------------------------------------------------------------- calls of what is not known */

/* {results} choose(stack, passed…, i64 target, cpu) */
typedef struct Chooser {
    Raise *r;
    LLVMValueRef fn;
    LLVMBuilderRef b;
    Reg passed[REG_MAX], params[REG_MAX + 1]; /* all that may be passed in place, and what is passed here */
    unsigned count;
    RegSet set;
} Chooser;

static LLVMValueRef param_of(const Chooser *c, Reg reg) {
    for (unsigned i = 0; i < c->count; i++)
        if (c->params[i] == reg)
            return LLVMGetParam(c->fn, i);
    return LLVMGetPoison(raise_reg_type(c->r, reg));
}

static LLVMValueRef results_of(const Chooser *c, LLVMValueRef call, unsigned count) {
    LLVMValueRef all = LLVMGetPoison(LLVMGetReturnType(LLVMGlobalGetValueType(c->fn)));
    for (unsigned i = 0; i < count; i++)
        all = LLVMBuildInsertValue(c->b, all, LLVMBuildExtractValue(c->b, call, i, ""), i, "");
    return all;
}

/* A raised function: its bridge takes what is passed in place as arguments, and the rest from the state. */
static void choose_raised(const Chooser *c, LLVMValueRef bridge, LLVMValueRef cpu) {
    Raise *r = c->r;
    RegSet in_place = {0};
    Reg list[REG_MAX + 1], out[REG_MAX];
    LLVMValueRef args[REG_MAX + 1];
    for (unsigned i = 0; i < c->count; i++) {
        Reg reg = c->params[i];
        if (raise_passes_in_place(r, reg) && (reg == r->isa->abi.stack || regset_has(&r->taken_by_native, reg)))
            regset_add(&in_place, reg);
        else if (regset_has(&r->from_state, reg))
            LLVMBuildStore(c->b, LLVMGetParam(c->fn, i), raise_place(r, c->b, cpu, reg));
    }
    unsigned count = raise_params(r, &in_place, list), results = raise_results(r, &r->isa->abi.results, out);
    for (unsigned i = 0; i < count; i++)
        args[i] = param_of(c, list[i]);
    args[count] = cpu;
    LLVMTypeRef type = raise_function_type(r, &in_place, &r->isa->abi.results);
    LLVMValueRef call = LLVMBuildCall2(c->b, type, bridge, args, count + 1, "");
    raise_mark_call(r, call);
    LLVMBuildRet(c->b, results_of(c, call, results));
}

static void choose_native(const Chooser *c, LLVMValueRef target, LLVMValueRef cpu) {
    NativeCall n = {.r = c->r, .b = c->b, .target = target, .cpu = cpu};
    LLVMValueRef off = LLVMConstInt(LLVMInt64TypeInContext(c->r->ctx), c->r->isa->abi.return_address_bytes, false);
    n.stack = LLVMBuildGEP2(c->b, LLVMInt8TypeInContext(c->r->ctx), LLVMGetParam(c->fn, 0), &off, 1, "");
    list_results(&n);
    for (unsigned i = 1; i < c->count; i++) {
        n.passed[n.count] = c->params[i];
        n.values[n.count++] = LLVMGetParam(c->fn, i);
    }
    unsigned operand;
    LLVMBuildRet(c->b, results_of(c, build_native(&n, NULL, &operand), n.result_count));
}

/* The distance of the address from a place of the image. */
static LLVMValueRef distance(const Chooser *c, LLVMValueRef target, u64 from) {
    LLVMTypeRef word = LLVMInt64TypeInContext(c->r->ctx);
    LLVMValueRef off = LLVMConstInt(word, from - c->r->extent.start, false);
    LLVMValueRef place = LLVMConstGEP2(LLVMInt8TypeInContext(c->r->ctx), raise_image(c->r), &off, 1);
    return LLVMBuildSub(c->b, target, LLVMConstPtrToInt(place, word), "");
}

/* The row of the table that is the address's. It is more than there are rows, too, for an address between two of them: the bits that should be zero
 * come to the top. */
static LLVMValueRef build_row(const Chooser *c, LLVMValueRef target, const RaiseTable *t) {
    LLVMTypeRef word = LLVMInt64TypeInContext(c->r->ctx);
    LLVMValueRef off = distance(c, target, t->start);
    LLVMValueRef low = LLVMBuildLShr(c->b, off, LLVMConstInt(word, RAISE_ROW_SHIFT, false), "");
    return LLVMBuildOr(c->b, low, LLVMBuildShl(c->b, off, LLVMConstInt(word, 64 - RAISE_ROW_SHIFT, false), ""), "");
}

static LLVMValueRef table_of_bridges(Raise *r) {
    LLVMValueRef v = LLVMGetNamedGlobal(r->mod, RAISE_BRIDGES);
    if (v)
        return v;
    v = LLVMAddGlobal(r->mod, LLVMInt32TypeInContext(r->ctx), RAISE_BRIDGES);
    LLVMSetVisibility(v, LLVMHiddenVisibility);
    LLVMSetGlobalConstant(v, true);
    return v;
}

/* The distance of the bridge from the table; 0: that row has none. */
static LLVMValueRef load_row(const Chooser *c, LLVMValueRef row) {
    LLVMTypeRef half = LLVMInt32TypeInContext(c->r->ctx);
    LLVMValueRef at = LLVMBuildGEP2(c->b, half, table_of_bridges(c->r), &row, 1, "");
    return LLVMBuildLoad2(c->b, half, at, "");
}

static LLVMValueRef bridge_in_row(const Chooser *c, LLVMValueRef row) {
    LLVMValueRef off = LLVMBuildSExt(c->b, row, LLVMInt64TypeInContext(c->r->ctx), "");
    return LLVMBuildGEP2(c->b, LLVMInt8TypeInContext(c->r->ctx), table_of_bridges(c->r), &off, 1, "");
}

/* The bridge of a function by the jump to its entry. */
static LLVMValueRef search(const Chooser *c, LLVMValueRef target, LLVMValueRef cpu) {
    const HostRaise *host = c->r->host->raise;
    LLVMTypeRef word = LLVMInt64TypeInContext(c->r->ctx), type = LLVMFunctionType(word, &word, 1, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, host->find, strlen(host->find), host->find_constraints,
                                         strlen(host->find_constraints), true, false, LLVMInlineAsmDialectATT, false);
    if (c->r->callable.len) /* what is called if there is no bridge */
        LLVMBuildStore(c->b, target, raise_offset_in_state(c->r, c->b, cpu, c->r->isa->pc_off));
    LLVMValueRef bridge = LLVMBuildCall2(c->b, type, code, &target, 1, "");
    return LLVMBuildIntToPtr(c->b, bridge, LLVMPointerTypeInContext(c->r->ctx, 0), "");
}

static LLVMValueRef border(const Chooser *c, const char *name) {
    LLVMValueRef v = LLVMGetNamedGlobal(c->r->mod, name);
    if (!v)
        v = LLVMAddGlobal(c->r->mod, LLVMInt8TypeInContext(c->r->ctx), name);
    LLVMSetVisibility(v, LLVMHiddenVisibility);
    return LLVMConstPtrToInt(v, LLVMInt64TypeInContext(c->r->ctx));
}

/* In object files: the bridge of an entry is found by what is before it. */
static void build_object_chooser(Chooser *c) {
    Raise *r = c->r;
    LLVMTypeRef word = LLVMInt64TypeInContext(r->ctx), byte = LLVMInt8TypeInContext(r->ctx);
    LLVMBasicBlockRef head = LLVMAppendBasicBlockInContext(r->ctx, c->fn, ""),
                      raised = LLVMAppendBasicBlockInContext(r->ctx, c->fn, ""),
                      native = LLVMAppendBasicBlockInContext(r->ctx, c->fn, "");
    LLVMValueRef target = LLVMGetParam(c->fn, c->count), cpu = LLVMGetParam(c->fn, c->count + 1);
    LLVMPositionBuilderAtEnd(c->b, head);
    LLVMValueRef start = border(c, "__start_" RAISE_ENTRIES), end = border(c, "__stop_" RAISE_ENTRIES);
    LLVMValueRef off = LLVMBuildSub(c->b, target, start, ""), size = LLVMBuildSub(c->b, end, start, "");
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntULT, off, size, ""), raised, native);
    LLVMPositionBuilderAtEnd(c->b, raised);
    LLVMValueRef before = LLVMConstInt(word, (u64)-8, true);
    LLVMValueRef at = LLVMBuildIntToPtr(c->b, target, LLVMPointerTypeInContext(r->ctx, 0), "");
    at = LLVMBuildGEP2(c->b, byte, at, &before, 1, "");
    LLVMValueRef to = LLVMBuildLoad2(c->b, word, at, "");
    choose_raised(c, LLVMBuildGEP2(c->b, byte, at, &to, 1, ""), cpu);
    LLVMPositionBuilderAtEnd(c->b, native);
    choose_native(c, target, cpu);
}

/* So that LLVM lays out what is likely in one line. */
static void branch_likely(const Chooser *c, LLVMValueRef condition, LLVMBasicBlockRef likely, LLVMBasicBlockRef other) {
    LLVMContextRef ctx = c->r->ctx;
    LLVMTypeRef half = LLVMInt32TypeInContext(ctx);
    static const char name[] = "branch_weights";
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(ctx, name, strlen(name)),
                               LLVMValueAsMetadata(LLVMConstInt(half, 2000, false)),
                               LLVMValueAsMetadata(LLVMConstInt(half, 1, false))};
    LLVMValueRef branch = LLVMBuildCondBr(c->b, condition, likely, other);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(ctx, "prof", 4),
                    LLVMMetadataAsValue(ctx, LLVMMDNodeInContext2(ctx, parts, 3)));
}

/*     if (the table has a bridge for the target)    call that
 *     else if (the target is in the image)          search for the bridge, and call it
 *     else                                          call native code */
static void build_chooser(Chooser *c) {
    Raise *r = c->r;
    RaiseTable table = raise_bridge_table(r);
    LLVMTypeRef word = LLVMInt64TypeInContext(r->ctx);
    enum { HEAD, IN_TABLE, IN_ROW, ELSEWHERE, SEARCH, NATIVE, BLOCKS };
    LLVMBasicBlockRef at[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        at[i] = LLVMAppendBasicBlockInContext(r->ctx, c->fn, "");
    LLVMValueRef target = LLVMGetParam(c->fn, c->count), cpu = LLVMGetParam(c->fn, c->count + 1);
    LLVMPositionBuilderAtEnd(c->b, at[HEAD]);
    LLVMValueRef row = build_row(c, target, &table), rows = LLVMConstInt(word, table.rows, false);
    branch_likely(c, LLVMBuildICmp(c->b, LLVMIntULT, row, rows, ""), at[IN_TABLE], at[ELSEWHERE]);
    LLVMPositionBuilderAtEnd(c->b, at[IN_TABLE]);
    LLVMValueRef to = load_row(c, row), none = LLVMConstInt(LLVMTypeOf(to), 0, false);
    branch_likely(c, LLVMBuildICmp(c->b, LLVMIntNE, to, none, ""), at[IN_ROW], at[ELSEWHERE]);
    LLVMPositionBuilderAtEnd(c->b, at[IN_ROW]);
    choose_raised(c, bridge_in_row(c, to), cpu);
    LLVMPositionBuilderAtEnd(c->b, at[ELSEWHERE]);
    LLVMValueRef size = LLVMConstInt(word, r->extent.end - r->extent.start, false);
    LLVMValueRef inside = LLVMBuildICmp(c->b, LLVMIntULT, distance(c, target, r->extent.start), size, "");
    LLVMBuildCondBr(c->b, inside, at[SEARCH], at[NATIVE]);
    LLVMPositionBuilderAtEnd(c->b, at[SEARCH]);
    choose_raised(c, search(c, target, cpu), cpu);
    LLVMPositionBuilderAtEnd(c->b, at[NATIVE]);
    choose_native(c, target, cpu);
}

static LLVMTypeRef chooser_type(const Chooser *c) {
    Raise *r = c->r;
    Reg out[REG_MAX];
    LLVMTypeRef params[REG_MAX + 3], results[REG_MAX];
    unsigned count = raise_results(r, &r->isa->abi.results, out);
    for (unsigned i = 0; i < count; i++)
        results[i] = raise_reg_type(r, out[i]);
    for (unsigned i = 0; i < c->count; i++)
        params[i] = raise_reg_type(r, c->params[i]);
    params[c->count] = LLVMInt64TypeInContext(r->ctx);
    params[c->count + 1] = LLVMPointerTypeInContext(r->ctx, 0);
    return LLVMFunctionType(LLVMStructTypeInContext(r->ctx, results, count, false), params, c->count + 2, false);
}

/* Made once for each set of registers. */
static void find_chooser(Chooser *c) {
    Raise *r = c->r;
    char name[96];
    int len = snprintf(name, sizeof(name), RAISE_PREFIX "choose");
    for (size_t i = 0; i < ARRAY_LEN(c->set.word); i++)
        if (c->set.word[i])
            len += snprintf(name + len, sizeof(name) - (size_t)len, "_%lx", c->set.word[i]);
    c->fn = LLVMGetNamedFunction(r->mod, name);
    if (c->fn)
        return;
    c->fn = LLVMAddFunction(r->mod, name, chooser_type(c));
    LLVMSetLinkage(c->fn, LLVMInternalLinkage);
    const char *const marks[] = {"noredzone", "alwaysinline", "nounwind"};
    for (size_t i = 0; i < ARRAY_LEN(marks) - r->unwinds; i++)
        LLVMAddAttributeAtIndex(c->fn, LLVMAttributeFunctionIndex, raise_attribute(r, marks[i], 0));
    c->b = LLVMCreateBuilderInContext(r->ctx);
    if (r->is_object)
        build_object_chooser(c);
    else
        build_chooser(c);
    LLVMDisposeBuilder(c->b);
}

/* ---------------------------------------------------------------------------------------------------------- the call */

const char *raise_imported_name(const Raise *r, LLVMValueRef target) {
    u64 slot;
    if (LLVMIsAConstantExpr(target) && LLVMGetConstOpcode(target) == LLVMPtrToInt &&
        raise_image_address(r, LLVMGetOperand(target, 0), &slot))
        return raise_kept(r, slot);
    bool fixed = LLVMIsALoadInst(target) && raise_image_address(r, LLVMGetOperand(target, 0), &slot);
    return fixed ? elf_imported_at(r->elf, slot) : NULL;
}

/* Handlers that are to be called when a thread is cancelled jump into the frames of raised functions, and in C++ programs the unwinder walks through them. */
static bool ends_thread(const Raise *r, const char *import) {
    return !strcmp(import, "pthread_exit") && !r->is_static && !r->unwinds &&
           !elf_imports(r->elf, "__pthread_register_cancel");
}

static void set_results(Rewriter *w, LLVMValueRef call) {
    Reg out[REG_MAX];
    unsigned count = raise_results(w->r, &w->r->isa->abi.results, out);
    for (unsigned i = 0; i < count; i++)
        rewrite_set(w, out[i], LLVMBuildExtractValue(w->b, call, i, ""));
}

/* Is it a function of the program that stays as it is? */
static bool is_left(const Raise *r, LLVMValueRef target) {
    u64 pc;
    return LLVMIsAConstantExpr(target) && LLVMGetConstOpcode(target) == LLVMPtrToInt &&
           raise_image_address(r, LLVMGetOperand(target, 0), &pc) && raise_is_left(r, pc);
}

void rewrite_call_outside(Rewriter *w, const Event *e, LLVMValueRef target) {
    Raise *r = w->r;
    Chooser c = {.r = r, .set = e->passed};
    NativeCall n = {.r = r, .b = w->b, .target = target, .cpu = w->cpu};
    LLVMValueRef args[REG_MAX + 3], stack = rewrite_get(w, r->isa->abi.stack);
    regset_keep(&c.set, &e->available);
    regset_remove(&c.set, r->isa->abi.stack);
    c.params[c.count] = r->isa->abi.stack;
    args[c.count++] = stack;
    for (Reg reg = 0; reg < r->isa->reg_count; reg++)
        if (regset_has(&c.set, reg)) {
            c.params[c.count] = reg;
            args[c.count++] = rewrite_get(w, reg);
        }
    LLVMValueRef call;
    const char *import = raise_imported_name(r, target);
    if (import || is_left(r, target)) {
        list_results(&n);
        n.count = c.count - 1;
        memcpy(n.passed, c.params + 1, n.count * sizeof(*n.passed));
        memcpy(n.values, args + 1, n.count * sizeof(*n.values));
        n.ends = import && ends_thread(r, import);
        n.stack = rewrite_offset(w, w->b, stack, r->isa->abi.return_address_bytes);
        n.twice = raise_returns_twice(import);
        unsigned operand;
        bool leaf = import && raise_is_leaf(r, import) && !w->pad;
        call = leaf ? build_leaf(&n) : build_native(&n, w, &operand);
        if (!leaf)
            rewrite_say_stack(w, call, operand);
        if (n.twice)
            LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, raise_attribute(r, "returns_twice", 0));
    } else {
        find_chooser(&c);
        args[c.count] = target;
        args[c.count + 1] = w->cpu;
        call = rewrite_build_call(w, LLVMGlobalGetValueType(c.fn), c.fn, args, c.count + 2);
        rewrite_say_stack(w, call, 0);
    }
    rewrite_say_native(w, call, e, import);
    set_results(w, call);
    rewrite_return_stack(w, stack);
}

/* A variable with the address of another file's function. */
static LLVMValueRef address_of_import(Raise *r, const char *name) {
    LLVMTypeRef word = LLVMInt64TypeInContext(r->ctx),
                type = LLVMFunctionType(LLVMVoidTypeInContext(r->ctx), NULL, 0, false);
    const char *symbol = arena_printf(&r->arena, RAISE_IMPORT "%s", name),
               *variable = arena_printf(&r->arena, RAISE_PREFIX "address_%s", name);
    LLVMValueRef v = LLVMGetNamedGlobal(r->mod, variable), fn = LLVMGetNamedFunction(r->mod, symbol);
    if (v)
        return v;
    if (!fn)
        fn = LLVMAddFunction(r->mod, symbol, type);
    v = LLVMAddGlobal(r->mod, word, variable);
    LLVMSetInitializer(v, LLVMConstPtrToInt(fn, word));
    LLVMSetLinkage(v, LLVMInternalLinkage);
    return v;
}

void raise_call_import(Raise *r, LLVMBuilderRef b, const char *name, LLVMValueRef argument, LLVMValueRef stack,
                       LLVMValueRef cpu) {
    NativeCall n = {.r = r, .b = b, .stack = stack, .cpu = cpu};
    unsigned operand;
    n.target = LLVMBuildLoad2(b, LLVMInt64TypeInContext(r->ctx), address_of_import(r, name), "");
    LLVMSetVolatile(n.target, true); /* its value is not known before the program starts */
    list_results(&n);
    if (argument) {
        n.passed[n.count] = r->isa->abi.int_args[0];
        n.values[n.count++] = argument;
    }
    build_native(&n, NULL, &operand);
}
