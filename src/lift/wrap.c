/* wrap.c: a lifted function behind a C signature.
 *
 * The wrapper makes a guest state, a guest stack and a return address on the host's stack, puts the arguments where the
 * guest's calling convention has them, runs the lifted function and takes the result from where the convention leaves it.
 * Once the lifted function is inlined, the state dissolves into values and only the guest's own work remains.
 */
#include "lift/wrap.h"

enum { MAX_ARGS = 64 };

typedef struct Wrapper {
    Lifter l;
    const Isa *isa;
    Val state;
    const WrapResult *results;
    u32 result_count;
    Val stack_args; /* where the first argument that has no register is on the guest's stack */
} Wrapper;

static bool type_of_letter(char c, Ty *t) {
    switch (c) {
    case 'v':
        *t = 0;
        return true;
    case 'i':
        *t = I32;
        return true;
    case 'l':
        *t = I64;
        return true;
    case 'p':
        *t = PTR;
        return true;
    case 'f':
        *t = F32;
        return true;
    case 'd':
        *t = F64;
        return true;
    }
    return false;
}

/* Result and arguments; false if the letters make no sense. */
static bool parse(const char *sig, Ty *types, u32 *count) {
    for (*count = 0; sig[*count]; (*count)++) {
        Ty *t = &types[*count];
        if (*count > MAX_ARGS || !type_of_letter(sig[*count], t) || (*count && !*t))
            return false;
    }
    return *count > 0;
}

/* The register for the next argument of a type, or REG_NONE if they are used up. */
static Reg next_register(const CallAbi *abi, Ty t, u32 *ints, u32 *floats) {
    if (ty_is_float(t))
        return *floats < abi->float_arg_count ? abi->float_args[(*floats)++] : REG_NONE;
    return *ints < abi->int_arg_count ? abi->int_args[(*ints)++] : REG_NONE;
}

static u32 count_on_stack(const CallAbi *abi, const Ty *types, u32 count) {
    u32 ints = 0, floats = 0, on_stack = 0;
    for (u32 i = 1; i < count; i++)
        on_stack += next_register(abi, types[i], &ints, &floats) == REG_NONE;
    return on_stack;
}

static Val slot(Wrapper *w, Reg r) {
    return ir_offset(&w->l, w->state, w->isa->regs[r].off_bytes);
}

/* Of a vector register only the low lane is an argument. */
static void store_whole(Wrapper *w, Reg r, Val v) {
    const RegInfo *reg = &w->isa->regs[r];
    if (reg->kind != REG_VECTOR)
        v = facet_convert(&w->l, reg, v, facet_native(reg));
    ir_store(&w->l, v, slot(w, r), reg->bits / 8, SPACE_STATE);
}

static void store_arguments(Wrapper *w, const Ty *types, u32 count) {
    const CallAbi *abi = &w->isa->abi;
    u32 ints = 0, floats = 0, on_stack = 0;
    for (u32 i = 1; i < count; i++) {
        Val arg = LLVMGetParam(w->l.fn, i - 1);
        Reg r = next_register(abi, types[i], &ints, &floats);
        if (types[i] == I32 && abi->signed_ints)
            arg = ir_sext(&w->l, arg, I64);
        if (r == REG_NONE)
            ir_store(&w->l, arg, ir_offset(&w->l, w->stack_args, 8 * on_stack++), 8, SPACE_GUEST);
        else
            store_whole(w, r, arg);
    }
}

/* The guest's stack pointer, as at a function's entry: 16-byte aligned before the call pushed its return address. Above it
 * are the arguments that have no register, and a little that nobody should look at. */
static void store_stack(Wrapper *w, size_t bytes, u32 on_stack) {
    Lifter *l = &w->l;
    size_t size = (bytes ? bytes : 4096) & ~(size_t)15;
    Val stack = LLVMBuildAlloca(l->b, LLVMArrayType(ir_type(l, I8), (unsigned)(size + 8 * on_stack + 64)), "stack");
    LLVMSetAlignment(stack, 16);
    w->stack_args = ir_offset(l, stack, (i64)size);
    Val top = ir_offset(l, stack, (i64)size - w->isa->abi.return_address_bytes);
    ir_store(l, top, slot(w, w->isa->abi.stack), 8, SPACE_STATE);
}

static Val load_result(Wrapper *w, const WrapResult *r) {
    return ir_load(&w->l, r->type, slot(w, r->reg), w->isa->regs[r->reg].bits / 8, SPACE_STATE);
}

static void build_return(Wrapper *w) {
    LLVMBuilderRef b = w->l.b;
    if (w->result_count == 0) {
        LLVMBuildRetVoid(b);
    } else if (w->result_count == 1) {
        LLVMBuildRet(b, load_result(w, w->results));
    } else {
        Val all[WRAP_MAX_RESULTS];
        for (u32 i = 0; i < w->result_count; i++)
            all[i] = load_result(w, &w->results[i]);
        LLVMBuildAggregateRet(b, all, w->result_count);
    }
}

static LLVMTypeRef return_type(Wrapper *w) {
    LLVMTypeRef types[WRAP_MAX_RESULTS];
    for (u32 i = 0; i < w->result_count; i++)
        types[i] = ir_type(&w->l, w->results[i].type);
    if (w->result_count == 0)
        return ir_type(&w->l, 0);
    return w->result_count == 1
               ? types[0]
               : LLVMStructTypeInContext(LLVMGetModuleContext(w->l.mod), types, w->result_count, false);
}

static void build_body(Wrapper *w, LLVMValueRef lifted, const Ty *types, u32 count, size_t stack_bytes) {
    Lifter *l = &w->l;
    ir_here(l, ir_label(l, "entry"));
    w->state = LLVMBuildAlloca(l->b, LLVMArrayType(ir_type(l, I8), w->isa->state_bytes), "state");
    LLVMSetAlignment(w->state, 64);
    for (const StateField *f = w->isa->initial; f->bits; f++)
        ir_store(l, ir_int(l, ty_int(f->bits), f->value), ir_offset(l, w->state, f->off_bytes), 1, SPACE_STATE);
    store_stack(w, stack_bytes, count_on_stack(&w->isa->abi, types, count));
    store_arguments(w, types, count);
    ir_call(l, lifted, &w->state, 1);
    build_return(w);
}

/* Where C functions count on it, results and arguments of 32 bits are sign-extended. */
static void extend_ints(Wrapper *w, const Ty *types, u32 count) {
    if (!w->l.host->signed_arguments)
        return;
    if (w->result_count == 1 && w->results[0].type == I32)
        ir_attribute(&w->l, w->l.fn, LLVMAttributeReturnIndex, "signext", 0);
    for (u32 i = 1; i < count; i++)
        if (types[i] == I32)
            ir_attribute(&w->l, w->l.fn, i, "signext", 0);
}

Val wrap_with_results(Val lifted, LatheArch arch, const char *name, const char *sig, size_t stack_bytes,
                      const WrapResult *results, u32 result_count) {
    const Isa *isa = isa_find(arch);
    Ty types[MAX_ARGS + 1];
    u32 count;
    if (!isa || !parse(sig, types, &count))
        return NULL;
    const Host *host = host_of_triple(LLVMGetTarget(LLVMGetGlobalParent(lifted)));
    LatheConfig cfg = {.host = host ? host->id : LATHE_HOST_OWN};
    Wrapper w = {.l = {.cfg = &cfg}, .isa = isa, .results = results, .result_count = result_count};
    ir_begin(&w.l, LLVMGetGlobalParent(lifted));
    LLVMTypeRef params[MAX_ARGS];
    for (u32 i = 1; i < count; i++)
        params[i - 1] = ir_type(&w.l, types[i]);
    LLVMTypeRef type = LLVMFunctionType(return_type(&w), params, count - 1, false);
    w.l.fn = LLVMAddFunction(w.l.mod, name, type);
    extend_ints(&w, types, count);
    build_body(&w, lifted, types, count, stack_bytes);
    ir_attribute(&w.l, w.l.fn, OF_FUNCTION, "nounwind", 0);
    ir_attribute(&w.l, w.l.fn, OF_FUNCTION, "null_pointer_is_valid", 0);
    ir_attribute(&w.l, lifted, OF_FUNCTION, "alwaysinline", 0);
    LLVMSetLinkage(lifted, LLVMInternalLinkage);
    ir_end(&w.l);
    return w.l.fn;
}

LLVMValueRef lathe_wrap_sysv(LLVMValueRef lifted, LatheArch arch, const char *name, const char *sig,
                             size_t stack_bytes) {
    const Isa *isa = isa_find(arch);
    Ty type;
    if (!isa || !type_of_letter(*sig, &type))
        return NULL;
    WrapResult result = {ty_is_float(type) ? isa->abi.float_result : isa->abi.int_result, type};
    return wrap_with_results(lifted, arch, name, sig, stack_bytes, &result, type ? 1 : 0);
}
