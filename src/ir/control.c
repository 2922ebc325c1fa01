/* control.c: floating point, calls and blocks of the vocabulary; see ir.h. */
#include <stdio.h>

#include "ir/ir.h"

/* ------------------------------------------------------------------------------------------------------------- calls */

static LLVMTypeRef type_of_function(Val fn) {
    return LLVMGlobalGetValueType(fn);
}

Val ir_call(Lifter *l, Val fn, Val *args, u32 arg_count) {
    return LLVMBuildCall2(l->b, type_of_function(fn), fn, args, arg_count, "");
}

Val ir_intrinsic(Lifter *l, const char *name, const Ty *overloads, u32 overload_count, Val *args, u32 arg_count) {
    LLVMTypeRef types[4];
    for (u32 i = 0; i < overload_count; i++)
        types[i] = ir_type(l, overloads[i]);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    CHECK(id, "an intrinsic that LLVM does not have");
    Val fn = LLVMGetIntrinsicDeclaration(l->mod, id, types, overload_count);
    return ir_call(l, fn, args, arg_count);
}

Val ir_unary(Lifter *l, const char *name, Val a) {
    Ty t = ir_ty(a);
    return ir_intrinsic(l, name, &t, 1, &a, 1);
}

Val ir_binary(Lifter *l, const char *name, Val a, Val b) {
    Ty t = ir_ty(a);
    return ir_intrinsic(l, name, &t, 1, (Val[]){a, b}, 2);
}

Val ir_op_carry(Lifter *l, Op op, Val a, Val b, Val *carry) {
    Val both = ir_binary(l, op == ADD ? "llvm.uadd.with.overflow" : "llvm.usub.with.overflow", a, b);
    *carry = LLVMBuildExtractValue(l->b, both, 1, "");
    return LLVMBuildExtractValue(l->b, both, 0, "");
}

Val ir_signed_overflows(Lifter *l, Op op, Val a, Val b) {
    Val both = ir_binary(l, op == ADD ? "llvm.sadd.with.overflow" : "llvm.ssub.with.overflow", a, b);
    return LLVMBuildExtractValue(l->b, both, 1, "");
}

static Val funnel(Lifter *l, const char *name, Val hi, Val lo, Val count) {
    Ty t = ir_ty(hi);
    return ir_intrinsic(l, name, &t, 1, (Val[]){hi, lo, count}, 3);
}

Val ir_fshl(Lifter *l, Val hi, Val lo, Val count) {
    return funnel(l, "llvm.fshl", hi, lo, count);
}

Val ir_fshr(Lifter *l, Val hi, Val lo, Val count) {
    return funnel(l, "llvm.fshr", hi, lo, count);
}

void ir_attribute(Lifter *l, Val fn, unsigned index, const char *name, u64 value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(fn, index, LLVMCreateEnumAttribute(l->ctx, kind, value));
}

static Val declare_helper(Lifter *l, const char *name, Ty ret, Val *args, u32 arg_count) {
    LLVMTypeRef types[8];
    for (u32 i = 0; i < arg_count; i++)
        types[i] = LLVMTypeOf(args[i]);
    Val fn = LLVMAddFunction(l->mod, name, LLVMFunctionType(ir_type(l, ret), types, arg_count, false));
    for (u32 i = 0; i < arg_count; i++)
        if (l->host->signed_arguments && ir_ty(args[i]) == I32)
            ir_attribute(l, fn, i + 1, "signext", 0);
    ir_attribute(l, fn, OF_FUNCTION, "nounwind", 0);
    ir_attribute(l, fn, OF_FUNCTION, "willreturn", 0);
    ir_attribute(l, fn, OF_FUNCTION, "memory", 3); /* argument memory only, read and written */
    return fn;
}

Val ir_helper(Lifter *l, const char *name, Ty ret, Val *args, u32 arg_count) {
    Val fn = LLVMGetNamedFunction(l->mod, name);
    if (!fn)
        fn = declare_helper(l, name, ret, args, arg_count);
    return ir_call(l, fn, args, arg_count);
}

Val ir_state_function(Lifter *l, const char *name) {
    Val fn = LLVMGetNamedFunction(l->mod, name);
    LLVMTypeRef ptr = ir_type(l, PTR);
    return fn ? fn : LLVMAddFunction(l->mod, name, LLVMFunctionType(ir_type(l, 0), &ptr, 1, false));
}

void ir_call_attribute(Val call, const char *name, u64 value) {
    LLVMContextRef ctx = LLVMGetTypeContext(LLVMTypeOf(call));
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(ctx, kind, value));
}

/* Memory effects of inline assembly, in LLVM's encoding of two bits each for arguments' memory, memory that the program
 * cannot see (where the floating-point environment is said to be), and any other. */
enum { MEMORY_NONE = 0, MEMORY_SEE_ENVIRONMENT = 4, MEMORY_ENVIRONMENT = 12, MEMORY_ANY = 63 };

static Val assembly(Lifter *l, const char *text, const char *constraints, LLVMTypeRef ret, Val *args, u32 arg_count,
                    u32 memory) {
    LLVMTypeRef types[32];
    CHECK(arg_count <= ARRAY_LEN(types), "assembly with more operands than expected");
    for (u32 i = 0; i < arg_count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(ret, types, arg_count, false);
    bool changes = memory != MEMORY_NONE && memory != MEMORY_SEE_ENVIRONMENT;
    Val code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), changes, false,
                                LLVMInlineAsmDialectATT, false);
    Val call = LLVMBuildCall2(l->b, type, code, args, arg_count, "");
    ir_call_attribute(call, "nounwind", 0);
    if (memory != MEMORY_ANY)
        ir_call_attribute(call, "memory", memory);
    return call;
}

Val ir_asm(Lifter *l, const char *text, const char *constraints, Ty ret, Val *args, u32 arg_count) {
    u32 memory = strstr(constraints, "~{memory}") ? MEMORY_ANY : MEMORY_ENVIRONMENT;
    return assembly(l, text, constraints, ir_type(l, ret), args, arg_count, memory);
}

Val ir_asm_pure(Lifter *l, const char *text, const char *constraints, Ty ret, Val *args, u32 arg_count) {
    return assembly(l, text, constraints, ir_type(l, ret), args, arg_count, MEMORY_NONE);
}

Val ir_opaque(Lifter *l, Val v) {
    return assembly(l, "", "=r,0", LLVMTypeOf(v), &v, 1, MEMORY_NONE);
}

void ir_asm_both(Lifter *l, const char *text, const char *constraints, Ty ret, Val *args, u32 arg_count,
                 Val results[2]) {
    LLVMTypeRef types[] = {ir_type(l, ret), ir_type(l, ret)};
    Val both =
        assembly(l, text, constraints, LLVMStructTypeInContext(l->ctx, types, 2, false), args, arg_count, MEMORY_NONE);
    for (u32 i = 0; i < 2; i++)
        results[i] = LLVMBuildExtractValue(l->b, both, i, "");
}

Val ir_asm_seeing(Lifter *l, const char *text, const char *constraints, Ty ret) {
    Val call = assembly(l, text, constraints, ir_type(l, ret), NULL, 0, MEMORY_SEE_ENVIRONMENT);
    ir_call_attribute(call, "willreturn", 0);
    return call;
}

void ir_asm_in_place(Lifter *l, const char *text, const char *constraints, Val *args, u32 arg_count) {
    LLVMTypeRef types[8];
    for (u32 i = 0; i < arg_count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef all = LLVMStructTypeInContext(l->ctx, types, arg_count, false);
    assembly(l, text, constraints, all, args, arg_count, MEMORY_ANY);
}

/* ----------------------------------------------------------------------------------------------------- floating point */

static Val metadata_string(Lifter *l, const char *text) {
    return LLVMMetadataAsValue(l->ctx, LLVMMDStringInContext2(l->ctx, text, strlen(text)));
}

/* A constrained operation: the operands, then (where it rounds) the rounding mode, then the exception behaviour. */
static Val constrained(Lifter *l, const char *name, const Ty *overloads, u32 overload_count, Val *operands, u32 count,
                       bool rounds) {
    Val args[5];
    memcpy(args, operands, count * sizeof(Val));
    if (rounds)
        args[count++] = metadata_string(l, "round.dynamic");
    args[count++] = metadata_string(l, "fpexcept.strict");
    Val call = ir_intrinsic(l, name, overloads, overload_count, args, count);
    ir_call_attribute(call, "strictfp", 0);
    return call;
}

Val ir_fop(Lifter *l, FOp op, Val a, Val b) {
    static const char *const strict_name[] = {
        [FADD] = "llvm.experimental.constrained.fadd",
        [FSUB] = "llvm.experimental.constrained.fsub",
        [FMUL] = "llvm.experimental.constrained.fmul",
        [FDIV] = "llvm.experimental.constrained.fdiv",
    };
    static const LLVMOpcode opcode[] = {[FADD] = LLVMFAdd, [FSUB] = LLVMFSub, [FMUL] = LLVMFMul, [FDIV] = LLVMFDiv};
    if (!l->strict_fp)
        return LLVMBuildBinOp(l->b, opcode[op], a, b, "");
    Ty t = ir_ty(a);
    return constrained(l, strict_name[op], &t, 1, (Val[]){a, b}, 2, true);
}

Val ir_fsqrt(Lifter *l, Val a) {
    Ty t = ir_ty(a);
    return l->strict_fp ? constrained(l, "llvm.experimental.constrained.sqrt", &t, 1, &a, 1, true)
                        : ir_unary(l, "llvm.sqrt", a);
}

Val ir_fma(Lifter *l, Val a, Val b, Val c) {
    Ty t = ir_ty(a);
    Val args[] = {a, b, c};
    return l->strict_fp ? constrained(l, "llvm.experimental.constrained.fma", &t, 1, args, 3, true)
                        : ir_intrinsic(l, "llvm.fma", &t, 1, args, 3);
}

/* LLVM makes plain comparisons also where the guest does not get to. */
Val ir_is_nan(Lifter *l, Val a) {
    if (!l->strict_fp)
        return LLVMBuildFCmp(l->b, LLVMRealUNO, a, a, "");
    Ty t = ty_as_int(ir_ty(a));
    u64 infinite = ty_elem(t) == I32 ? 0x7f800000 : (u64)0x7ff << 52, most = ~(u64)0 >> (65 - ty_bits(ty_elem(t)));
    return ir_icmp(l, UGT, ir_and_with(l, ir_bitcast(l, a, t), most), ir_int(l, t, infinite));
}

Val ir_integral(Lifter *l, const char *how, Val a) {
    char name[64];
    Ty t = ir_ty(a);
    snprintf(name, sizeof(name), "llvm.%s%s", l->strict_fp ? "experimental.constrained." : "", how);
    return l->strict_fp ? constrained(l, name, &t, 1, &a, 1, !strcmp(how, "nearbyint")) : ir_unary(l, name, a);
}

#define STAND_IN "lathe.canonical."

static const char *stand_in_name(Ty t) {
    switch (t) {
    case F32:
        return STAND_IN "f32";
    case VECTOR(F32, 2):
        return STAND_IN "v2f32";
    case VECTOR(F32, 4):
        return STAND_IN "v4f32";
    case VECTOR(F64, 2):
        return STAND_IN "v2f64";
    }
    return STAND_IN "f64";
}

Val ir_stand_in(Lifter *l, Ty t) {
    return LLVMGetNamedFunction(l->mod, stand_in_name(t));
}

bool ir_is_stand_in(Val call) {
    size_t len;
    Val callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) && !strncmp(LLVMGetValueName2(callee, &len), STAND_IN, strlen(STAND_IN));
}

Val ir_canonical(Lifter *l, Val a, Val nan, Val made) {
    return ir_helper(l, stand_in_name(ir_ty(a)), ir_ty(a), (Val[]){a, nan, made ? made : nan}, 3);
}

Val ir_fcmp(Lifter *l, FPred p, Val a, Val b, bool signaling) {
    static const char *const pred_name[] = {
        [OEQ] = "oeq", [OGT] = "ogt", [OGE] = "oge",  [OLT] = "olt",  [OLE] = "ole",  [ONE] = "one",  [ORD] = "ord",
        [UNO] = "uno", [UEQ] = "ueq", [FUGT] = "ugt", [FUGE] = "uge", [FULT] = "ult", [FULE] = "ule", [UNE] = "une"};
    if (!l->strict_fp)
        return LLVMBuildFCmp(l->b, (LLVMRealPredicate)p, a, b, "");
    Ty t = ir_ty(a);
    Val args[] = {a, b, metadata_string(l, pred_name[p])};
    const char *name = signaling ? "llvm.experimental.constrained.fcmps" : "llvm.experimental.constrained.fcmp";
    return constrained(l, name, &t, 1, args, 3, false);
}

Val ir_result_is_nan(Lifter *l, Val a) {
    return ir_fcmp(l, UNO, a, a, false);
}

Val ir_fneg(Lifter *l, Val a) {
    return LLVMBuildFNeg(l->b, a, "");
}

Val ir_fext(Lifter *l, Val a, Ty t) {
    if (!l->strict_fp)
        return LLVMBuildFPExt(l->b, a, ir_type(l, t), "");
    return constrained(l, "llvm.experimental.constrained.fpext", (Ty[]){t, ir_ty(a)}, 2, &a, 1, false);
}

Val ir_ftrunc(Lifter *l, Val a, Ty t) {
    if (!l->strict_fp)
        return LLVMBuildFPTrunc(l->b, a, ir_type(l, t), "");
    return constrained(l, "llvm.experimental.constrained.fptrunc", (Ty[]){t, ir_ty(a)}, 2, &a, 1, true);
}

Val ir_int_to_float(Lifter *l, Val a, Ty t) {
    if (!l->strict_fp)
        return LLVMBuildSIToFP(l->b, a, ir_type(l, t), "");
    return constrained(l, "llvm.experimental.constrained.sitofp", (Ty[]){t, ir_ty(a)}, 2, &a, 1, true);
}

Val ir_uint_to_float(Lifter *l, Val a, Ty t) {
    return LLVMBuildUIToFP(l->b, a, ir_type(l, t), "");
}

Val ir_float_to_int(Lifter *l, Val a, Ty t) {
    if (!l->strict_fp)
        return LLVMBuildFPToSI(l->b, a, ir_type(l, t), "");
    return constrained(l, "llvm.experimental.constrained.fptosi", (Ty[]){t, ir_ty(a)}, 2, &a, 1, false);
}

/* ------------------------------------------------------------------------------------------------------------- blocks */

Label ir_label(Lifter *l, const char *name) {
    return LLVMAppendBasicBlockInContext(l->ctx, l->fn, name);
}

void ir_here(Lifter *l, Label at) {
    LLVMPositionBuilderAtEnd(l->b, at);
}

/* LLVM's builder takes the location of the instruction that it is at, too. */
void ir_before(Lifter *l, Val at) {
    LLVMPositionBuilderBefore(l->b, at);
    if (l->line)
        LLVMSetCurrentDebugLocation2(l->b, l->line);
}

Label ir_where(Lifter *l) {
    return LLVMGetInsertBlock(l->b);
}

void ir_goto(Lifter *l, Label to) {
    LLVMBuildBr(l->b, to);
}

void ir_branch(Lifter *l, Val cond, Label yes, Label no) {
    LLVMBuildCondBr(l->b, cond, yes, no);
}

void ir_branch_rare(Lifter *l, Val cond, Label rare, Label often) {
    Val br = LLVMBuildCondBr(l->b, cond, rare, often);
    Val weights[] = {LLVMMDStringInContext(l->ctx, "branch_weights", 14), ir_int(l, I32, 1), ir_int(l, I32, 2000)};
    LLVMSetMetadata(br, LLVMGetMDKindIDInContext(l->ctx, "prof", 4), LLVMMDNodeInContext(l->ctx, weights, 3));
}

Val ir_phi(Lifter *l, Ty t) {
    return LLVMBuildPhi(l->b, ir_type(l, t), "");
}

void ir_phi_add(Val phi, Val v, Label from) {
    LLVMAddIncoming(phi, &v, &from, 1);
}
