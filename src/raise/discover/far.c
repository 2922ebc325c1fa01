/* far.c: addresses that code computes with more than one instruction, on machines where one is too short for them.
 *
 * Such are a constant to which another one is added later, and a load from the sum. What registers have is followed from each instruction to the next
 * one. Where jumps come from and lead to is not looked at: registers are taken to have what the code in front has left in them, and behind calls what these keep. An
 * address that is found too many costs a function that nobody calls. */
#include "lift/func.h"
#include "raise/raise.h"

typedef struct Known {
    bool is_known[REG_MAX], is_loaded[REG_MAX]; /* a constant; what is in memory at that address */
    u64 value[REG_MAX];
} Known;

static void forget(Known *k, Reg reg) {
    if (reg < REG_MAX)
        k->is_known[reg] = k->is_loaded[reg] = false;
}

static void forget_at_call(const Isa *isa, Known *k) {
    for (Reg reg = 0; reg < isa->reg_count && reg < REG_MAX; reg++)
        if (!regset_has(&isa->abi.kept, reg))
            forget(k, reg);
}

static void set(Known *k, Reg reg, u64 value, bool loaded) {
    if (reg >= REG_MAX)
        return;
    k->is_known[reg] = !loaded;
    k->is_loaded[reg] = loaded;
    k->value[reg] = value;
}

static bool has(const Known *k, Reg reg) {
    return reg < REG_MAX && k->is_known[reg];
}

/* One instruction; true if it has made an address out of two parts. */
static bool step(const Isa *isa, const Insn *in, Known *k, u64 *address) {
    Effect e = in->row ? isa->effect(in) : (Effect){0};
    bool is_sum = e.kind == EFFECT_ADD && e.bits == 64 && has(k, e.a), is_load = false;
    u64 value = is_sum ? k->value[e.a] + (u64)e.value : 0;
    if (e.kind == EFFECT_LOAD && e.from_bits == 64 && e.mem && e.mem->index == REG_NONE && has(k, e.mem->base)) {
        is_load = true;
        value = k->value[e.mem->base] + (u64)e.mem->disp;
    }
    for (Reg reg = 0; reg < isa->reg_count && reg < REG_MAX; reg++)
        if (regset_has(&in->writes, reg))
            forget(k, reg);
    if (e.kind == EFFECT_CONSTANT)
        set(k, e.to, (u64)e.value, false);
    else if (is_sum || is_load)
        set(k, e.to, value, is_load);
    *address = value;
    return is_sum && in->flow == FLOW_NEXT;
}

void raise_far_addresses(Raise *r, const LatheFunc *fn, void (*found)(Raise *r, u64 address)) {
    Known *known = mem_new(sizeof(*known));
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        u64 address;
        if (i && in[-1].flow == FLOW_CALL)
            forget_at_call(r->isa, known);
        if (step(r->isa, in, known, &address) && elf_is_code(r->elf, address))
            found(r, address);
    }
    mem_free(known);
}

u64 raise_far_slot(const Raise *r, u64 pc) {
    enum { INSNS = 5 };
    Known *known = mem_new(sizeof(*known));
    u64 slot = 0, address;
    for (int i = 0; i < INSNS && !slot; i++) {
        u8 bytes[16];
        Insn in = {0};
        size_t size = elf_read_const(r->elf, pc, bytes, sizeof(bytes));
        if (!size || r->isa->decode(bytes, size, pc, &in) != LATHE_OK)
            break;
        Effect e = in.flow == FLOW_INDIRECT && in.row ? r->isa->effect(&in) : (Effect){0};
        if (e.kind == EFFECT_ADD && !e.value && e.a < REG_MAX && known->is_loaded[e.a])
            slot = known->value[e.a];
        if (in.flow != FLOW_NEXT)
            break;
        step(r->isa, &in, known, &address);
        pc = insn_end(&in);
    }
    mem_free(known);
    return slot;
}
