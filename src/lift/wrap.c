/* wrap.c: a lifted function behind a C signature.
 *
 * The wrapper makes a guest state, a guest stack and a return address on the host's stack, puts the arguments where the
 * guest's calling convention has them, runs the lifted function and takes the result from where the convention leaves it.
 * Once the lifted function is inlined, the state dissolves into values and only the guest's own work remains.
 */
#include "lift/func.h"

typedef struct Wrapper {
    Lifter l;
    const Isa *isa;
    Val state;
} Wrapper;

static bool type_of_letter(char c, Ty *t) {
    switch (c) {
    case 'v': *t = 0; return true;
    case 'i': *t = I32; return true;
    case 'l': *t = I64; return true;
    case 'p': *t = PTR; return true;
    case 'f': *t = F32; return true;
    case 'd': *t = F64; return true;
    }
    return false;
}

/* Result and arguments; false if the letters make no sense or there are more arguments than registers for them. */
static bool parse(const CallAbi *abi, const char *sig, Ty *types, u32 *count) {
    u32 ints = 0, floats = 0;
    *count = 0;
    for (; sig[*count]; (*count)++) {
        Ty *t = &types[*count];
        if (*count >= 16 || !type_of_letter(sig[*count], t) || (*count && !*t))
            return false;
        if (*count)
            *(ty_is_float(*t) ? &floats : &ints) += 1;
    }
    return *count && ints <= abi->int_arg_count && floats <= abi->float_arg_count;
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
    u32 ints = 0, floats = 0;
    for (u32 i = 1; i < count; i++) {
        Val arg = LLVMGetParam(w->l.fn, i - 1);
        Reg r = ty_is_float(types[i]) ? abi->float_args[floats++] : abi->int_args[ints++];
        if (types[i] == I32 && abi->signed_ints)
            arg = ir_sext(&w->l, arg, I64);
        store_whole(w, r, arg);
    }
}

/* The guest's stack pointer, as at a function's entry: 16-byte aligned before the call pushed its return address. */
static void store_stack(Wrapper *w, size_t bytes) {
    Lifter *l = &w->l;
    size_t size = (bytes ? bytes : 4096) & ~(size_t)15;
    Val stack = LLVMBuildAlloca(l->b, LLVMArrayType(ir_type(l, I8), (unsigned)(size + 64)), "stack");
    LLVMSetAlignment(stack, 16);
    Val top = ir_offset(l, stack, (i64)size - w->isa->abi.return_address_bytes);
    ir_store(l, top, slot(w, w->isa->abi.stack), 8, SPACE_STATE);
}

static void build_body(Wrapper *w, LLVMValueRef lifted, const Ty *types, u32 count, size_t stack_bytes) {
    Lifter *l = &w->l;
    ir_here(l, ir_label(l, "entry"));
    w->state = LLVMBuildAlloca(l->b, LLVMArrayType(ir_type(l, I8), w->isa->state_bytes), "state");
    LLVMSetAlignment(w->state, 64);
    store_stack(w, stack_bytes);
    store_arguments(w, types, count);
    ir_call(l, lifted, &w->state, 1);
    if (!types[0]) {
        LLVMBuildRetVoid(l->b);
        return;
    }
    Reg from = ty_is_float(types[0]) ? w->isa->abi.float_result : w->isa->abi.int_result;
    LLVMBuildRet(l->b, ir_load(l, types[0], slot(w, from), w->isa->regs[from].bits / 8, SPACE_STATE));
}

LLVMValueRef lathe_wrap_sysv(LLVMValueRef lifted, LatheArch arch, const char *name, const char *sig, size_t stack_bytes) {
    const Isa *isa = isa_find(arch);
    Ty types[17];
    u32 count;
    if (!isa || !parse(&isa->abi, sig, types, &count))
        return NULL;
    LatheConfig cfg = {0};
    Wrapper w = {.l = {.cfg = &cfg}, .isa = isa};
    ir_begin(&w.l, LLVMGetGlobalParent(lifted));
    LLVMTypeRef params[16];
    for (u32 i = 1; i < count; i++)
        params[i - 1] = ir_type(&w.l, types[i]);
    LLVMTypeRef type = LLVMFunctionType(ir_type(&w.l, types[0]), params, count - 1, false);
    w.l.fn = LLVMAddFunction(w.l.mod, name, type);
    build_body(&w, lifted, types, count, stack_bytes);
    ir_attribute(&w.l, w.l.fn, OF_FUNCTION, "nounwind", 0);
    ir_attribute(&w.l, w.l.fn, OF_FUNCTION, "null_pointer_is_valid", 0);
    ir_attribute(&w.l, lifted, OF_FUNCTION, "alwaysinline", 0);
    LLVMSetLinkage(lifted, LLVMInternalLinkage);
    ir_end(&w.l);
    return w.l.fn;
}
