/* callout.c: see callout.h. */
#include "binopt/llvm/lift/callout.h"

#include "isa/x86_64/x86_64.h"
#include "lift/func.h"

#define XMM(i) (XMM0 + (i))
#define XMM_LOW_8 XMM(0), XMM(1), XMM(2), XMM(3), XMM(4), XMM(5), XMM(6), XMM(7)
#define XMM_HIGH_8 XMM(8), XMM(9), XMM(10), XMM(11), XMM(12), XMM(13), XMM(14), XMM(15)

/* rax has the number of vector registers for functions with variable arguments; r10 has the frame of nested functions. */
static const CallRegs call_regs[] = {
    [CALL_ABI] = {.in = {RDI, RSI, RDX, RCX, R8, R9, RAX, R10, XMM_LOW_8},
                  .in_count = 16,
                  .out = {RAX, RDX, XMM(0), XMM(1)},
                  .out_count = 4},
    [CALL_LOCAL] = {.in = {RDI, RSI, RDX, RCX, R8, R9, RAX, R10, XMM_LOW_8, R11, XMM_HIGH_8},
                    .in_count = 25,
                    .out = {RAX, RDX, XMM(0), XMM(1), RCX, RSI, RDI, R8, R9, R10, R11, XMM(2), XMM(3), XMM(4), XMM(5),
                            XMM(6), XMM(7), XMM_HIGH_8},
                    .out_count = 25},
};

static const char *const placeholder_name[] = {[CALL_ABI] = "binopt.call", [CALL_LOCAL] = "binopt.call.local"};
static const char *const leave_name[] = {[CALL_ABI] = "binopt.leave", [CALL_LOCAL] = "binopt.leave.local"};

const CallRegs *callout_regs(CallShape shape) {
    return &call_regs[shape];
}

static Ty type_of(const LlvmUnit *u, Reg r) {
    return facet_native(&u->isa->regs[r]);
}

static Val slot(LlvmUnit *u, Val state, Reg r) {
    return ir_offset(&u->l, state, u->isa->regs[r].off_bytes);
}

static u32 align_of(const LlvmUnit *u, Reg r) {
    return u->isa->regs[r].bits / 8 ? u->isa->regs[r].bits / 8 : 1;
}

static Val load_reg(LlvmUnit *u, Val state, Reg r, Ty t) {
    return ir_load(&u->l, t, slot(u, state, r), align_of(u, r), SPACE_STATE);
}

static void store_reg(LlvmUnit *u, Val state, Reg r, Val v) {
    ir_store(&u->l, v, slot(u, state, r), align_of(u, r), SPACE_STATE);
}

static Val declare_placeholder(LlvmUnit *u, CallShape shape) {
    const CallRegs *regs = &call_regs[shape];
    LLVMTypeRef in[CALLOUT_MAX_REGS + 2], out[CALLOUT_MAX_REGS];
    in[0] = ir_type(&u->l, I64);
    for (u32 i = 0; i < regs->in_count; i++)
        in[1 + i] = ir_type(&u->l, type_of(u, regs->in[i]));
    in[1 + regs->in_count] = ir_type(&u->l, PTR);
    for (u32 i = 0; i < regs->out_count; i++)
        out[i] = ir_type(&u->l, type_of(u, regs->out[i]));
    LLVMTypeRef result = LLVMStructTypeInContext(u->ctx, out, regs->out_count, false);
    Val fn = LLVMAddFunction(u->mod, placeholder_name[shape], LLVMFunctionType(result, in, regs->in_count + 2, false));
    ir_attribute(&u->l, fn, OF_FUNCTION, "nounwind", 0);
    ir_attribute(&u->l, fn, regs->in_count + 2, "nocapture", 0);
    ir_attribute(&u->l, fn, regs->in_count + 2, "readonly", 0);
    return fn;
}

/* Makes the registers undefined that the callee may have changed: all that it need not preserve and that hold no
 * result. */
static void forget_registers(LlvmUnit *u, Val state, CallShape shape) {
    RegSet known = u->isa->abi.kept;
    for (u32 i = 0; i < call_regs[shape].out_count; i++)
        regset_add(&known, call_regs[shape].out[i]);
    regset_add(&known, DF);
    for (Reg r = 0; r < u->isa->reg_count; r++) {
        if (regset_has(&known, r) || (shape == CALL_LOCAL && r >= XMM0))
            continue;
        Ty t = u->isa->regs[r].kind == REG_FLAG ? I8 : type_of(u, r);
        store_reg(u, state, r, LLVMGetUndef(ir_type(&u->l, t)));
    }
}

/* The stack is as at the callee's entry: the return address is on top. */
static void build_leave(LlvmUnit *u, CallShape shape) {
    const CallRegs *regs = &call_regs[shape];
    Lifter *l = &u->l;
    Val state = LLVMGetParam(u->leave[shape], 0), args[CALLOUT_MAX_REGS + 2];
    l->fn = u->leave[shape];
    ir_here(l, ir_label(l, "entry"));
    args[0] = ir_load(l, I64, ir_offset(l, state, u->isa->pc_off), 8, SPACE_STATE);
    for (u32 i = 0; i < regs->in_count; i++)
        args[1 + i] = load_reg(u, state, regs->in[i], type_of(u, regs->in[i]));
    Val sp = args[1 + regs->in_count] = load_reg(u, state, u->isa->abi.stack, PTR);
    Val result = ir_call(l, u->callout[shape], args, regs->in_count + 2);
    forget_registers(u, state, shape);
    for (u32 i = 0; i < regs->out_count; i++)
        store_reg(u, state, regs->out[i], LLVMBuildExtractValue(l->b, result, i, ""));
    store_reg(u, state, u->isa->abi.stack, ir_offset(l, sp, u->isa->abi.return_address_bytes));
    LLVMBuildRetVoid(l->b);
}

static Val declare_inlined(LlvmUnit *u, const char *name, LLVMTypeRef type) {
    Val fn = LLVMAddFunction(u->mod, name, type);
    ir_attribute(&u->l, fn, OF_FUNCTION, "alwaysinline", 0);
    ir_attribute(&u->l, fn, OF_FUNCTION, "nounwind", 0);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    return fn;
}

void callout_find(LlvmUnit *u) {
    for (CallShape s = CALL_ABI; s <= CALL_LOCAL; s++)
        u->callout[s] = LLVMGetNamedFunction(u->mod, placeholder_name[s]);
}

/* `lookup` comes first in the module: when it has been inlined, calls of its result are recognised as direct calls. */
void callout_declare(LlvmUnit *u) {
    Lifter *l = &u->l;
    LLVMTypeRef ptr = ir_type(l, PTR), look_args[] = {ptr, ir_type(l, I64), ir_type(l, I1)};
    u->lookup = declare_inlined(u, "binopt.lookup", LLVMFunctionType(ptr, look_args, 3, false));
    for (CallShape s = CALL_ABI; s <= CALL_LOCAL; s++) {
        callout_find(u);
        if (!u->callout[s])
            u->callout[s] = declare_placeholder(u, s);
        u->leave[s] = declare_inlined(u, leave_name[s], LLVMFunctionType(ir_type(l, 0), &ptr, 1, false));
        build_leave(u, s);
    }
    l->fn = u->lookup;
    ir_here(l, ir_label(l, "entry"));
    LLVMBuildRet(l->b, u->leave[CALL_ABI]);
}

bool callout_is(const LlvmUnit *u, Val insn, CallShape *shape) {
    if (!LLVMIsACallInst(insn))
        return false;
    Val callee = LLVMGetCalledValue(insn);
    *shape = callee == u->callout[CALL_LOCAL] ? CALL_LOCAL : CALL_ABI;
    return callee && callee == u->callout[*shape];
}

Val callout_sp(Val call) {
    return LLVMGetOperand(call, (unsigned)LLVMGetNumArgOperands(call) - 1);
}

/* Makes a guest state for one call, whose other registers are undefined. */
static Val new_state(LlvmUnit *u, Val call) {
    Lifter *l = &u->l;
    Val function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    Label entry = LLVMGetEntryBasicBlock(function);
    LLVMPositionBuilderBefore(l->b, LLVMGetFirstInstruction(entry));
    Val state = LLVMBuildAlloca(l->b, LLVMArrayType(ir_type(l, I8), u->isa->state_bytes), "state");
    LLVMSetAlignment(state, 64);
    LLVMPositionBuilderBefore(l->b, call);
    static const Ty pointer = PTR;
    ir_intrinsic(l, "llvm.lifetime.start", &pointer, 1, (Val[]){ir_int(l, I64, u->isa->state_bytes), state}, 2);
    return state;
}

void callout_replace(LlvmUnit *u, Val call, CallShape shape, Val lifted) {
    const CallRegs *regs = &call_regs[shape];
    Lifter *l = &u->l;
    Val state = new_state(u, call);
    for (u32 i = 0; i < regs->in_count; i++)
        store_reg(u, state, regs->in[i], LLVMGetOperand(call, 1 + i));
    store_reg(u, state, u->isa->abi.stack, callout_sp(call));
    ir_call(l, lifted, &state, 1);
    Val result = LLVMGetPoison(LLVMTypeOf(call));
    for (u32 i = 0; i < regs->out_count; i++)
        result = LLVMBuildInsertValue(l->b, result, load_reg(u, state, regs->out[i], type_of(u, regs->out[i])), i, "");
    LLVMReplaceAllUsesWith(call, result);
    LLVMInstructionEraseFromParent(call);
}

static LLVMAttributeRef cold(const LlvmUnit *u) {
    return LLVMCreateEnumAttribute(u->ctx, LLVMGetEnumAttributeKindForName("cold", 4), 0);
}

static Val pass_on(LlvmUnit *u, Val fn, CallShape shape) {
    Val args[CALLOUT_MAX_REGS + 2];
    LLVMGetParams(fn, args);
    return ir_call(&u->l, u->callout[shape], args, call_regs[shape].in_count + 2);
}

/* The guess is a function of its own that is inlined later, because LLVM's C API cannot split a block. */
void callout_guess(LlvmUnit *u, Val call, CallShape shape, u64 pc, Val lifted) {
    Lifter *l = &u->l;
    LLVMTypeRef type = LLVMGlobalGetValueType(u->callout[shape]);
    Val fn = l->fn = declare_inlined(u, "binopt.guess", type), args[CALLOUT_MAX_REGS + 2];
    Label entry = ir_label(l, "entry"), there = ir_label(l, "there"), elsewhere = ir_label(l, "elsewhere");
    ir_here(l, entry);
    ir_branch_rare(l, ir_icmp(l, NE, LLVMGetParam(fn, 0), ir_int(l, I64, pc)), elsewhere, there);
    ir_here(l, elsewhere);
    Val unlikely = pass_on(u, fn, shape);
    LLVMAddCallSiteAttribute(unlikely, LLVMAttributeFunctionIndex, cold(u));
    LLVMBuildRet(l->b, unlikely);
    ir_here(l, there);
    Val known = pass_on(u, fn, shape);
    LLVMBuildRet(l->b, known);
    callout_replace(u, known, shape, lifted);
    LLVMPositionBuilderBefore(l->b, call);
    u32 count = LLVMGetNumArgOperands(call);
    for (u32 i = 0; i < count; i++)
        args[i] = LLVMGetOperand(call, i);
    LLVMReplaceAllUsesWith(call, LLVMBuildCall2(l->b, type, fn, args, count, ""));
    LLVMInstructionEraseFromParent(call);
}
