/* lower.c: see lower.h.
 *
 * A callee may have arguments on the stack; only the callee and its caller know how many. If the guest's stack holds nothing that could be an
 * argument, or the callee's code shows that it reads none, the call becomes an ordinary one. Otherwise it runs on the guest's stack,
 * which then has to be the lowest part of the host's frame, so that there is room below it for whatever the callee needs. */
#include "binopt/llvm/passes/lower.h"

#include <llvm-c/Target.h>

#include "binopt/llvm/lift/callout.h"
#include "binopt/llvm/lift/lift.h"
#include "isa/x86_64/x86_64.h"

enum { ABI_INTS = 6, ABI_VECTORS = 8, ARG_RAX = 1 + ABI_INTS, ARG_R10, ARG_XMM0, STACK_ALIGN = 16 };

static bool is_unset(Val v) {
    return LLVMIsUndef(v) || LLVMIsPoison(v);
}

/* ------------------------------------------------------------------------------------------------------ the guest's stack */

static u64 alloca_bytes(Val in) {
    LLVMTypeRef type = LLVMGetAllocatedType(in);
    return LLVMGetTypeKind(type) == LLVMArrayTypeKind ? LLVMGetArrayLength2(type) : 0;
}

/* The first alloca of at least this size. Almost always the guest's stack is the only one left. */
static Val find_alloca(LlvmUnit *u, u64 least_bytes) {
    for (Val in = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(u->spec)); in; in = LLVMGetNextInstruction(in))
        if (LLVMIsAAllocaInst(in) && alloca_bytes(in) >= least_bytes)
            return in;
    return NULL;
}

/* The value that the stack pointer of a call out is an offset from. */
static Val stack_of(Val call) {
    Val sp = callout_sp(call);
    while (LLVMIsAGetElementPtrInst(sp))
        sp = LLVMGetOperand(sp, 0);
    return LLVMIsAAllocaInst(sp) ? sp : NULL;
}

/* The guest's stack lives as long as the function, whatever was inlined where. */
static void erase_lifetimes(LlvmUnit *u) {
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b), next; in; in = next) {
            next = LLVMGetNextInstruction(in);
            Val callee = LLVMIsACallInst(in) ? LLVMGetCalledValue(in) : NULL;
            size_t length;
            if (callee && LLVMIsAFunction(callee) && !strncmp(LLVMGetValueName2(callee, &length), "llvm.lifetime.", 14))
                LLVMInstructionEraseFromParent(in);
        }
}

Val lower_find_stack(LlvmUnit *u) {
    return find_alloca(u, u->fitted_bytes ? u->fitted_bytes : u->made_bytes);
}

void lower_fit_stack(LlvmUnit *u) {
    u64 made_bytes = u->made_bytes;
    Val old = find_alloca(u, made_bytes);
    if (!old)
        return;
    erase_lifetimes(u);
    u64 needed = (u->stack_bytes + STACK_ALIGN - 1) & ~(u64)(STACK_ALIGN - 1);
    Lifter *l = &u->l;
    LLVMPositionBuilderBefore(l->b, old);
    u64 above = alloca_bytes(old) - made_bytes;
    Val stack = LLVMBuildAlloca(l->b, LLVMArrayType(ir_type(l, I8), (unsigned)(needed + above)), "stack");
    LLVMSetAlignment(stack, STACK_ALIGN);
    u->fitted_bytes = needed + above;
    LLVMReplaceAllUsesWith(old, ir_offset(l, stack, (i64)needed - (i64)made_bytes));
    LLVMInstructionEraseFromParent(old);
}

/* The content of the guest's stack, as offsets from its lowest address. */
typedef struct StackContents {
    Val stack;
    u64 written_end;          /* only return addresses are stored from here on */
    u64 read_start, read_end; /* nothing outside is read */
    bool unknown;             /* it is accessed in ways that were not understood */
} StackContents;

static bool is_return_address(LlvmUnit *u, Val v) {
    u64 pc;
    u32 known;
    return ir_is_const(v, &pc) && map64_get(&u->returns, pc, &known);
}

static bool constant_offset(Val gep, u64 *off, LlvmUnit *u) {
    u64 index;
    if (LLVMGetNumOperands(gep) != 2 || !ir_is_const(LLVMGetOperand(gep, 1), &index))
        return false;
    *off += index * LLVMABISizeOfType(LLVMGetModuleDataLayout(u->mod), LLVMGetGEPSourceElementType(gep));
    return true;
}

static void look_at_uses(LlvmUnit *u, StackContents *c, Val pointer, u64 off);

static void note_read(StackContents *c, u64 start, u64 end) {
    if (c->read_start == c->read_end)
        c->read_start = start, c->read_end = end;
    c->read_start = start < c->read_start ? start : c->read_start;
    c->read_end = end > c->read_end ? end : c->read_end;
}

static void look_at_use(LlvmUnit *u, StackContents *c, Val pointer, Val user, u64 off) {
    CallShape shape;
    if (callout_is(u, user, &shape) && callout_sp(user) == pointer)
        return;
    if (LLVMIsALoadInst(user))
        note_read(c, off, off + LLVMStoreSizeOfType(LLVMGetModuleDataLayout(u->mod), LLVMTypeOf(user)));
    else if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != pointer) {
        Val v = LLVMGetOperand(user, 0);
        u64 end = off + LLVMStoreSizeOfType(LLVMGetModuleDataLayout(u->mod), LLVMTypeOf(v));
        if (!is_unset(v) && !is_return_address(u, v) && end > c->written_end)
            c->written_end = end;
    } else if (LLVMIsAGetElementPtrInst(user) && constant_offset(user, &off, u)) {
        look_at_uses(u, c, user, off);
    } else {
        c->unknown = true;
    }
}

static void look_at_uses(LlvmUnit *u, StackContents *c, Val pointer, u64 off) {
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use))
        look_at_use(u, c, pointer, LLVMGetUser(use), off);
}

/* The offset of a stack pointer in the guest's stack. Returns false if it is not known. */
static bool offset_of(LlvmUnit *u, const StackContents *c, Val sp, u64 *off) {
    *off = 0;
    for (; LLVMIsAGetElementPtrInst(sp); sp = LLVMGetOperand(sp, 0))
        if (!constant_offset(sp, off, u))
            return false;
    return sp == c->stack;
}

/* True if the callee may find arguments on the stack. They begin above the return address. */
static bool may_have_stack_arguments(LlvmUnit *u, const StackContents *c, Val call) {
    u64 off, pc;
    if (!c->unknown && offset_of(u, c, callout_sp(call), &off) && c->written_end <= off + 8)
        return false;
    return !ir_is_const(callout_pc(call), &pc) || lift_has_stack_arguments(u, pc);
}

/* ------------------------------------------------------------------------------------------------------- ordinary calls */

typedef struct Results {
    bool used[4], other; /* by index; other: in another way than by extractvalue */
} Results;

/* Results beyond those of the calling convention, on which a caller in the same file may rely, count as `other`. */
static Results results_of(Val call) {
    Results r = {{0}, false};
    for (LLVMUseRef use = LLVMGetFirstUse(call); use; use = LLVMGetNextUse(use)) {
        Val user = LLVMGetUser(use);
        if (LLVMIsAExtractValueInst(user) && LLVMGetIndices(user)[0] < ARRAY_LEN(r.used))
            r.used[LLVMGetIndices(user)[0]] = true;
        else
            r.other = true;
    }
    return r;
}

/* The type of the low lane, if only that lane of a vector result is used; NULL if more is used, or several types. */
static LLVMTypeRef scalar_of(Val call) {
    LLVMTypeRef scalar = NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(call); use; use = LLVMGetNextUse(use))
        for (LLVMUseRef cast = LLVMGetFirstUse(LLVMGetUser(use)); cast; cast = LLVMGetNextUse(cast)) {
            if (!LLVMIsABitCastInst(LLVMGetUser(cast)))
                return NULL;
            for (LLVMUseRef lane = LLVMGetFirstUse(LLVMGetUser(cast)); lane; lane = LLVMGetNextUse(lane)) {
                Val in = LLVMGetUser(lane);
                if (!LLVMIsAExtractElementInst(in) || !LLVMIsNull(LLVMGetOperand(in, 1)) ||
                    (scalar && scalar != LLVMTypeOf(in)))
                    return NULL;
                scalar = LLVMTypeOf(in);
            }
        }
    return scalar;
}

static void replace_scalar(Val old, Val scalar) {
    LLVMUseRef use, cast, lane;
    while ((use = LLVMGetFirstUse(old))) {
        Val extracted = LLVMGetUser(use);
        while ((cast = LLVMGetFirstUse(extracted))) {
            Val vector = LLVMGetUser(cast);
            while ((lane = LLVMGetFirstUse(vector))) {
                Val in = LLVMGetUser(lane);
                LLVMReplaceAllUsesWith(in, scalar);
                LLVMInstructionEraseFromParent(in);
            }
            LLVMInstructionEraseFromParent(vector);
        }
        LLVMInstructionEraseFromParent(extracted);
    }
}

static void replace_extracted(Val old, Val value) {
    LLVMUseRef use;
    while ((use = LLVMGetFirstUse(old))) {
        Val extracted = LLVMGetUser(use);
        LLVMReplaceAllUsesWith(extracted, value);
        LLVMInstructionEraseFromParent(extracted);
    }
}

static u32 count_set(Val call, u32 first, u32 count) {
    while (count && is_unset(LLVMGetOperand(call, first + count - 1)))
        count--;
    return count;
}

static void add_nest(LlvmUnit *u, Val call) {
    static const char nest[] = "nest";
    unsigned kind = LLVMGetEnumAttributeKindForName(nest, strlen(nest));
    LLVMAddCallSiteAttribute(call, 1, LLVMCreateEnumAttribute(u->ctx, kind, 0));
}

/* Builds a call with the calling convention of C. Arguments that the callee does not use are undefined. r10 has the
 * frame of nested functions, which LLVM calls `nest`. */
static Val build_ordinary(LlvmUnit *u, Val call, LLVMTypeRef result) {
    Val args[1 + ABI_INTS + ABI_VECTORS];
    LLVMTypeRef types[ARRAY_LEN(args)];
    u32 ints = count_set(call, 1, ABI_INTS), vectors = count_set(call, ARG_XMM0, ABI_VECTORS), count = 0;
    bool nested = !is_unset(LLVMGetOperand(call, ARG_R10));
    LLVMPositionBuilderBefore(u->l.b, call);
    if (nested)
        args[count++] = ir_bitcast(&u->l, LLVMGetOperand(call, ARG_R10), PTR);
    for (u32 i = 0; i < ints; i++)
        args[count++] = LLVMGetOperand(call, 1 + i);
    for (u32 i = 0; i < vectors; i++)
        args[count++] = LLVMGetOperand(call, ARG_XMM0 + i);
    for (u32 i = 0; i < count; i++)
        types[i] = LLVMTypeOf(args[i]);
    bool variadic = !is_unset(LLVMGetOperand(call, ARG_RAX));
    LLVMTypeRef type = LLVMFunctionType(result, types, count, variadic);
    Val made = LLVMBuildCall2(u->l.b, type, ir_bitcast(&u->l, callout_pc(call), PTR), args, count, "");
    if (nested)
        add_nest(u, made);
    return made;
}

/* Replaces all four registers that a result may be in. */
static void replace_all_results(LlvmUnit *u, Val call) {
    enum { RESULTS = 4 };
    LLVMTypeRef all = LLVMTypeOf(call), types[RESULTS];
    for (u32 i = 0; i < RESULTS; i++)
        types[i] = LLVMStructGetTypeAtIndex(all, i);
    Val made = build_ordinary(u, call, LLVMStructTypeInContext(u->ctx, types, RESULTS, false)),
        result = LLVMGetPoison(all);
    for (u32 i = 0; i < RESULTS; i++)
        result = LLVMBuildInsertValue(u->l.b, result, LLVMBuildExtractValue(u->l.b, made, i, ""), i, "");
    LLVMReplaceAllUsesWith(call, result);
}

static void lower_ordinary(LlvmUnit *u, Val call) {
    Results r = results_of(call);
    LLVMTypeRef scalar = r.used[2] && !r.used[0] && !r.used[1] && !r.used[3] && !r.other ? scalar_of(call) : NULL;
    if (r.other || r.used[1] || r.used[3] || (r.used[2] && (r.used[0] || !scalar)))
        replace_all_results(u, call);
    else if (scalar)
        replace_scalar(call, build_ordinary(u, call, scalar));
    else if (r.used[0])
        replace_extracted(call, build_ordinary(u, call, ir_type(&u->l, I64)));
    else
        build_ordinary(u, call, ir_type(&u->l, 0));
    LLVMInstructionEraseFromParent(call);
}

/* ----------------------------------------------------------------------------------------------- on the guest's stack */

static const char *name_of(const HostStackCall *h, Reg r) {
    return r < XMM0 ? h->ints[r] : h->vectors[r - XMM0];
}

/* All registers that a callee need not keep are results. */
static const char *constraints(LlvmUnit *u, const CallRegs *in, const CallRegs *all) {
    const HostStackCall *h = u->l.host->stack_call;
    char *text = "";
    for (u32 i = 0; i < all->out_count; i++)
        text = arena_printf(&u->arena, "%s={%s},", text, name_of(h, all->out[i]));
    text = arena_printf(&u->arena, "%s{%s}", text, h->function);
    for (u32 i = 0; i < in->in_count; i++)
        text = arena_printf(&u->arena, "%s,{%s}", text, name_of(h, in->in[i]));
    return arena_printf(&u->arena, "%s,{%s},%s", text, h->stack, h->clobbers);
}

/* For LLVM the call does not change the guest's stack, so LLVM may remove a store of a value that is there already. But
 * the callee may change its arguments, and its own frame lies where frames of inlined functions were. So the part of
 * the stack that is read later is saved and restored. Memory whose address others may have is above the stack pointer
 * and is not saved. */
enum { WORD = 8, MAX_SINGLE_WORDS = 16 };

typedef struct Saved {
    u64 start, bytes;
    Val copy; /* NULL: a few words are saved one by one */
    Val words[MAX_SINGLE_WORDS];
} Saved;

/* All numbers count words. */
static Saved what_to_save(const StackContents *c, u64 sp) {
    u64 arguments = sp + WORD, start = arguments, end = arguments;
    if (c->unknown)
        start = 0;
    else if (c->read_start < c->read_end && c->read_start < arguments)
        start = c->read_start;
    if (!c->unknown && c->written_end > arguments)
        end = c->written_end;
    else if (!c->unknown && c->read_end < end)
        end = c->read_end;
    start &= ~(u64)(WORD - 1);
    end = (end + WORD - 1) & ~(u64)(WORD - 1);
    return (Saved){.start = start, .bytes = end > start ? end - start : 0};
}

/* Does not use LLVM's own copying, which would need vector registers that the call uses; for the same reason single
 * words are volatile. */
static void copy_words(LlvmUnit *u, Val to, Val from, u64 bytes) {
    Lifter *l = &u->l;
    const HostAsm *copy = &l->host->stack_call->copy;
    Val args[] = {to, from, ir_int(l, I64, bytes / WORD)};
    LLVMTypeRef types[] = {ir_type(l, PTR), ir_type(l, PTR), ir_type(l, I64)};
    LLVMTypeRef type = LLVMFunctionType(LLVMStructTypeInContext(u->ctx, types, 3, false), types, 3, false);
    Val copies = LLVMGetInlineAsm(type, copy->text, strlen(copy->text), copy->constraints, strlen(copy->constraints),
                                  true, false, LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(l->b, type, copies, args, 3, "");
}

static Val word_at(LlvmUnit *u, const StackContents *c, const Saved *s, u64 index) {
    return ir_offset(&u->l, c->stack, (i64)(s->start + index * WORD));
}

static Saved save_stack(LlvmUnit *u, const StackContents *c, Val call) {
    Lifter *l = &u->l;
    u64 sp;
    if (!c->stack || !offset_of(u, c, callout_sp(call), &sp)) {
        u->hopeless = "its stack was lost sight of";
        return (Saved){0};
    }
    Saved s = what_to_save(c, sp);
    if (s.bytes > MAX_SINGLE_WORDS * WORD) {
        LLVMPositionBuilderBefore(l->b, c->stack);
        s.copy = LLVMBuildAlloca(l->b, LLVMArrayType(ir_type(l, I8), (unsigned)s.bytes), "saved");
        LLVMSetAlignment(s.copy, WORD);
        LLVMPositionBuilderBefore(l->b, call);
        copy_words(u, s.copy, word_at(u, c, &s, 0), s.bytes);
    }
    for (u64 i = 0; !s.copy && i < s.bytes / WORD; i++) {
        s.words[i] = LLVMBuildLoad2(l->b, ir_type(l, I64), word_at(u, c, &s, i), "");
        LLVMSetVolatile(s.words[i], true);
    }
    return s;
}

static void restore_stack(LlvmUnit *u, const StackContents *c, const Saved *s) {
    if (s->copy)
        copy_words(u, word_at(u, c, s, 0), s->copy, s->bytes);
    for (u64 i = 0; !s->copy && i < s->bytes / WORD; i++)
        LLVMSetVolatile(LLVMBuildStore(u->l.b, s->words[i], word_at(u, c, s, i)), true);
}

static void lower_switching(LlvmUnit *u, const StackContents *c, Val call, CallShape shape) {
    const CallRegs *in = callout_regs(shape), *all = callout_regs(CALL_LOCAL);
    const char *code = u->l.host->stack_call->text(), *where = constraints(u, in, all);
    Val args[CALLOUT_MAX_REGS + 2];
    LLVMTypeRef types[ARRAY_LEN(args)], out[CALLOUT_MAX_REGS];
    u32 count = in->in_count + 2;
    for (u32 i = 0; i < count; i++) {
        args[i] = LLVMGetOperand(call, i);
        types[i] = LLVMTypeOf(args[i]);
    }
    for (u32 i = 0; i < all->out_count; i++)
        out[i] = ir_type(&u->l, all->out[i] < XMM0 ? I64 : ir_ty(LLVMGetOperand(call, ARG_XMM0)));
    LLVMTypeRef type =
        LLVMFunctionType(LLVMStructTypeInContext(u->ctx, out, all->out_count, false), types, count, false);
    Val asm_code =
        LLVMGetInlineAsm(type, code, strlen(code), where, strlen(where), true, false, LLVMInlineAsmDialectATT, true);
    LLVMPositionBuilderBefore(u->l.b, call);
    Saved saved = save_stack(u, c, call);
    Val made = LLVMBuildCall2(u->l.b, type, asm_code, args, count, "");
    restore_stack(u, c, &saved);
    Val result = LLVMGetPoison(LLVMTypeOf(call));
    for (u32 i = 0; i < in->out_count; i++)
        result = LLVMBuildInsertValue(u->l.b, result, LLVMBuildExtractValue(u->l.b, made, i, ""), i, "");
    LLVMReplaceAllUsesWith(call, result);
    LLVMInstructionEraseFromParent(call);
}

/* LLVM puts memory whose size it does not know below everything else in the frame. */
static void make_stack_lowest(LlvmUnit *u, Val stack) {
    Lifter *l = &u->l;
    LLVMPositionBuilderBefore(l->b, stack);
    Val known = ir_int(l, I64, alloca_bytes(stack));
    Val lowest = LLVMBuildArrayAlloca(l->b, ir_type(l, I8), ir_opaque(l, known), "stack");
    LLVMSetAlignment(lowest, STACK_ALIGN);
    LLVMReplaceAllUsesWith(stack, lowest);
    LLVMInstructionEraseFromParent(stack);
    ir_attribute(l, u->spec, OF_FUNCTION, "noredzone", 0);
}

/* Without a frame, calls at the end can become jumps. */
static void drop_stack(LlvmUnit *u, Val stack) {
    for (LLVMUseRef use = LLVMGetFirstUse(stack), next; use; use = next) {
        next = LLVMGetNextUse(use);
        Val user = LLVMGetUser(use);
        if (LLVMIsAGetElementPtrInst(user) && !LLVMGetFirstUse(user))
            LLVMInstructionEraseFromParent(user);
    }
    if (LLVMGetFirstUse(stack))
        return;
    LLVMInstructionEraseFromParent(stack);
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b && !find_alloca(u, 0); b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (LLVMIsACallInst(in) && !LLVMIsAFunction(LLVMGetCalledValue(in)) &&
                !LLVMIsAInlineAsm(LLVMGetCalledValue(in)))
                LLVMSetTailCall(in, true);
}

/* From now on exceptions may pass through. It does not matter that calls on the guest's stack have another stack
 * pointer: in a frame with memory of unknown size, unwind tables refer to the frame pointer. */
static void let_pass(LlvmUnit *u) {
    static const char nounwind[] = "nounwind";
    LLVMRemoveEnumAttributeAtIndex(u->spec, LLVMAttributeFunctionIndex,
                                   LLVMGetEnumAttributeKindForName(nounwind, strlen(nounwind)));
    ir_attribute(&u->l, u->spec, OF_FUNCTION, "uwtable", 2); /* 2: at all instructions, not only at calls */
}

/* --------------------------------------------------------------------------------------------------------------- public */

void lower_callouts(LlvmUnit *u) {
    StackContents c = {0};
    VEC(Val) calls = {0};
    CallShape shape;
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (callout_is(u, in, &shape)) {
                VEC_PUSH(&calls, in);
                c.stack = c.stack ? c.stack : stack_of(in);
            }
    if (calls.len && !c.stack && u->fitted_bytes)
        c.stack = lower_find_stack(u);
    if (c.stack)
        look_at_uses(u, &c, c.stack, 0);
    bool switching = false;
    for (size_t i = 0; i < calls.len; i++) {
        callout_is(u, calls.at[i], &shape);
        bool ordinary =
            (shape == CALL_ABI || !results_of(calls.at[i]).other) && !may_have_stack_arguments(u, &c, calls.at[i]);
        switching |= !ordinary;
        if (ordinary)
            lower_ordinary(u, calls.at[i]);
        else
            lower_switching(u, &c, calls.at[i], shape);
    }
    if (calls.len)
        let_pass(u);
    if (switching && c.stack)
        make_stack_lowest(u, c.stack);
    else if (c.stack)
        drop_stack(u, c.stack);
    VEC_FREE(&calls);
}
