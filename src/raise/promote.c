/* promote.c: lifted functions become functions of values.
 *
 * A lifted function void f(ptr cpu) has the guest's registers in *cpu wherever it calls. Here it gets the arguments and results
 * that effects.c found: its blocks move to a new function, in which each register is a variable on the stack of LLVM's own that
 * its passes dissolve. A call loads what the callee takes and stores what it gives; all other registers stay as they were. The
 * guest's stack pointer is an argument of every function and a result of none: after a call it is where it was before.
 *
 * `cpu` remains the last argument, for what is no register here (x87, control words), for helpers that work on the whole state, and for the few registers
 * that bridges (native.c) take from there. On another machine than the program's, everything is handed to code that is known only at run time there. */
#include <llvm-c/Core.h>
#include <signal.h>
#include <stdio.h>

#include "raise/rewrite.h"

typedef VEC(LLVMValueRef) Values;

LLVMTypeRef raise_reg_type(Raise *r, Reg reg) {
    const RegInfo *info = &r->isa->regs[reg];
    LLVMTypeRef word = LLVMInt64TypeInContext(r->ctx);
    if (reg == r->isa->abi.stack)
        return LLVMPointerTypeInContext(r->ctx, 0);
    switch ((RegKind)info->kind) {
    case REG_INT:
    case REG_FLOAT:
        return word;
    case REG_FLAG:
        return LLVMInt8TypeInContext(r->ctx);
    case REG_VECTOR:
        return LLVMVectorType(word, info->bits / 64);
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------- signatures */

static void copy_attributes(LLVMValueRef to, LLVMValueRef from) {
    LLVMAttributeRef list[64];
    unsigned count = LLVMGetAttributeCountAtIndex(from, LLVMAttributeFunctionIndex);
    if (count > ARRAY_LEN(list))
        return;
    LLVMGetAttributesAtIndex(from, LLVMAttributeFunctionIndex, list);
    for (unsigned i = 0; i < count; i++)
        LLVMAddAttributeAtIndex(to, LLVMAttributeFunctionIndex, list[i]);
}

static void mark_state(Raise *r, LLVMValueRef fn, unsigned index) {
    const struct {
        const char *name;
        u64 value;
    } marks[] = {{"noalias", 0}, {"nonnull", 0}, {"align", 64}, {"dereferenceable", r->isa->state_bytes}};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        LLVMAddAttributeAtIndex(fn, index, raise_attribute(r, marks[i].name, marks[i].value));
}

static void declare(Raise *r, RaiseFunction *f) {
    Reg list[REG_MAX + 1];
    f->type = raise_function_type(r, &f->taken, &f->given);
    f->raised = LLVMAddFunction(r->mod, "", f->type);
    LLVMSetLinkage(f->raised, LLVMInternalLinkage);
    copy_attributes(f->raised, f->plain);
    raise_mark_function(r, f->raised);
    mark_state(r, f->raised, LLVMCountParams(f->raised));
    u32 seen;
    if (!map64_get(&r->types, (u64)f->type, &seen))
        map64_set(&r->types, (u64)f->type, 1);
    r->counts.signatures = r->types.len;
    r->counts.arguments += raise_params(r, &f->taken, list);
    r->counts.results += raise_results(r, &f->given, list);
}

/* ---------------------------------------------------------------------------------------------------------- registers */

enum { VAR_ALIGN_MAX = 16 }; /* of frames: raise_mark_function() */

static LLVMValueRef align_var(LLVMValueRef v) {
    if (LLVMGetAlignment(v) > VAR_ALIGN_MAX)
        LLVMSetAlignment(v, VAR_ALIGN_MAX);
    return v;
}

/* What a register has at the beginning that nobody hands over: some value, the same whenever it is looked at. A register that
 * is only stored and loaded again needs not even that. */
static void begin_var(Rewriter *w, Reg reg, LLVMValueRef var, LLVMTypeRef type) {
    if (w->r->isa->regs[reg].kind == REG_FLAG)
        align_var(LLVMBuildStore(w->head, LLVMConstNull(type), var));
    else if (!regset_has(&w->r->isa->abi.kept, reg))
        align_var(LLVMBuildStore(w->head, LLVMBuildFreeze(w->head, LLVMGetPoison(type), ""), var));
}

static LLVMValueRef new_var(Rewriter *w, Reg reg) {
    return align_var(LLVMBuildAlloca(w->head, raise_reg_type(w->r, reg), ""));
}

static LLVMValueRef var_of(Rewriter *w, Reg reg) {
    if (w->var[reg])
        return w->var[reg];
    LLVMTypeRef type = raise_reg_type(w->r, reg);
    w->var[reg] = new_var(w, reg);
    begin_var(w, reg, w->var[reg], type);
    return w->var[reg];
}

LLVMValueRef rewrite_get(Rewriter *w, Reg reg) {
    return align_var(LLVMBuildLoad2(w->b, raise_reg_type(w->r, reg), var_of(w, reg), ""));
}

void rewrite_set(Rewriter *w, Reg reg, LLVMValueRef v) {
    align_var(LLVMBuildStore(w->b, v, var_of(w, reg)));
}

LLVMValueRef rewrite_offset(Rewriter *w, LLVMBuilderRef b, LLVMValueRef p, u64 off) {
    LLVMValueRef index = LLVMConstInt(LLVMInt64TypeInContext(w->r->ctx), off, false);
    return off ? LLVMBuildGEP2(b, LLVMInt8TypeInContext(w->r->ctx), p, &index, 1, "") : p;
}

static LLVMValueRef place_of(Rewriter *w, Reg reg) {
    return raise_place(w->r, w->b, w->cpu, reg);
}

void rewrite_spill(Rewriter *w, const RegSet *set) {
    for (Reg reg = 0; reg < w->r->isa->reg_count; reg++)
        if (regset_has(set, reg))
            LLVMBuildStore(w->b, rewrite_get(w, reg), place_of(w, reg));
}

void rewrite_fill(Rewriter *w, const RegSet *these) {
    for (Reg reg = 0; reg < w->r->isa->reg_count; reg++)
        if (regset_has(these, reg))
            rewrite_set(w, reg, LLVMBuildLoad2(w->b, raise_reg_type(w->r, reg), place_of(w, reg), ""));
}

/* -------------------------------------------------------------------------------------------------------------- calls */

/* A helper that works on the whole state: of that, what the function has to do with. */
static void surround_helper(Rewriter *w, LLVMValueRef call) {
    RegSet all = {0};
    for (Reg reg = 0; reg < w->r->isa->reg_count; reg++)
        if (regset_has(&w->f->written, reg) || regset_has(&w->f->taken, reg) || w->r->isa->regs[reg].kind == REG_FLAG ||
            regset_has(&w->r->isa->abi.passed, reg) || regset_has(&w->r->isa->abi.kept, reg))
            regset_add(&all, reg);
    LLVMPositionBuilderBefore(w->b, call);
    rewrite_spill(w, &all);
    LLVMPositionBuilderBefore(w->b, LLVMGetNextInstruction(call));
    regset_remove(&all, w->r->isa->abi.stack);
    rewrite_fill(w, &all);
}

/* The assembly that makes system calls has their registers in the state. */
static void surround_system_call(Rewriter *w, LLVMValueRef call) {
    const HostRaise *host = w->r->host->raise;
    RegSet in = {0}, out = {0};
    for (u32 i = 0; i < host->system_call_reg_count; i++)
        regset_add(&in, host->system_call_regs[i]);
    regset_add(&out, host->system_call_regs[0]);
    LLVMPositionBuilderBefore(w->b, call);
    rewrite_spill(w, &in);
    LLVMPositionBuilderBefore(w->b, LLVMGetNextInstruction(call));
    rewrite_fill(w, &out);
}

static void replace_call(Rewriter *w, const Event *e) {
    LLVMValueRef callee = LLVMGetCalledValue(e->at);
    if (e->kind == EVENT_WHOLE) {
        surround_helper(w, e->at);
        return;
    }
    if (e->kind == EVENT_SYSTEM) {
        surround_system_call(w, e->at);
        return;
    }
    LLVMPositionBuilderBefore(w->b, e->at);
    rewrite_begin_throwing(w, e->at);
    rewrite_call(w, e, e->kind == EVENT_OUT ? LLVMGetOperand(callee, 1) : NULL);
    rewrite_end_throwing(w, e->at);
    if (e->kind == EVENT_OUT && !LLVMGetFirstUse(callee))
        LLVMInstructionEraseFromParent(callee);
}

static void replace_return(Rewriter *w, LLVMValueRef ret) {
    LLVMValueRef values[REG_MAX];
    Reg list[REG_MAX];
    unsigned count = raise_results(w->r, &w->f->given, list);
    LLVMPositionBuilderBefore(w->b, ret);
    for (unsigned i = 0; i < count; i++)
        values[i] =
            regset_has(&w->f->given, list[i]) ? rewrite_get(w, list[i]) : LLVMGetPoison(raise_reg_type(w->r, list[i]));
    if (!count)
        return;
    LLVMBuildAggregateRet(w->b, values, count);
    LLVMInstructionEraseFromParent(ret);
}

/* -------------------------------------------------------------------------------------------------------------- stops */

/* A function of the runtime that does not come back. */
static LLVMValueRef end_function(Raise *r, const char *name, LLVMTypeRef first, LLVMTypeRef *type) {
    LLVMTypeRef word = LLVMInt64TypeInContext(r->ctx), params[] = {first, word, word};
    LLVMValueRef fn = LLVMGetNamedFunction(r->mod, name);
    *type = LLVMFunctionType(LLVMVoidTypeInContext(r->ctx), params, 3, false);
    if (fn)
        return fn;
    fn = LLVMAddFunction(r->mod, name, *type);
    LLVMSetVisibility(fn, LLVMHiddenVisibility);
    for (const char *const *a = (const char *const[]){"noreturn", "nounwind", "cold", NULL}; *a; a++)
        LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, raise_attribute(r, *a, 0));
    return fn;
}

/* The address in the file; `pc` is one of the image at run time. */
static LLVMValueRef place_in_file(Rewriter *w, LLVMValueRef pc) {
    LLVMTypeRef word = LLVMInt64TypeInContext(w->r->ctx);
    LLVMValueRef image = LLVMConstPtrToInt(LLVMGetNamedGlobal(w->r->mod, RAISE_IMAGE), word);
    LLVMValueRef start = LLVMConstInt(word, w->r->extent.start, false);
    return LLVMBuildAdd(w->b, LLVMBuildSub(w->b, pc, image, ""), start, "");
}

/* Ends the program here, with a message. */
static void build_stop(Rewriter *w, const char *text, LLVMValueRef pc) {
    Raise *r = w->r;
    LLVMTypeRef type, word = LLVMInt64TypeInContext(r->ctx);
    LLVMValueRef fn = end_function(r, RAISE_STOP, LLVMPointerTypeInContext(r->ctx, 0), &type);
    LLVMValueRef where = place_in_file(w, pc);
    LLVMValueRef string = LLVMBuildGlobalString(w->b, text, "lathe_stop");
    LLVMSetVisibility(string, LLVMDefaultVisibility);
    LLVMValueRef args[] = {string, LLVMConstInt(word, strlen(text), false), where};
    LLVMBuildCall2(w->b, type, fn, args, 3, "");
}

/* What the program's machine sends its programs there, as the host does not. False: nothing. */
static bool signal_of_trap(LatheTrap trap, u64 *number, u64 *code) {
    *number = trap == LATHE_TRAP_DIVIDE ? SIGFPE : trap == LATHE_TRAP_BREAK ? SIGTRAP : SIGILL;
    *code = trap == LATHE_TRAP_DIVIDE ? FPE_INTDIV : trap == LATHE_TRAP_BREAK ? SI_KERNEL : ILL_ILLOPN;
    return trap == LATHE_TRAP_DIVIDE || trap == LATHE_TRAP_BREAK || trap == LATHE_TRAP_UNDEFINED;
}

static void build_signal(Rewriter *w, u64 number, u64 code, LLVMValueRef pc) {
    LLVMTypeRef type, word = LLVMInt64TypeInContext(w->r->ctx);
    LLVMValueRef fn = end_function(w->r, RAISE_SIGNAL, word, &type);
    LLVMValueRef args[] = {LLVMConstInt(word, number, false), LLVMConstInt(word, code, false), place_in_file(w, pc)};
    LLVMBuildCall2(w->b, type, fn, args, 3, "");
}

/* On the own machine, an instruction that traps in the same way. */
static void build_trap(Rewriter *w, const char *code) {
    const char *lost = w->r->host->raise->trap_lost;
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(w->r->ctx), NULL, 0, false);
    LLVMValueRef trap =
        LLVMGetInlineAsm(type, code, strlen(code), lost, strlen(lost), true, false, LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(w->b, type, trap, NULL, 0, "");
}

static const char *text_of_trap(LatheTrap trap) {
    switch (trap) {
    case LATHE_TRAP_NONE:
    case LATHE_TRAP_FAULT:
    case LATHE_TRAP_INSIDE:
    case LATHE_TRAP_ROUNDING:
    case LATHE_TRAP_DIVIDE: /* these become signals */
    case LATHE_TRAP_UNDEFINED:
        break;
    case LATHE_TRAP_UNSUPPORTED:
        return "an instruction that cannot be raised";
    case LATHE_TRAP_BREAK:
        return "a breakpoint";
    case LATHE_TRAP_PRIVILEGED:
        return "a privileged instruction";
    case LATHE_TRAP_UNREADABLE:
        return "code that cannot be read";
    case LATHE_TRAP_SYSCALL:
    case LATHE_TRAP_INTERRUPT:
        return "a software interrupt";
    case LATHE_TRAP_MISALIGNED:
        return "an address that is not aligned";
    }
    return "a place that cannot be raised";
}

/* The pc that is stored behind `in`, in the same block. */
static LLVMValueRef pc_stored_behind(Rewriter *w, LLVMValueRef in) {
    for (; in; in = LLVMGetNextInstruction(in)) {
        u64 off;
        if (LLVMIsAStoreInst(in) && raise_state_offset(w->old_cpu, LLVMGetOperand(in, 1), &off) &&
            off == w->r->isa->pc_off)
            return LLVMGetOperand(in, 0);
    }
    return LLVMConstInt(LLVMInt64TypeInContext(w->r->ctx), 0, false);
}

static void stop_at_trap(Rewriter *w, LLVMValueRef store) {
    u64 off, trap;
    if (!raise_state_offset(w->old_cpu, LLVMGetOperand(store, 1), &off) || off != w->r->isa->trap_off)
        return;
    trap = LLVMIsAConstantInt(LLVMGetOperand(store, 0)) ? LLVMConstIntGetZExtValue(LLVMGetOperand(store, 0)) : 0;
    u64 number, code;
    LLVMPositionBuilderBefore(w->b, store);
    if (w->r->foreign && signal_of_trap((LatheTrap)trap, &number, &code))
        build_signal(w, number, code, pc_stored_behind(w, store));
    else if (!w->r->foreign && (trap == LATHE_TRAP_UNDEFINED || trap == LATHE_TRAP_DIVIDE))
        build_trap(w, trap == LATHE_TRAP_DIVIDE ? w->r->host->raise->divides : w->r->host->raise->traps);
    else
        build_stop(w, text_of_trap((LatheTrap)trap), pc_stored_behind(w, store));
}

static void stop_nowhere(Rewriter *w, LLVMValueRef call) {
    LLVMValueRef before = LLVMGetPreviousInstruction(call), pc = NULL;
    u64 off;
    for (; before && !pc; before = LLVMGetPreviousInstruction(before))
        if (LLVMIsAStoreInst(before) && raise_state_offset(w->old_cpu, LLVMGetOperand(before, 1), &off) &&
            off == w->r->isa->pc_off)
            pc = LLVMGetOperand(before, 0);
    LLVMPositionBuilderBefore(w->b, call);
    build_stop(w, "no code is there", pc ? pc : LLVMConstInt(LLVMInt64TypeInContext(w->r->ctx), 0, false));
    LLVMInstructionEraseFromParent(call);
}

/* ---------------------------------------------------------------------------------------------------------- functions */

static void move_blocks(Rewriter *w) {
    LLVMBasicBlockRef b;
    while ((b = LLVMGetFirstBasicBlock(w->f->plain))) {
        LLVMRemoveBasicBlockFromParent(b);
        LLVMAppendExistingBasicBlock(w->f->raised, b);
    }
}

static void store_arguments(Rewriter *w) {
    Reg list[REG_MAX + 1];
    unsigned count = raise_params(w->r, &w->f->taken, list);
    for (unsigned i = 0; i < count; i++)
        if (regset_has(&w->f->taken, list[i])) {
            w->var[list[i]] = new_var(w, list[i]);
            align_var(LLVMBuildStore(w->head, LLVMGetParam(w->f->raised, i), w->var[list[i]]));
        }
    w->cpu = LLVMGetParam(w->f->raised, count);
    w->pc = LLVMBuildAlloca(w->head, LLVMInt64TypeInContext(w->r->ctx), "");
}

/* Returns, and stores of traps, and calls that lead nowhere. */
static void collect(Rewriter *w, Values *returns, Values *stores, Values *nowhere) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(w->f->plain); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) {
            if (LLVMIsAReturnInst(in))
                VEC_PUSH(returns, in);
            else if (LLVMIsAStoreInst(in))
                VEC_PUSH(stores, in);
            else if (LLVMIsACallInst(in) && LLVMGetCalledValue(in) == w->r->nowhere)
                VEC_PUSH(nowhere, in);
        }
}

/* ------------------------------------------------------------------------------------------------------------ waiting */

/* A loop may wait for what another thread or a signal handler writes, and its load must stay in it. Such are taken to be loads from
 * fixed places of the image, which the program's own compiler would have moved out of loops if it could, and loads from one place
 * in a loop of a few blocks that do nothing but load. */
enum { QUIET_MAX = 8 };

static bool is_fixed_place(LLVMValueRef p) {
    return LLVMIsAConstantExpr(p) || LLVMIsAGlobalVariable(p);
}

bool raise_image_address(const Raise *r, LLVMValueRef v, u64 *address) {
    if (LLVMIsAGlobalVariable(v)) {
        size_t size;
        *address = r->extent.start;
        return !strcmp(LLVMGetValueName2(v, &size), RAISE_IMAGE);
    }
    if (!LLVMIsAConstantExpr(v))
        return false;
    LLVMOpcode op = LLVMGetConstOpcode(v);
    if (op == LLVMIntToPtr)
        return raise_constant_address(r, LLVMGetOperand(v, 0), address);
    if (op == LLVMPtrToInt)
        return raise_image_address(r, LLVMGetOperand(v, 0), address);
    if ((op != LLVMGetElementPtr && op != LLVMAdd) || LLVMGetNumOperands(v) != 2 ||
        !LLVMIsAConstantInt(LLVMGetOperand(v, 1)) || !raise_image_address(r, LLVMGetOperand(v, 0), address))
        return false;
    *address += LLVMConstIntGetZExtValue(LLVMGetOperand(v, 1));
    return true;
}

bool raise_constant_address(const Raise *r, LLVMValueRef v, u64 *address) {
    if (!LLVMIsAConstantInt(v))
        return raise_image_address(r, v, address);
    if (r->extent.position_independent || LLVMGetIntTypeWidth(LLVMTypeOf(v)) != 64)
        return false;
    *address = LLVMConstIntGetZExtValue(v);
    return *address - r->extent.start < r->extent.end - r->extent.start;
}

static bool is_constant_place(const Raise *r, LLVMValueRef p) {
    u64 address;
    u8 byte;
    return raise_image_address(r, p, &address) && elf_read_const(r->elf, address, &byte, 1);
}

static bool only_loads(LLVMBasicBlockRef b) {
    for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
        if (LLVMIsAStoreInst(in) ||
            (LLVMIsACallInst(in) && !LLVMIsAInlineAsm(LLVMGetCalledValue(in)) && !raise_is_tool_add(in)))
            return false;
    return true;
}

/* The blocks of loops through one block that do nothing but load; none: there is no such loop. */
typedef struct Quiet {
    LLVMBasicBlockRef blocks[QUIET_MAX];
    int count;
} Quiet;

static bool is_among(const Quiet *q, LLVMBasicBlockRef b) {
    for (int i = 0; i < q->count; i++)
        if (q->blocks[i] == b)
            return true;
    return false;
}

/* Follows ways from `from` that only load; true if one comes back to `b`. */
static bool comes_back(Quiet *q, LLVMBasicBlockRef from, LLVMBasicBlockRef b) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
    bool back = false;
    if (q->count == QUIET_MAX || is_among(q, from) || !only_loads(from))
        return false;
    q->blocks[q->count++] = from;
    for (unsigned i = 0; end && i < LLVMGetNumSuccessors(end); i++)
        back |= LLVMGetSuccessor(end, i) == b || comes_back(q, LLVMGetSuccessor(end, i), b);
    return back;
}

/* Is it the same value each time round, even if it is computed again and again? */
static bool is_same_value(const Quiet *q, LLVMValueRef v, int depth) {
    if (!LLVMIsAInstruction(v) || !is_among(q, LLVMGetInstructionParent(v)))
        return true;
    if (!depth || !(LLVMIsAGetElementPtrInst(v) || LLVMIsABinaryOperator(v) || LLVMIsACastInst(v)))
        return false;
    for (int i = 0; i < LLVMGetNumOperands(v); i++)
        if (!is_same_value(q, LLVMGetOperand(v, (unsigned)i), depth - 1))
            return false;
    return true;
}

static void keep_waiting_loads(Rewriter *w) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(w->f->plain); b; b = LLVMGetNextBasicBlock(b)) {
        Quiet quiet = {0};
        bool waits = comes_back(&quiet, b, b);
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) {
            LLVMValueRef place = LLVMIsALoadInst(in) ? LLVMGetOperand(in, 0) : NULL;
            if (place && (is_fixed_place(place) || (waits && is_same_value(&quiet, place, 6))))
                LLVMSetVolatile(in, !is_constant_place(w->r, place));
        }
    }
}

/* A pointer into the state becomes one to a register's variable, where it leads to one. */
static LLVMValueRef pointer_for(Rewriter *w, LLVMValueRef old, u64 off) {
    Reg reg = raise_reg_at(w->r, off);
    if (off >= w->r->isa->pc_off && off < w->r->isa->pc_off + 8)
        return w->pc;
    if (reg == REG_NONE)
        return NULL;
    LLVMPositionBuilderBefore(w->b, old);
    return rewrite_offset(w, w->b, var_of(w, reg), off - w->r->isa->regs[reg].off_bytes);
}

static void replace_pointers(Rewriter *w) {
    Values users = {0};
    for (LLVMUseRef u = LLVMGetFirstUse(w->old_cpu); u; u = LLVMGetNextUse(u))
        VEC_PUSH(&users, LLVMGetUser(u));
    for (size_t i = 0; i < users.len; i++) {
        LLVMValueRef user = users.at[i], with = NULL;
        u64 off;
        if (LLVMIsAGetElementPtrInst(user) && raise_state_offset(w->old_cpu, user, &off))
            with = pointer_for(w, user, off);
        if (with)
            LLVMReplaceAllUsesWith(user, with);
        else if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == w->old_cpu)
            LLVMSetOperand(user, 1, w->pc);
        else if (LLVMIsALoadInst(user))
            LLVMSetOperand(user, 0, w->pc);
    }
    VEC_FREE(&users);
    LLVMReplaceAllUsesWith(w->old_cpu, w->cpu);
}

static void rewrite(Raise *r, RaiseFunction *f) {
    Values returns = {0}, stores = {0}, nowhere = {0};
    Rewriter w = {.r = r, .f = f, .old_cpu = LLVMGetParam(f->plain, 0)};
    LLVMBasicBlockRef first = LLVMGetFirstBasicBlock(f->plain),
                      head = LLVMAppendBasicBlockInContext(r->ctx, f->raised, "head");
    w.b = LLVMCreateBuilderInContext(r->ctx);
    w.head = LLVMCreateBuilderInContext(r->ctx);
    LLVMPositionBuilderAtEnd(w.head, head);
    collect(&w, &returns, &stores, &nowhere);
    keep_waiting_loads(&w);
    store_arguments(&w);
    move_blocks(&w);
    for (size_t i = 0; i < stores.len; i++)
        stop_at_trap(&w, stores.at[i]);
    for (size_t i = 0; i < nowhere.len; i++)
        stop_nowhere(&w, nowhere.at[i]);
    for (size_t i = 0; i < f->events.len; i++)
        if (f->events.at[i].at)
            replace_call(&w, &f->events.at[i]);
    for (size_t i = 0; i < returns.len; i++)
        replace_return(&w, returns.at[i]);
    replace_pointers(&w);
    LLVMBuildBr(w.head, first);
    LLVMDisposeBuilder(w.b);
    LLVMDisposeBuilder(w.head);
    VEC_FREE(&returns);
    VEC_FREE(&stores);
    VEC_FREE(&nowhere);
}

void raise_promote(Raise *r) {
    for (size_t i = 0; i < r->functions.len; i++)
        if (r->functions.at[i].plain)
            declare(r, &r->functions.at[i]);
    for (size_t i = 0; i < r->functions.len; i++)
        if (r->functions.at[i].plain)
            rewrite(r, &r->functions.at[i]);
    for (size_t i = 0; i < r->functions.len; i++) {
        RaiseFunction *f = &r->functions.at[i];
        if (!f->plain)
            continue;
        size_t len;
        char *name = arena_printf(&r->arena, "%s", LLVMGetValueName2(f->plain, &len));
        LLVMReplaceAllUsesWith(f->plain, LLVMGetUndef(LLVMTypeOf(f->plain)));
        LLVMDeleteFunction(f->plain);
        f->plain = NULL;
        LLVMSetValueName2(f->raised, name, len);
    }
}
