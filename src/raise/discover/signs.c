/* signs.c: calls in object files that are raised for another machine, of functions that no header declares.
 *
 * Such a function may be another object's. Debug information tells what it takes; with --plain-calls it gets all registers that arguments can be in, which is right for integers, pointers and floating-point numbers. Machines have variable
 * arguments in different places; that a call has some shows where it hands over something in a register that has no argument, such as how many vector registers
 * are used. */
#include "lift/func.h"
#include "raise/prototypes.h"
#include "raise/raise.h"

/* A register that is handed over, and that no argument is in. */
static bool is_beside_arguments(const CallAbi *abi, Reg reg) {
    for (u32 i = 0; i < abi->int_arg_count; i++)
        if (abi->int_args[i] == reg)
            return false;
    return reg != abi->stack && regset_has(&abi->passed, reg);
}

/* The instruction before fn->insns.at[i], if control only goes on from there; NULL: there is none. */
static const Insn *before(const LatheFunc *fn, size_t i) {
    const Insn *in = i ? &fn->insns.at[i - 1] : NULL;
    return in && insn_end(in) == fn->insns.at[i].pc && in->flow == FLOW_NEXT ? in : NULL;
}

/* What an instruction does to a register: SET to a constant, or anything else. */
typedef enum Use { UNTOUCHED, SET, USED } Use;

static Use use_of(const Raise *r, const Insn *in, Reg reg) {
    enum { INSN_BYTES = 16 };
    u8 bytes[INSN_BYTES];
    InsnView view;
    Effect e = in->row ? r->isa->effect(in) : (Effect){0};
    if (e.kind == EFFECT_CONSTANT && e.to == reg)
        return SET;
    if (!r->isa->view(bytes, elf_read(r->elf, in->pc, bytes, sizeof(bytes)), in->pc, &view))
        return USED;
    return (view.reads | view.writes) >> reg & 1 ? USED : UNTOUCHED;
}

/* A constant was put there that nobody but the callee can read. */
static bool hands_over_beside(const Raise *r, const LatheFunc *fn, size_t call) {
    for (const Insn *in; (in = before(fn, call)); call--)
        for (Reg reg = 0; reg < 32; reg++) {
            Use use = is_beside_arguments(&r->isa->abi, reg) ? use_of(r, in, reg) : UNTOUCHED;
            if (use != UNTOUCHED)
                return use == SET;
        }
    return false;
}

/* The slot that a call loads its target from; 0: it is another call. */
static u64 slot_of(const Insn *in) {
    for (int i = 0; i < in->operand_count; i++)
        if (in->op[i].kind == OPERAND_MEM && in->op[i].base == REG_PC)
            return (u64)in->op[i].disp;
    return 0;
}

static bool is_own(Raise *r, const Insn *in, const char **name) {
    u64 slot = in->target ? 0 : slot_of(in);
    *name = in->target ? raise_import_at(r, in->target) : slot ? elf_imported_at(r->elf, slot) : NULL;
    return *name ? prototype_find(*name) != NULL : in->target != 0;
}

/* Or a jump to a stub at its end. */
static bool is_call(Raise *r, const Insn *in) {
    return in->flow == FLOW_CALL || (in->flow == FLOW_JUMP && in->target && raise_import_at(r, in->target));
}

void raise_check_calls(Raise *r, const LatheFunc *fn) {
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        const char *name;
        if (is_call(r, in) && !is_own(r, in, &name) && hands_over_beside(r, fn, i))
            raise_fail(r,
                       "0x%lx: it calls %s with what seem to be variable arguments, which machines have in different "
                       "places, and no header declares it",
                       in->pc, name ? name : "a function by its address");
    }
}
