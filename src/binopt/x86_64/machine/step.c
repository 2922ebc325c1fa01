/* step.c: see step.h. */
#include "binopt/x86_64/machine/step.h"

#include "binopt/x86_64/machine/divide.h"
#include "binopt/x86_64/machine/encode.h"

OutInsn *step_put(MachineUnit *u, const MachineInsn *in, OutKind kind) {
    OutInsn o = {.in = in, .kind = (u8)kind};
    if (in) {
        o.reads = in->reads | in->address;
        o.writes = in->writes;
        o.kills = in->kills;
        u->newer |= in->new_vector;
    }
    VEC_PUSH(&u->outs, o);
    u->total_outs++;
    return &u->outs.at[u->outs.len - 1];
}

/* ------------------------------------------------------------------------------------------------------------ addresses */

/* An offset that is so large is no longer an address of the stack. */
static bool is_far(u64 off) {
    const i64 most = (i64)1 << 40;
    return (i64)off > most || (i64)off < -most;
}

/* One of the two has to be a number. */
static Value sum(Value a, Value b) {
    if (a.kind == VALUE_UNKNOWN || b.kind == VALUE_UNKNOWN || (a.kind != VALUE_CONST && b.kind != VALUE_CONST))
        return (Value){0};
    Value r = a.kind == VALUE_CONST ? b : a;
    r.v = a.v + b.v;
    r.nested = r.kind == VALUE_CONST && a.nested != b.nested;
    return r.kind == VALUE_STACK && is_far(r.v) ? (Value){0} : r;
}

static Value register_of(const State *s, u8 r) {
    return r < GP_COUNT ? s->gp[r] : value_const(0);
}

Value step_address(const State *s, const Mem *m) {
    if (m->odd)
        return (Value){0};
    Value index = register_of(s, m->index);
    if (m->scale > 1)
        index = index.kind == VALUE_CONST ? value_const(index.v * m->scale) : (Value){0};
    return sum(sum(register_of(s, m->base), index), value_const((u64)m->disp));
}

static void use_address(OutInsn *o, AddressForm how, u64 addr, Regs still) {
    o->address = (u8)how;
    o->addr = addr;
    o->reads = o->in->reads | still;
}

static bool fold_to_pool(MachineUnit *u, OutInsn *o, Value at) {
    u8 bytes[VEC_BYTES];
    const Mem *m = &o->in->mem;
    bool nested = at.nested;
    if (m->write || !m->read || m->bytes > sizeof(bytes) ||
        !memory_constant(&u->memory, at.v, m->bytes, &nested, bytes))
        return false;
    use_address(o, ADDRESS_CONST, graph_constant(u, bytes, m->bytes), 0);
    return true;
}

void step_plan_address(MachineUnit *u, const State *s, OutInsn *o) {
    const MachineInsn *in = o->in;
    const Mem *m = &in->mem;
    if (!in->has_mem || m->odd || !in->modrm_off)
        return;
    Value at = step_address(s, m), base = register_of(s, m->base), index = register_of(s, m->index);
    if (at.kind == VALUE_CONST) {
        u8 bytes[VEC_BYTES];
        bool nested = at.nested;
        o->constant = in->takes_vector && memory_constant(&u->memory, at.v, m->bytes, &nested, bytes);
        if (o->constant)
            o->bytes = graph_constant(u, bytes, m->bytes);
        if (encode_reaches(u->code_base, at.v))
            use_address(o, ADDRESS_KNOWN, at.v, 0);
        else if (!fold_to_pool(u, o, at) && m->base == PC_REG)
            u->hopeless =
                arena_printf(&u->arena, "what the instruction at %#llx refers to is too far away from new code",
                             (unsigned long long)in->pc);
        return;
    }
    bool has_base = m->base < GP_COUNT, has_index = m->index < GP_COUNT;
    if (has_base && has_index && index.kind == VALUE_CONST) {
        i64 disp = (i64)((u64)m->disp + index.v * m->scale);
        if (encode_fits32(disp))
            use_address(o, ADDRESS_NO_INDEX, (u64)disp, BIT(m->base));
    } else if (has_base && has_index && base.kind == VALUE_CONST) {
        i64 disp = (i64)((u64)m->disp + base.v);
        if (encode_fits32(disp))
            use_address(o, ADDRESS_NO_BASE, (u64)disp, BIT(m->index));
    }
}

/* ---------------------------------------------------------------------------------------------------------------- memory */

/* True if a register with an address of the frame goes somewhere where it cannot be followed. */
static bool leaks(const State *s, Regs regs) {
    for (u32 r = 0; r < GP_COUNT; r++)
        if (regs & BIT(r) && s->gp[r].kind == VALUE_STACK)
            return true;
    return false;
}

static bool hits_return(const MachineUnit *u, i64 from, i64 to) {
    for (u32 f = u->frame; f != NO_FRAME; f = u->frames.at[f].parent)
        if (from < u->frames.at[f].return_slot + SLOT_BYTES && to > u->frames.at[f].return_slot)
            return true;
    return false;
}

/* Notes how the memory operand uses the frame. */
static void note_memory(MachineUnit *u, State *s, OutInsn *o, Value at) {
    const MachineInsn *in = o->in;
    const Mem *m = &in->mem;
    if (!in->has_mem || (!m->read && !m->write))
        return;
    if (at.kind == VALUE_STACK) {
        i64 off = (i64)at.v;
        o->slot = off;
        o->slot_bytes = m->bytes;
        o->load = m->read;
        o->store = m->write;
        if (m->write && off + m->bytes > 0)
            o->effect = true; /* it is the caller's memory */
        if (m->write && hits_return(u, off, off + m->bytes))
            u->hopeless = arena_printf(&u->arena, "the instruction at %#llx changes a return address",
                                       (unsigned long long)in->pc);
        return;
    }
    if (at.kind == VALUE_UNKNOWN && leaks(s, in->address))
        s->escaped = true;
    o->reads_frame |= m->read;
    o->effect |= m->write;
    if (m->write && s->escaped)
        state_forget_frame(s);
}

/* ------------------------------------------------------------------------------------------------------------ evaluation */

static const u8 flag_bit[FLAG_COUNT] = {0, 2, 4, 6, 7, 11, 10};

static u64 flags_word(u8 flags) {
    u64 word = 0;
    for (u32 i = 0; i < FLAG_COUNT - 1; i++) /* except the direction flag */
        word |= (u64)(flags >> i & 1) << flag_bit[i];
    return word;
}

static u8 flags_from(u64 word) {
    u8 flags = 0;
    for (u32 i = 0; i < FLAG_COUNT; i++)
        flags |= (u8)((word >> flag_bit[i] & 1) << i);
    return flags;
}

static void load_machine(const State *s, MachineRegs *m, bool with_vectors) {
    for (u32 r = 0; r < GP_COUNT; r++)
        m->gp[r] = s->gp[r].kind == VALUE_CONST ? s->gp[r].v : 0;
    m->flags = flags_word(s->flags);
    if (with_vectors)
        memcpy(m->vec, s->vec, sizeof(m->vec));
}

/* The bytes of a memory operand that is read. Returns false if they are not known. */
static bool operand_bytes(MachineUnit *u, const State *s, const MachineInsn *in, Value at, u8 *bytes, bool *nested) {
    const Mem *m = &in->mem;
    *nested = at.nested;
    if (in->mnemonic == ZYDIS_MNEMONIC_LEA || !in->has_mem || !m->read)
        return true;
    if (m->bytes > EVALUATE_MEM_BYTES)
        return false;
    if (at.kind == VALUE_STACK)
        return state_load(s, (i64)at.v, m->bytes, bytes);
    return at.kind == VALUE_CONST && memory_constant(&u->memory, at.v, m->bytes, nested, bytes);
}

static bool may_evaluate(const State *s, const MachineInsn *in, Value at) {
    bool lea = in->mnemonic == ZYDIS_MNEMONIC_LEA;
    Regs needed = in->reads | (lea ? in->address : 0);
    if (in->maybe_flags)
        needed &= ~ALL_FLAGS | in->tested;
    if (lea && (at.kind != VALUE_CONST || in->op[0].bits < 32))
        return false;
    if (!in->pure || !state_knows(s, needed) ||
        ((in->reads | in->writes) & ~(ALL_GP | ALL_FLAGS | (Regs)0xffff << XMM0)))
        return false;
    return !in->has_mem || !in->mem.write || at.kind == VALUE_STACK;
}

/* A pointer to nested constant memory stays one when it is copied or a number is added to it. */
static bool keeps_nesting(const MachineInsn *in, const State *s, bool from_memory) {
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return in->op[0].bits == 64 &&
               (in->has_mem ? from_memory : in->op[1].kind == OP_GP && s->gp[in->op[1].no].nested);
    case ZYDIS_MNEMONIC_LEA:
        return from_memory;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB: {
        bool other = in->op[1].kind == OP_GP && s->gp[in->op[1].no].nested;
        return in->op[0].kind == OP_GP && in->op[0].bits == 64 && s->gp[in->op[0].no].nested != other &&
               (in->mnemonic == ZYDIS_MNEMONIC_ADD || !other);
    }
    default:
        return false;
    }
}

static void add_result(OutInsn *o, u8 reg, u64 low, u64 high) {
    if (o->result_count < ARRAY_LEN(o->result))
        o->result[o->result_count++] = (Result){reg, low, high};
    else
        o->known = false;
}

static void take_results(MachineUnit *u, State *s, OutInsn *o, const MachineRegs *m, bool nested) {
    const MachineInsn *in = o->in;
    o->known = true;
    for (u32 r = 0; r < GP_COUNT; r++)
        if (in->writes & BIT(r)) {
            s->gp[r] = value_const(m->gp[r]);
            s->gp[r].nested = nested && (in->mnemonic != ZYDIS_MNEMONIC_MOV || memory_is_data(&u->memory, m->gp[r]));
            add_result(o, (u8)r, m->gp[r], 0);
        }
    for (u32 i = 0; i < MAX_VEC; i++)
        if (in->writes & BIT(XMM0 + i)) {
            u64 half[2];
            memcpy(half, m->vec[i], sizeof(half));
            memcpy(s->vec[i], m->vec[i], VEC_BYTES);
            s->vec_known |= (u16)(1u << i);
            add_result(o, (u8)(XMM0 + i), half[0], half[1]);
        }
}

/* Notes how far apart the operands of a comparison were; trace.c estimates from it how often a loop will run. */
static void note_compare(MachineUnit *u, const MachineInsn *in, const MachineRegs *before, const MachineRegs *after,
                         const u8 *operand) {
    u64 a = 0, b = 0;
    const MachineOp *x = &in->op[0], *y = &in->op[1];
    if (!x->bits)
        return;
    if (x->kind == OP_GP)
        a = (in->mnemonic == ZYDIS_MNEMONIC_CMP ? before : after)->gp[x->no];
    else if (x->kind == OP_MEM)
        memcpy(&a, operand, x->bits / 8 < 8 ? x->bits / 8 : 8);
    if (in->mnemonic == ZYDIS_MNEMONIC_CMP) {
        b = y->kind == OP_GP ? before->gp[y->no] : y->kind == OP_IMM ? (u64)y->imm : 0;
        if (y->kind == OP_MEM)
            memcpy(&b, operand, y->bits / 8 < 8 ? y->bits / 8 : 8);
    }
    u32 unused = x->bits < 64 ? 64 - x->bits : 0;
    u->compare = (i64)((a - b) << unused) >> unused;
}

/* Returns true if the instruction's results are known now. */
static bool try_evaluate(MachineUnit *u, State *s, OutInsn *o, Value at) {
    const MachineInsn *in = o->in;
    u8 bytes[EVALUATE_MEM_BYTES] = {0}, again[EVALUATE_MEM_BYTES];
    bool nested;
    MachineRegs m, before;
    if (!may_evaluate(s, in, at) || !operand_bytes(u, s, in, at, bytes, &nested))
        return false;
    bool vectors = ((in->reads | in->writes) & ALL_VEC) != 0;
    load_machine(s, &m, vectors);
    memcpy(&before, &m, offsetof(MachineRegs, vec));
    memcpy(again, bytes, sizeof(again));
    if (in->mnemonic == ZYDIS_MNEMONIC_LEA) /* its address is known already */
        m.gp[in->op[0].no] = in->op[0].bits == 64 ? at.v : (u32)at.v;
    else if (!evaluate_insn(u->evaluator, in, &m, bytes))
        return false;
    Regs flags = in->writes & ALL_FLAGS & ~in->undefined;
    if (in->maybe_flags) { /* keeps only the flags that do not depend on what they were before */
        MachineRegs other;
        load_machine(s, &other, vectors);
        other.flags = flags_word(0xff);
        if (!evaluate_insn(u->evaluator, in, &other, again))
            return false;
        flags &= ~((Regs)(u8)(flags_from(m.flags) ^ flags_from(other.flags)) << CF);
    }
    if (in->writes & ALL_FLAGS && !vectors)
        note_compare(u, in, &before, &m, again);
    nested = keeps_nesting(in, s, nested);
    state_forget(s, in->writes & ALL_FLAGS);
    s->flags_known |= (u8)(flags >> CF);
    s->flags |= (u8)(flags >> CF) & flags_from(m.flags);
    take_results(u, s, o, &m, nested);
    if (in->has_mem && in->mem.write)
        state_store(s, (i64)at.v, in->mem.bytes, bytes);
    return true;
}

/* --------------------------------------------------------------------------------------------------------------- pointers */

static bool is_pointer(Value v) {
    return v.kind == VALUE_STACK || v.kind == VALUE_BASED;
}

static Value operand_value(const State *s, const MachineOp *op) {
    if (op->kind == OP_IMM)
        return value_const((u64)op->imm);
    return op->kind == OP_GP && op->bits == 64 ? s->gp[op->no] : (Value){0};
}

/* At the entry the stack pointer is 8 above a multiple of 16. */
static Value align_down(Value v, i64 mask) {
    enum { ENTRY = 8, ALIGN = 16 };
    if (mask >= 0 || mask < -ALIGN || (mask & -mask) != -mask)
        return (Value){0};
    return value_stack((((i64)v.v + ENTRY) & mask) - ENTRY);
}

/* The pointer after a number was added to it, by whatever instruction; unknown for other instructions. */
static Value moved(const State *s, const MachineInsn *in) {
    Value a = operand_value(s, &in->op[0]), b = in->op_count > 1 ? operand_value(s, &in->op[1]) : (Value){0};
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
        return is_pointer(a) || is_pointer(b) ? sum(a, b) : (Value){0};
    case ZYDIS_MNEMONIC_SUB:
        return is_pointer(a) && b.kind == VALUE_CONST ? sum(a, value_const(0 - b.v)) : (Value){0};
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        return is_pointer(a) ? sum(a, value_const(in->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : ~(u64)0)) : (Value){0};
    case ZYDIS_MNEMONIC_AND:
        return a.kind == VALUE_STACK && b.kind == VALUE_CONST ? align_down(a, (i64)b.v) : (Value){0};
    default:
        return (Value){0};
    }
}

static Value copied(const State *s, const MachineInsn *in, Value at) {
    if (in->mnemonic == ZYDIS_MNEMONIC_LEA)
        return at;
    if (in->mnemonic != ZYDIS_MNEMONIC_MOV)
        return (Value){0};
    bool loads = in->op[1].kind == OP_MEM;
    return loads && at.kind == VALUE_STACK ? state_load_slot(s, (i64)at.v) : operand_value(s, &in->op[1]);
}

/* Follows instructions that copy and change pointers without making them unknown. Returns true if this is one. */
static bool step_pointer(State *s, const MachineInsn *in, Value at) {
    const MachineOp *to = &in->op[0];
    if (!in->op_count || to->bits != 64)
        return false;
    if (in->mnemonic == ZYDIS_MNEMONIC_MOV && to->kind == OP_MEM && at.kind == VALUE_STACK) {
        Value v = operand_value(s, &in->op[1]);
        if (is_pointer(v))
            state_store_slot(s, (i64)at.v, v);
        return is_pointer(v);
    }
    if (to->kind != OP_GP)
        return false;
    Value v = moved(s, in);
    if (!v.kind)
        v = copied(s, in, at);
    if (!is_pointer(v))
        return false;
    state_forget(s, in->writes);
    s->gp[to->no] = v;
    return true;
}

/* The difference of two pointers whose distance is known. Carry and overflow depend on the pointers themselves and stay
 * unknown. */
static bool step_difference(MachineUnit *u, State *s, OutInsn *o, Value at) {
    const MachineInsn *in = o->in;
    bool compares = in->mnemonic == ZYDIS_MNEMONIC_CMP;
    if ((!compares && in->mnemonic != ZYDIS_MNEMONIC_SUB) || in->op[0].bits != 64)
        return false;
    Value v[2];
    for (u32 i = 0; i < 2; i++)
        v[i] = in->op[i].kind == OP_MEM && at.kind == VALUE_STACK ? state_load_slot(s, (i64)at.v)
                                                                  : operand_value(s, &in->op[i]);
    if (!is_pointer(v[0]) || v[0].kind != v[1].kind || v[0].base != v[1].base || (!compares && in->has_mem))
        return false;
    u64 apart = v[0].v - v[1].v;
    state_forget(s, in->writes);
    s->flags_known |= FLAG(PF) | FLAG(ZF) | FLAG(SF);
    s->flags |=
        (u8)((__builtin_parity((u8)apart) ? 0 : FLAG(PF)) | (apart ? 0 : FLAG(ZF)) | (apart >> 63 ? FLAG(SF) : 0));
    u->compare = (i64)apart;
    o->known = true;
    if (compares)
        return true;
    s->gp[in->op[0].no] = value_const(apart);
    add_result(o, in->op[0].no, apart, 0);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- push, pop */

static bool push(MachineUnit *u, State *s, const MachineInsn *in) {
    Value sp = s->gp[RSP];
    if (in->mnemonic != ZYDIS_MNEMONIC_PUSH || sp.kind != VALUE_STACK || in->op[0].bits < 32)
        return false;
    const MachineOp *op = &in->op[0];
    Value v = op->kind == OP_GP ? s->gp[op->no] : op->kind == OP_IMM ? value_const((u64)op->imm) : (Value){0};
    OutInsn *o = step_put(u, in, OUT_INSN);
    o->slot = (i64)sp.v - SLOT_BYTES;
    o->slot_bytes = SLOT_BYTES;
    o->store = true;
    if (op->kind == OP_MEM) {
        Value at = step_address(s, &in->mem);
        o->effect = true;
        o->load = false;
        o->reads_frame = true;
        step_plan_address(u, s, o);
        if (at.kind == VALUE_UNKNOWN && leaks(s, in->address))
            s->escaped = true;
    }
    s->gp[RSP] = value_stack(o->slot);
    state_store_slot(s, o->slot, v);
    return true;
}

static bool pop(MachineUnit *u, State *s, const MachineInsn *in) {
    Value sp = s->gp[RSP];
    if (in->mnemonic != ZYDIS_MNEMONIC_POP || sp.kind != VALUE_STACK || in->op[0].kind != OP_GP || in->op[0].bits != 64)
        return false;
    u8 r = in->op[0].no;
    OutInsn *o = step_put(u, in, OUT_INSN);
    o->slot = (i64)sp.v;
    o->slot_bytes = SLOT_BYTES;
    o->load = true;
    Value v = state_load_slot(s, o->slot);
    s->gp[RSP] = value_stack(o->slot + SLOT_BYTES);
    s->gp[r] = v;
    if (v.kind == VALUE_CONST)
        add_result(o, r, v.v, 0);
    return true;
}

static bool leave(MachineUnit *u, State *s, const MachineInsn *in) {
    Value bp = s->gp[RBP];
    if (in->mnemonic != ZYDIS_MNEMONIC_LEAVE || bp.kind != VALUE_STACK)
        return false;
    OutInsn *o = step_put(u, in, OUT_INSN);
    o->slot = (i64)bp.v;
    o->slot_bytes = SLOT_BYTES;
    o->load = o->effect = true;
    o->reads = BIT(RBP);
    s->gp[RBP] = state_load_slot(s, o->slot);
    s->gp[RSP] = value_stack(o->slot + SLOT_BYTES);
    return true;
}

/* ----------------------------------------------------------------------------------------------------------- what is left */

/* Finds operands that can be replaced by numbers. */
static void plan_numbers(const State *s, OutInsn *o) {
    const MachineInsn *in = o->in;
    const MachineOp *to = &in->op[0], *from = &in->op[1];
    if (!in->plain || in->op_count != 2 || from->kind != OP_GP || (in->has_mem && in->mem.odd))
        return;
    Value v = s->gp[from->no];
    Regs others = (o->reads & ~in->reads) | (in->reads & ~BIT(from->no));
    if (to->kind == OP_GP && to->read && to->no == from->no)
        return;
    if (v.kind == VALUE_CONST && encode_takes_number(in, 1, v.v)) {
        o->number_op = 1;
        o->number = v.v;
        if (!in->has_mem || o->address == ADDRESS_KNOWN || o->address == ADDRESS_CONST ||
            !(in->address & BIT(from->no)))
            o->reads = others;
        return;
    }
    bool turns = in->mnemonic == ZYDIS_MNEMONIC_ADD || in->mnemonic == ZYDIS_MNEMONIC_IMUL;
    if (turns && to->kind == OP_GP && to->bits >= 32 && to->bits == from->bits && s->gp[to->no].kind == VALUE_CONST) {
        u64 number = to->bits == 32 ? (u64)(i64)(i32)s->gp[to->no].v : s->gp[to->no].v;
        o->swaps = encode_fits32((i64)number);
        o->number = number;
    }
}

/* A constant times or plus something. Both are commutative to the last bit if the constant is a number. Adding zero
 * needs no load. A multiplication by one is removed as LLVM does it: a signalling NaN stays signalling. */
static void plan_turn(MachineUnit *u, const State *s, OutInsn *o) {
    const MachineInsn *in = o->in;
    u32 vec = in->op[0].no - XMM0;
    bool times = in->mnemonic == ZYDIS_MNEMONIC_MULSD;
    if ((!times && in->mnemonic != ZYDIS_MNEMONIC_ADDSD) || in->op[1].kind != OP_VEC || !(s->vec_known >> vec & 1))
        return;
    double number;
    memcpy(&number, s->vec[vec], sizeof(number));
    if (number == 0 || number != number)
        return;
    o->turns = times && number == 1 ? TURN_COPY : TURN_CONSTANT;
    if (o->turns == TURN_CONSTANT)
        o->bytes = graph_constant(u, s->vec[vec], VEC_BYTES);
}

/* For 32-bit divisions of a 32-bit dividend: edx is the sign of eax, or zero. */
static void plan_division(const MachineUnit *u, const State *s, OutInsn *o) {
    const MachineInsn *in = o->in;
    const MachineOp *by = &in->op[0];
    bool has_sign = in->mnemonic == ZYDIS_MNEMONIC_IDIV;
    if ((!has_sign && in->mnemonic != ZYDIS_MNEMONIC_DIV) || by->kind != OP_GP || by->bits != 32 ||
        s->gp[by->no].kind != VALUE_CONST || !divide_works(s->gp[by->no].v, has_sign))
        return;
    const OutInsn *before = u->outs.len > 1 ? &u->outs.at[u->outs.len - 2] : NULL;
    Value high = s->gp[RDX];
    bool extended = has_sign ? before && before->kind == OUT_INSN && before->in->mnemonic == ZYDIS_MNEMONIC_CDQ
                             : high.kind == VALUE_CONST && !(u32)high.v;
    o->divides = extended && in->plain;
    if (o->divides)
        o->number = s->gp[by->no].v;
}

static void step_any(MachineUnit *u, State *s, const MachineInsn *in) {
    OutInsn *o = step_put(u, in, OUT_INSN);
    Value at = in->has_mem ? step_address(s, &in->mem) : (Value){0};
    step_plan_address(u, s, o);
    note_memory(u, s, o, at);
    if (try_evaluate(u, s, o, at)) {
        plan_numbers(s, o);
        o->swaps = false;
        return;
    }
    plan_numbers(s, o);
    plan_turn(u, s, o);
    plan_division(u, s, o);
    if (step_pointer(s, in, at) || step_difference(u, s, o, at))
        return;
    if (leaks(s, in->reads) || (in->mnemonic == ZYDIS_MNEMONIC_LEA && leaks(s, in->address)))
        s->escaped = true;
    if (at.kind == VALUE_STACK && in->mem.read && state_has_address(s, (i64)at.v, (i64)at.v + in->mem.bytes))
        s->escaped = true;
    if (at.kind == VALUE_STACK && in->mem.write)
        state_forget_stack(s, (i64)at.v, (i64)at.v + in->mem.bytes);
    if (in->touches_memory) {
        o->reads_frame = true;
        state_forget_frame(s);
    }
    o->effect |= !in->plain;
    state_forget(s, in->writes);
    const MachineOp *to = &in->op[0];
    if (in->plain && in->op_count && to->kind == OP_GP && to->write && to->bits == 64 && to->no != RSP)
        state_define(s, to->no, in->pc);
}

void step_insn(MachineUnit *u, State *s, const MachineInsn *in) {
    if (in->mnemonic == ZYDIS_MNEMONIC_NOP || in->mnemonic == ZYDIS_MNEMONIC_ENDBR64)
        return;
    if (!push(u, s, in) && !pop(u, s, in) && !leave(u, s, in))
        step_any(u, s, in);
    if (s->gp[RSP].kind == VALUE_STACK && (i64)s->gp[RSP].v < u->lowest)
        u->lowest = (i64)s->gp[RSP].v;
}

/* ---------------------------------------------------------------------------------------------------------- control flow */

Value step_target(MachineUnit *u, const State *s, const MachineInsn *in) {
    const MachineOp *op = &in->op[0];
    if (op->kind == OP_GP)
        return op->bits == 64 ? s->gp[op->no] : (Value){0};
    Value at = step_address(s, &in->mem);
    u64 v;
    if (op->kind != OP_MEM || in->mem.bytes != sizeof(v))
        return (Value){0};
    if (at.kind == VALUE_STACK)
        return state_load_slot(s, (i64)at.v);
    bool nested = at.nested;
    if (at.kind != VALUE_CONST || !memory_constant(&u->memory, at.v, sizeof(v), &nested, (u8 *)&v))
        return (Value){0};
    return value_const(v);
}

/* SDM 2A, appendix B.1.4.7: the lowest bit of a condition code negates it. */
bool step_condition(const State *s, const MachineInsn *in, bool *holds) {
    static const u8 needs[] = {FLAG(OF),
                               FLAG(CF),
                               FLAG(ZF),
                               FLAG(CF) | FLAG(ZF),
                               FLAG(SF),
                               FLAG(PF),
                               FLAG(SF) | FLAG(OF),
                               FLAG(SF) | FLAG(OF) | FLAG(ZF)};
    u8 row = in->cond >> 1, f = s->flags;
    if (needs[row] & ~s->flags_known)
        return false;
    bool differ = !(f & FLAG(SF)) != !(f & FLAG(OF));
    bool is = row < 6 ? (f & needs[row]) != 0 : row == 6 ? differ : differ || f & FLAG(ZF);
    *holds = is != (in->cond & 1);
    return true;
}
