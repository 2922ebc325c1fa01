/* lift.c: see lift.h.
 *
 * Functions of the program and its own libraries are lifted. These stay machine code: the C library and similar libraries (unless the
 * configuration wants them lifted), recursive calls, functions with instructions that the lifter does not know, and what exceeds the
 * limits below. */
#include "binopt/llvm/lift/lift.h"

#include <stdio.h>

#include "binopt/llvm/lift/callout.h"
#include "binopt/llvm/lift/depth.h"
#include "binopt/llvm/lift/stack_use.h"
#include "binopt/llvm/lift/written.h"
#include "binopt/process/object.h"
#include "binopt/process/unwind.h"
#include "isa/x86_64/x86_64.h"
#include "lift/func.h"

enum { MAX_INSNS_PER_FUNCTION = 4000, MAX_INSNS = 12000, MAX_INLINED = 6000, MAX_DEPTH = 16 };
enum { MAX_THUNK_INSNS = 8, THUNK_DEPTH = 2 };

static Val refuse(LlvmUnit *u, const char *why) {
    u->why = why;
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------- for the lifter */

/* Reads code, and constants of jump tables. */
static size_t read_constant(void *user, u64 addr, void *buf, size_t size) {
    LlvmUnit *u = user;
    const Mapping *m = maps_find(&u->maps, addr);
    if (!m || !m->read || (m->write && !m->exec))
        return 0;
    return maps_read(addr, buf, size < m->end - addr ? size : m->end - addr);
}

static bool never_returns(void *user, u64 callee) {
    const LlvmUnit *u = user;
    return maps_find(&u->maps, callee) && object_never_returns(callee);
}

/* The function that is being lifted now. */
static Lifted *lifting(LlvmUnit *u) {
    return &u->lifting.at[u->lifting.len - 1];
}

static bool is_lifting(const LlvmUnit *u, u64 pc) {
    for (size_t i = 0; i < u->lifting.len; i++)
        if (u->lifting.at[i].pc == pc)
            return true;
    return false;
}

static bool wanted(const LlvmUnit *u, u64 pc) {
    const Mapping *m = maps_find(&u->maps, pc);
    return m && m->exec && (u->cfg->libraries || !object_is_library(pc));
}

/* The function that a call really reaches, behind linkage stubs. The result depends on the content of their slots,
 * which is recorded. */
static u64 skip_stub(LlvmUnit *u, u64 pc) {
    u64 to, target = object_skip_stub(pc), slot = target != pc ? object_stub_slot(pc) : 0;
    if (slot && maps_read(slot, &to, sizeof(to)) == sizeof(to))
        depends_add(&u->depends, slot, &to, sizeof(to));
    return target;
}

/* If the callee is one that cannot be called from specialised code, gives the whole specialisation up. */
static void refuse_unusual(LlvmUnit *u, u64 callee) {
    const char *name = object_unusual(callee);
    if (name)
        u->hopeless = arena_printf(&u->arena, "it calls %s, which returns twice or changes its caller's stack", name);
}

/* A function that calls one which changes its return address may be a thunk, like `__llvm_retpoline_r11`: its callers
 * pass it the target of a jump, in a register that is not used for arguments. Code that calls a thunk is left to the
 * original. */
enum { ASTRAY_ITSELF = 1, ASTRAY_THUNK };

/* For a direct call or jump out of the function: returns the lifted callee, or a call out to it. */
static Val resolve(void *user, u64 pc) {
    LlvmUnit *u = user;
    bool stub = object_is_stub(pc);
    refuse_unusual(u, pc);
    u64 target = skip_stub(u, pc);
    if (stub && target == pc)
        return u->leave[CALL_ABI];
    Val lifted = wanted(u, target) && !is_lifting(u, target) ? lift_function(u, target) : NULL;
    u32 how;
    if (map64_get(&u->astray, target, &how)) {
        lifting(u)->calls_astray = true;
        lifting(u)->is_thunk |= how == ASTRAY_ITSELF;
    }
    return lifted ? lifted : u->leave[stub ? CALL_ABI : CALL_LOCAL];
}

/* -------------------------------------------------------------------------------------------------------------- lifting */

static LatheConfig config_of(LlvmUnit *u) {
    static const LatheTuning tuning = {
        .trusted_returns = true, .half_phis = true, .native_fs = true, .native_traps = true};
    return (LatheConfig){
        .arch = LATHE_ARCH_X86_64,
        .read_memory = read_constant,
        .user = u,
        .max_insns = MAX_INSNS_PER_FUNCTION,
        .never_returns = never_returns,
        .calls = LATHE_CALLS_RETURN,
        .resolve = resolve,
        .dispatch = u->leave[CALL_ABI],
        .lookup = u->lookup,
        .exact_unsupported = true,
        .tuning = &tuning,
    };
}

static void note_returns(LlvmUnit *u, const LatheFunc *fn) {
    for (size_t i = 0; i < fn->insns.len; i++)
        if (fn->insns.at[i].flow == FLOW_CALL)
            map64_set(&u->returns, insn_end(&fn->insns.at[i]), 1);
}

static bool note_depends(LlvmUnit *u, LatheFunc *fn) {
    const LatheRange *ranges;
    size_t count = lathe_func_ranges(fn, &ranges);
    u8 bytes[256];
    for (size_t i = 0; i < count; i++)
        for (u64 at = ranges[i].start, size; at < ranges[i].end; at += size) {
            size = ranges[i].end - at < sizeof(bytes) ? ranges[i].end - at : sizeof(bytes);
            if (maps_read(at, bytes, size) < size)
                return false;
            depends_add(&u->depends, at, bytes, size);
        }
    return true;
}

/* Finds the instruction that loads the address of a TLS descriptor into rax, which a call through that address follows somewhere: the code relies on
 * registers that other calls do not keep. NULL: there is none. */
static const Insn *find_tls_descriptor(const LatheFunc *fn) {
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        const Operand *to = &in->op[0], *from = &in->op[1];
        bool loads_address = !strcmp(fn->isa->row_name(in->row), "lea") && to->no == RAX && from->base == REG_PC;
        if (loads_address && object_is_tls_descriptor((u64)from->disp))
            return in;
    }
    return NULL;
}

static Val refuse_problem(LlvmUnit *u, const LatheFunc *fn) {
    LatheProblem p = lathe_func_problem(fn);
    return refuse(u, arena_printf(&u->arena, "%s at %#llx", p.text, (unsigned long long)p.pc));
}

/* Refuses because of `why`, and names the instruction. */
static Val refuse_insn(LlvmUnit *u, const LatheFunc *fn, const Insn *in, const char *why) {
    char text[128] = "";
    lathe_disassemble(&fn->cfg, in->pc, text, sizeof(text));
    return refuse(u, arena_printf(&u->arena, "%s: %s at %#llx", why, text, (unsigned long long)in->pc));
}

/* Finds an instruction of the specialised function that uses an argument on the stack beyond the declared ones. NULL:
 * there is none. */
static const Insn *find_undeclared(const LlvmUnit *u, const LatheFunc *fn) {
    const CallAbi *abi = &u->isa->abi;
    u32 ints = 0, floats = 0;
    for (size_t i = 0; i < u->cfg->params.len; i++)
        config_type_is_float(u->cfg->params.at[i].type) ? floats++ : ints++;
    u32 on_stack = (ints > abi->int_arg_count ? ints - abi->int_arg_count : 0) +
                   (floats > abi->float_arg_count ? floats - abi->float_arg_count : 0);
    return depth_find_above(fn, abi->return_address_bytes + 8 * (i64)on_stack);
}

static Val try_lifting(LlvmUnit *u, LatheFunc *fn, u64 pc) {
    if (lathe_func_decode_cfg(fn, pc) != LATHE_OK || lathe_func_problem(fn).status != LATHE_OK)
        return refuse_problem(u, fn);
    const char *problem = depth_check(fn, &lifting(u)->astray);
    if (problem)
        return refuse(u, problem);
    bool may_be_thunk = fn->insns.len <= MAX_THUNK_INSNS; /* this has to be known whatever the limits are */
    if (u->lifting.len > MAX_DEPTH + (may_be_thunk ? THUNK_DEPTH : 0))
        return refuse(u, "its calls are nested too deep");
    u->insns += fn->insns.len;
    lifting(u)->insns = fn->insns.len;
    if (u->insns > MAX_INSNS && !may_be_thunk)
        return refuse(u,
                      arena_printf(&u->arena, "it has more than %d instructions with those that it calls", MAX_INSNS));
    const Insn *odd = NULL;
    problem = stack_use_check(fn, &u->stack_bytes, &odd);
    if (problem)
        return refuse_insn(u, fn, odd, problem);
    if ((odd = find_tls_descriptor(fn)))
        return refuse_insn(u, fn, odd, "it finds a thread-local variable by a call with a convention of its own");
    if (unwind_handles(pc))
        return refuse(u, arena_printf(&u->arena, "the function at %#llx catches exceptions or cleans up after them",
                                      (unsigned long long)pc));
    bool itself = u->lifting.len == 1 && pc == u->cfg->function;
    if (itself && (odd = find_undeclared(u, fn)))
        return refuse_insn(u, fn, odd, "it uses an argument on the stack that its type does not have");
    if (itself)
        u->results = written_results(u->cfg, fn);
    note_returns(u, fn);
    if (!note_depends(u, fn))
        return refuse(u, arena_printf(&u->arena, "the code at %#llx cannot be read", (unsigned long long)pc));
    char name[40];
    snprintf(name, sizeof(name), "code_%llx", (unsigned long long)pc);
    Val lifted = lathe_func_lift(fn, name);
    if (lifting(u)->calls_astray)
        return refuse(u, "it calls a function that changes its return address");
    return lifted ? lifted : refuse_problem(u, fn);
}

/* A fault of the guest becomes a fault of the host, at another address. */
static void build_trap(LlvmUnit *u, LatheTrap trap) {
    Lifter *l = &u->l;
    if (trap == LATHE_TRAP_DIVIDE)
        ir_asm(l, l->host->divide_fault.text, l->host->divide_fault.constraints, 0, NULL, 0);
    else
        ir_intrinsic(l, "llvm.trap", NULL, 0, NULL, 0);
    LLVMBuildUnreachable(l->b);
}

static Val build_entry(LlvmUnit *u, Val lifted, u64 pc) {
    Lifter *l = &u->l;
    char name[40];
    snprintf(name, sizeof(name), "entry_%llx", (unsigned long long)pc);
    Val entry = l->fn = LLVMAddFunction(u->mod, name, LLVMGlobalGetValueType(lifted)), state = LLVMGetParam(entry, 0);
    Label first = ir_label(l, "entry"), done = ir_label(l, ""), divide = ir_label(l, ""), other = ir_label(l, "");
    ir_here(l, first);
    Val trap = ir_offset(l, state, u->isa->trap_off);
    ir_store(l, ir_int(l, I32, LATHE_TRAP_NONE), trap, 4, SPACE_STATE);
    ir_store(l, ir_int(l, I8, 0), ir_offset(l, state, u->isa->regs[DF].off_bytes), 1, SPACE_STATE);
    ir_call(l, lifted, &state, 1);
    Val which = LLVMBuildSwitch(l->b, ir_load(l, I32, trap, 4, SPACE_STATE), other, 2);
    LLVMAddCase(which, ir_int(l, I32, LATHE_TRAP_NONE), done);
    LLVMAddCase(which, ir_int(l, I32, LATHE_TRAP_DIVIDE), divide);
    ir_here(l, divide);
    build_trap(u, LATHE_TRAP_DIVIDE);
    ir_here(l, other);
    build_trap(u, LATHE_TRAP_UNDEFINED);
    ir_here(l, done);
    LLVMBuildRetVoid(l->b);
    for (int i = 0; i < 2; i++) {
        ir_attribute(l, i ? entry : lifted, OF_FUNCTION, "alwaysinline", 0);
        LLVMSetLinkage(i ? entry : lifted, LLVMInternalLinkage);
    }
    return entry;
}

/* The builder works on one function at a time: a function that is lifted meanwhile gets its own builder. */
static Lifted lift_new(LlvmUnit *u, u64 pc) {
    VEC_PUSH(&u->lifting, (Lifted){.pc = pc});
    LatheConfig cfg = config_of(u);
    LatheFunc *fn = lathe_func_new(u->mod, &cfg);
    Val lifted = try_lifting(u, fn, pc);
    lathe_func_free(fn);
    Lifted made = u->lifting.at[--u->lifting.len];
    if (lifted)
        made.entry = build_entry(u, lifted, pc);
    return made;
}

/* Each call becomes a copy of the callee. If functions call others several times, that is soon too much. */
static Val inline_into(LlvmUnit *u, const Lifted *f) {
    size_t *total = u->lifting.len ? &lifting(u)->insns : &u->inlined;
    if (*total + f->insns > MAX_INLINED)
        return refuse(u, arena_printf(&u->arena, "it would become more than %d instructions", MAX_INLINED));
    *total += f->insns;
    return f->entry;
}

Val lift_function(LlvmUnit *u, u64 pc) {
    u32 index;
    if (!u->lookup)
        callout_declare(u);
    if (!map64_get(&u->lifted, pc, &index)) {
        Lifted made = lift_new(u, pc);
        if (made.entry)
            VEC_PUSH(&u->functions, made);
        if (made.astray || made.is_thunk)
            map64_set(&u->astray, pc, made.astray ? ASTRAY_ITSELF : ASTRAY_THUNK);
        index = made.entry ? (u32)u->functions.len : 0;
        map64_set(&u->lifted, pc, index);
    }
    return index ? inline_into(u, &u->functions.at[index - 1]) : NULL;
}

bool lift_has_stack_arguments(LlvmUnit *u, u64 pc) {
    u32 known;
    pc = object_stub_target(skip_stub(u, pc));
    if (map64_get(&u->stack_arguments, pc, &known))
        return known;
    LatheConfig cfg = config_of(u);
    LatheFunc *fn = lathe_func_new(u->mod, &cfg);
    bool has = lathe_func_decode_cfg(fn, pc) != LATHE_OK || lathe_func_problem(fn).status != LATHE_OK ||
               depth_has_stack_arguments(fn) || !note_depends(u, fn);
    lathe_func_free(fn);
    map64_set(&u->stack_arguments, pc, has);
    return has;
}

void lift_forget(LlvmUnit *u) {
    map64_free(&u->lifted);
    u->functions.len = 0;
    u->lookup = NULL;
    callout_find(u);
}

/* ------------------------------------------------------------------------------------------------- calls that are known */

/* The target of a computed call, behind linkage stubs. Returns false if it is not known. */
static bool known_target(LlvmUnit *u, Val call, u64 *pc) {
    if (!ir_is_const(callout_pc(call), pc))
        return false;
    *pc = skip_stub(u, *pc);
    return true;
}

static bool resolve_call(LlvmUnit *u, Val call) {
    CallShape shape;
    u64 pc;
    if (!callout_is(u, call, &shape) || shape != CALL_ABI || !known_target(u, call, &pc))
        return false;
    refuse_unusual(u, pc);
    Val lifted = wanted(u, pc) && !object_is_stub(pc) ? lift_function(u, pc) : NULL;
    if (!lifted)
        return false;
    callout_replace(u, call, shape, lifted);
    return true;
}

bool lift_known_callouts(LlvmUnit *u) {
    bool changed = false;
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b), next; in; in = next) {
            next = LLVMGetNextInstruction(in);
            changed |= resolve_call(u, in);
        }
    return changed;
}

/* ------------------------------------------------------------------------------------------------ calls that are likely known */

enum { MAX_SOURCES = 16 };

/* The functions that a pointer may point to. If there are several, none is likely. */
typedef struct Likely {
    u64 pc;
    u32 count, seen_count;
    Val seen[MAX_SOURCES];
} Likely;

static void note_likely(LlvmUnit *u, Likely *k, u64 pc) {
    if (!wanted(u, pc) || (k->count && k->pc == pc))
        return;
    k->pc = pc;
    k->count++;
}

/* Finds constant addresses of functions that are stored, or merged with values that are stored and loaded. Return
 * addresses do not count. */
static Likely kept_addresses(LlvmUnit *u) {
    Likely k = {0};
    u64 pc;
    u32 known;
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) {
            unsigned count = LLVMIsAStoreInst(in) ? 1 : LLVMIsAPHINode(in) ? LLVMCountIncoming(in) : 0;
            for (unsigned i = 0; i < count; i++)
                if (ir_is_const(LLVMGetOperand(in, i), &pc) && !map64_get(&u->returns, pc, &known))
                    note_likely(u, &k, pc);
        }
    return k;
}

static void look_back(LlvmUnit *u, Val v, const Likely *kept, Likely *k) {
    u64 pc;
    for (u32 i = 0; i < k->seen_count; i++)
        if (k->seen[i] == v)
            return;
    if (ir_is_const(v, &pc)) {
        note_likely(u, k, pc);
    } else if (LLVMIsALoadInst(v) && kept->count == 1) {
        note_likely(u, k, kept->pc);
    } else if ((LLVMIsAPHINode(v) || LLVMIsASelectInst(v)) && k->seen_count < MAX_SOURCES) {
        k->seen[k->seen_count++] = v;
        for (unsigned i = LLVMIsAPHINode(v) ? 0 : 1, n = (unsigned)LLVMGetNumOperands(v); i < n; i++)
            look_back(u, LLVMGetOperand(v, i), kept, k);
    }
}

static bool guess_call(LlvmUnit *u, Val call, const Likely *kept) {
    CallShape shape;
    u64 pc;
    Likely k = {0};
    if (!callout_is(u, call, &shape) || shape != CALL_ABI || ir_is_const(callout_pc(call), &pc))
        return false;
    look_back(u, callout_pc(call), kept, &k);
    Val lifted = k.count == 1 ? lift_function(u, k.pc) : NULL;
    if (!lifted)
        return false;
    callout_guess(u, call, shape, k.pc, lifted);
    return true;
}

bool lift_likely_callouts(LlvmUnit *u) {
    if (u->guessed)
        return false;
    u->guessed = true;
    bool changed = false;
    Likely kept = kept_addresses(u);
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b), next; in; in = next) {
            next = LLVMGetNextInstruction(in);
            changed |= guess_call(u, in, &kept);
        }
    return changed;
}
