/* assemble.c: see assemble.h. */
#include "binopt/x86_64/machine/assemble.h"

#include "binopt/x86_64/machine/divide.h"
#include "binopt/x86_64/machine/entry.h"
#include "binopt/x86_64/machine/hoist.h"
#include "binopt/x86_64/machine/live.h"
#include "binopt/x86_64/machine/pending.h"
#include "binopt/x86_64/machine/unwind_tables.h"

enum { LOOP_ALIGN = 32, END_BYTES = 96, OUT_BYTES = 2 * ENCODE_MAX_BYTES + 24, GUARD_BYTES = 40 };

typedef struct Fixup {
    u32 at; /* place of a rel32, which is relative to its end */
    i32 block;
} Fixup;

typedef struct Emit {
    MachineUnit *u;
    CodeOut c;
    u64 pool; /* address of the constants */
    Pending p;
    const BlockOrder *order;
    VEC(Fixup) fixups;
    VEC(TableCall) calls;
} Emit;

static u8 *here(Emit *e) {
    return e->c.write + e->c.size;
}
static u64 address(const Emit *e) {
    return e->c.run + e->c.size;
}

static void put_bytes(Emit *e, const void *bytes, u32 size) {
    memcpy(here(e), bytes, size);
    e->c.size += size;
}

/* -------------------------------------------------------------------------------------------------------- constants, operands */

/* Legacy vector instructions keep upper halves, VEX instructions clear them; the replacement does the same. */
static void put_result(Emit *e, const OutInsn *o, const Result *r) {
    bool newer = o->in ? o->in->new_vector : e->u->newer;
    if (!(o->live & BIT(r->reg)))
        return;
    if (r->reg < GP_COUNT) {
        pending_overwrite(&e->p, &e->c, r->reg, o->live);
        pending_written(&e->p, r->reg);
        e->c.size += encode_move_number(r->reg, r->low, here(e));
    } else if (!r->low && !r->high) {
        e->c.size += encode_zero_vector(r->reg - XMM0, newer, here(e));
    } else {
        u64 both[] = {r->low, r->high};
        u64 at = e->pool + graph_constant(e->u, (const u8 *)both, sizeof(both));
        e->c.size += encode_load_vector(r->reg - XMM0, at, newer, address(e), here(e));
    }
}

/* The new memory operand, with pending values of its registers included. */
static Mem operand(Emit *e, const OutInsn *o, Regs needed) {
    Mem m = o->in->mem;
    switch ((AddressForm)o->address) {
    case ADDRESS_KNOWN:
        return (Mem){.base = PC_REG, .index = NO_REG, .disp = (i64)o->addr};
    case ADDRESS_CONST:
        return (Mem){.base = PC_REG, .index = NO_REG, .disp = (i64)(e->pool + o->addr)};
    case ADDRESS_NO_INDEX:
        m.index = NO_REG;
        m.scale = 1;
        m.disp = (i64)o->addr;
        break;
    case ADDRESS_NO_BASE:
        m.base = NO_REG;
        m.disp = (i64)o->addr;
        break;
    case ADDRESS_KEPT:
    case ADDRESS_REGISTER:
        break;
    }
    if (m.base == PC_REG || pending_resolve(&e->p, &m))
        return m;
    if (m.base < GP_COUNT)
        pending_settle(&e->p, &e->c, m.base, needed);
    if (m.index < GP_COUNT)
        pending_settle(&e->p, &e->c, m.index, needed);
    CHECK(pending_resolve(&e->p, &m), "registers with their values can be used as they are");
    return m;
}

/* ------------------------------------------------------------------------------------------- instructions that are not
 * emitted */

static bool flags_matter(const OutInsn *o) {
    return (o->writes & o->live & ALL_FLAGS) != 0;
}

/* True if the instruction, whatever it is, adds a number to its destination register. */
static bool is_addition(const OutInsn *o, i64 *by) {
    const MachineInsn *in = o->in;
    const MachineOp *to = &in->op[0], *from = &in->op[1];
    if (to->kind != OP_GP || to->bits < 32)
        return false;
    bool number = in->op_count == 2 && from->kind == OP_IMM;
    i64 v = number ? from->imm : (i64)o->number;
    v = to->bits == 32 ? (i32)v : v;
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        *by = in->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
        return true;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        *by = in->mnemonic == ZYDIS_MNEMONIC_ADD ? v : (i64)(0 - (u64)v);
        return (number || o->number_op) && (to->bits == 32 || encode_fits32(*by));
    default:
        return false;
    }
}

/* Turns copies and additions into pending values. */
static bool absorb(Emit *e, const OutInsn *o) {
    const MachineInsn *in = o->in;
    const MachineOp *to = &in->op[0], *from = &in->op[1];
    Regs needed = o->live | o->reads;
    u32 bits = to->bits;
    i64 by;
    if (flags_matter(o) || to->kind != OP_GP || bits < 32)
        return false;
    if (is_addition(o, &by))
        return pending_set(&e->p, &e->c, to->no, to->no, by, bits, needed);
    if (o->swaps && in->mnemonic == ZYDIS_MNEMONIC_ADD && from->no != RSP)
        return pending_set(&e->p, &e->c, to->no, from->no, (i64)o->number, bits, needed);
    if (in->mnemonic == ZYDIS_MNEMONIC_MOV && from->kind == OP_GP && to->no != RSP && from->no != RSP)
        return pending_set(&e->p, &e->c, to->no, from->no, 0, bits, needed);
    if (in->mnemonic != ZYDIS_MNEMONIC_LEA || in->mem.odd || in->mem.base >= GP_COUNT || to->no == RSP ||
        in->mem.base == RSP)
        return false;
    if (in->mem.index == NO_REG && o->address == ADDRESS_KEPT)
        return pending_set(&e->p, &e->c, to->no, in->mem.base, in->mem.disp, bits, needed);
    return o->address == ADDRESS_NO_INDEX &&
           pending_set(&e->p, &e->c, to->no, in->mem.base, (i64)o->addr, bits, needed);
}

/* If some register holds the product already, uses it. Otherwise computes it, if possible in an unused register, where
 * the next instruction that needs it finds it. */
static void put_product(Emit *e, u8 to, u8 of, i32 by, i64 delta, Regs live) {
    Pending *p = &e->p;
    u8 has = pending_known(p, of, NO_REG, by);
    if (has != NO_REG && pending_set_real(p, &e->c, to, has, delta, live))
        return;
    u8 spare = pending_spare(p, live | BIT(of) | BIT(to));
    has = spare == NO_REG ? to : spare;
    pending_overwrite(p, &e->c, has, live);
    e->c.size += encode_multiply(has, of, by, 64, here(e));
    pending_written(p, has);
    pending_learn(p, (RegFact){has, of, NO_REG, by});
    CHECK(pending_set_real(p, &e->c, to, has, delta, live), "the register was just written, and the number fits");
}

/* Emits reg = of * number, where `of` may be pending. */
static bool multiply(Emit *e, const OutInsn *o) {
    const MachineInsn *in = o->in;
    const MachineOp *to = &in->op[0], *from = &in->op[1];
    bool three = in->op_count == 3 && in->op[2].kind == OP_IMM;
    if (in->mnemonic != ZYDIS_MNEMONIC_IMUL || !(three || o->swaps || o->number_op))
        return false;
    i64 by = three ? in->op[2].imm : (i64)o->number;
    u8 source = three || o->swaps ? from->no : to->no;
    i64 delta = e->p.delta[source];
    if (!encode_fits32(by) || !encode_fits32(delta * by) || e->p.from[source] == RSP || e->p.narrow & BIT(source))
        return false;
    put_product(e, to->no, e->p.from[source], (i32)by, delta * by, o->live);
    return true;
}

static bool add_up(Emit *e, const OutInsn *o) {
    const MachineOp *to = &o->in->op[0], *from = &o->in->op[1];
    Pending *p = &e->p;
    if (o->in->mnemonic != ZYDIS_MNEMONIC_ADD || o->swaps || o->number_op || to->no == RSP || from->no == RSP)
        return false;
    u8 a = p->from[to->no], b = p->from[from->no];
    i64 delta = p->delta[to->no] + p->delta[from->no];
    Regs both = BIT(to->no) | BIT(from->no);
    if (!encode_fits32(delta) || a == RSP || b == RSP || !(p->open & both) || p->narrow & both)
        return false;
    u8 has = pending_known(p, a, b, 0);
    if (has != NO_REG && pending_set_real(p, &e->c, to->no, has, delta, o->live))
        return true;
    pending_overwrite(p, &e->c, to->no, o->live);
    if (a == to->no)
        e->c.size += encode_add(to->no, b, here(e));
    else
        e->c.size += encode_lea_sum(to->no, a, b, here(e));
    pending_written(p, to->no);
    pending_learn(p, (RegFact){to->no, a, b, 0});
    return pending_set_real(p, &e->c, to->no, to->no, delta, o->live);
}

/* Emits reg = the sign-extended low half of another register. If 32-bit arithmetic does not overflow, as BINOPT_F_NOWRAP
 * promises of indices, a pending addition can be made afterwards. */
static bool extend(Emit *e, const OutInsn *o) {
    const MachineOp *to = &o->in->op[0], *from = &o->in->op[1];
    Pending *p = &e->p;
    u8 of = p->from[from->no];
    i64 delta = p->delta[from->no];
    if (o->in->mnemonic != ZYDIS_MNEMONIC_MOVSXD || to->no == RSP || of == RSP ||
        (delta && !(e->u->cfg->nowrap && o->is_index)))
        return false;
    u8 has = pending_known(p, of, PENDING_SIGNED, 0);
    if (has != NO_REG && pending_set_real(p, &e->c, to->no, has, delta, o->live))
        return true;
    u8 spare = delta ? pending_spare(p, o->live | BIT(of) | BIT(to->no)) : NO_REG;
    has = spare == NO_REG ? to->no : spare;
    pending_overwrite(p, &e->c, has, o->live);
    e->c.size += encode_extend(has, of, here(e));
    pending_written(p, has);
    pending_learn(p, (RegFact){has, of, PENDING_SIGNED, 0});
    CHECK(pending_set_real(p, &e->c, to->no, has, delta, o->live),
          "the register was just written, and the number fits");
    return true;
}

/* Products, sums and sign extensions of registers with a pending addition keep the addition pending. */
static bool combine(Emit *e, const OutInsn *o) {
    const MachineInsn *in = o->in;
    const MachineOp *to = &in->op[0];
    if (flags_matter(o) || to->kind != OP_GP || to->bits != 64 || in->op_count < 2 || in->op[1].kind != OP_GP)
        return false;
    return multiply(e, o) || add_up(e, o) || extend(e, o);
}

/* ----------------------------------------------------------------------------------------------------------- instructions */

static void move_stack(Emit *e, i64 by, Regs needed) {
    if (!pending_set(&e->p, &e->c, RSP, RSP, by, 64, needed)) {
        pending_settle(&e->p, &e->c, RSP, needed);
        pending_set(&e->p, &e->c, RSP, RSP, by, 64, needed);
    }
}

/* Emits an instruction of the original with its new operands. */
static void put_insn(Emit *e, const OutInsn *o) {
    const MachineInsn *in = o->in;
    bool memory = in->has_mem && !in->mem.odd && in->modrm_off && o->address != ADDRESS_REGISTER;
    Regs needed = o->live | o->reads;
    Regs exact = o->reads & (memory ? in->reads : in->reads | in->address);
    for (u8 r = 0; r < GP_COUNT; r++)
        if (exact & BIT(r))
            pending_settle(&e->p, &e->c, r, needed);
    Mem m = {.base = NO_REG, .index = NO_REG};
    if (memory)
        m = operand(e, o, needed);
    for (u8 r = 0; r < GP_COUNT; r++)
        if (o->writes & BIT(r))
            pending_overwrite(&e->p, &e->c, r, o->live);
    if (o->number_op)
        e->c.size += encode_with_number(in, o->number_op, o->number, &m, address(e), here(e));
    else if (memory)
        e->c.size += encode_with_memory(in, &m, address(e), here(e));
    else if (o->address == ADDRESS_REGISTER)
        e->c.size += encode_with_vector(in, (u8)o->addr, here(e));
    else
        put_bytes(e, in->bytes, in->length);
    for (u8 r = 0; r < GP_COUNT; r++)
        if (o->writes & BIT(r))
            pending_written(&e->p, r);
}

/* Emits number + from or number * from, if the flags are not read. */
static bool put_swapped(Emit *e, const OutInsn *o) {
    const MachineOp *to = &o->in->op[0], *from = &o->in->op[1];
    if (!o->swaps || flags_matter(o))
        return false;
    pending_settle(&e->p, &e->c, from->no, o->live | o->reads);
    pending_overwrite(&e->p, &e->c, to->no, o->live);
    if (o->in->mnemonic == ZYDIS_MNEMONIC_ADD)
        e->c.size += encode_lea(to->no, from->no, (i32)o->number, to->bits, here(e));
    else
        e->c.size += encode_multiply(to->no, from->no, (i32)o->number, to->bits, here(e));
    pending_written(&e->p, to->no);
    return true;
}

static bool put_turned(Emit *e, const OutInsn *o) {
    if (!live_is_turned(e->u, o))
        return false;
    e->c.size += encode_move_vector(o->in->op[0].no - XMM0, o->in->op[1].no - XMM0, here(e));
    if (o->turns == TURN_CONSTANT)
        e->c.size += encode_with_address(o->in, e->pool + o->bytes, address(e), here(e));
    return true;
}

static bool put_product_for(Emit *e, const OutInsn *o) {
    if (!live_is_product(o))
        return false;
    pending_settle(&e->p, &e->c, RAX, o->live | BIT(RAX));
    pending_overwrite(&e->p, &e->c, RAX, o->live);
    pending_overwrite(&e->p, &e->c, RDX, o->live);
    e->c.size += divide_put(o->number, o->in->mnemonic == ZYDIS_MNEMONIC_IDIV, here(e));
    pending_written(&e->p, RAX);
    pending_written(&e->p, RDX);
    return true;
}

static void put_call(Emit *e, const OutInsn *o) {
    const MachineInsn *in = o->in;
    pending_settle_all(&e->p, &e->c, o->live | o->reads);
    pending_reset(&e->p);
    u32 start = e->c.size;
    if (o->address == ADDRESS_KNOWN)
        e->c.size += encode_call(o->addr, address(e), here(e));
    else if (in->has_mem && !in->mem.odd) {
        Mem m = operand(e, o, o->reads);
        e->c.size += encode_with_memory(in, &m, address(e), here(e));
    } else {
        put_bytes(e, in->bytes, in->length);
    }
    if (o->frame)
        VEC_PUSH(&e->calls, ((TableCall){start, e->c.size, o->frame}));
}

/* Stores the return address of an inlined call, if it is read. */
static void put_enter(Emit *e, const OutInsn *o) {
    move_stack(e, -SLOT_BYTES, o->live);
    if (o->frame_dead)
        return;
    pending_settle(&e->p, &e->c, RSP, o->live);
    e->c.size += encode_store_number(RSP, 0, (u32)o->number, here(e));
    e->c.size += encode_store_number(RSP, 4, (u32)(o->number >> 32), here(e));
}

static bool put_stack_insn(Emit *e, const OutInsn *o) {
    const MachineInsn *in = o->in;
    if (in->mnemonic == ZYDIS_MNEMONIC_PUSH && o->slot_bytes && o->frame_dead && !o->effect) {
        move_stack(e, -SLOT_BYTES, o->live);
        return true;
    }
    if (in->mnemonic != ZYDIS_MNEMONIC_POP || !o->slot_bytes)
        return false;
    u8 reg = in->op[0].no;
    if (o->live & BIT(reg) && !o->result_count)
        return false;
    move_stack(e, SLOT_BYTES, o->live);
    if (o->result_count)
        put_result(e, o, &o->result[0]);
    return true;
}

static void put_out(Emit *e, const OutInsn *o) {
    if (o->dead)
        return;
    if (live_is_constant(o)) {
        for (u32 i = 0; i < o->result_count; i++)
            put_result(e, o, &o->result[i]);
        return;
    }
    switch ((OutKind)o->kind) {
    case OUT_CONST:
        return;
    case OUT_CALL:
        put_call(e, o);
        return;
    case OUT_ENTER:
        put_enter(e, o);
        return;
    case OUT_RETURN:
        move_stack(e, (i64)o->number, o->live);
        return;
    case OUT_INSN:
        if (o->effect || (!put_stack_insn(e, o) && !absorb(e, o) && !combine(e, o) && !put_swapped(e, o) &&
                          !put_turned(e, o) && !put_product_for(e, o)))
            put_insn(e, o);
        return;
    }
}

/* ----------------------------------------------------------------------------------------------------------------- blocks */

static void refer(Emit *e, i32 block) {
    const MachineBlock *b = &e->u->blocks.at[block];
    i32 distance = 0;
    if (b->placed)
        distance = (i32)b->code_off - (i32)(e->c.size + 4);
    else
        VEC_PUSH(&e->fixups, ((Fixup){e->c.size, block}));
    memcpy(here(e), &distance, sizeof(distance));
    e->c.size += 4;
}

static void branch_to(Emit *e, u8 cond, i32 block) {
    const MachineBlock *b = &e->u->blocks.at[block];
    if (b->placed) {
        e->c.size += encode_branch(cond, e->c.run + b->code_off, address(e), here(e));
        return;
    }
    *here(e) = 0x0f;
    here(e)[1] = 0x80 | cond;
    e->c.size += 2;
    refer(e, block);
}

static void jump_to(Emit *e, i32 block) {
    *here(e) = 0xe9;
    e->c.size++;
    refer(e, block);
}

static void put_end(Emit *e, const MachineBlock *b, i32 following) {
    const MachineUnit *u = e->u;
    i32 taken = graph_resolve(u, b->next[0]), other = graph_resolve(u, b->next[1]);
    pending_settle_all(&e->p, &e->c, live_at_end(u, b));
    switch ((EndKind)b->end) {
    case END_NONE:
        CHECK(false, "blocks are finished before they are put out");
        return;
    case END_JUMP:
        if (taken != following)
            jump_to(e, taken);
        return;
    case END_BRANCH:
        if (taken == following) {
            branch_to(e, b->last->cond ^ 1, other);
            return;
        }
        branch_to(e, b->last->cond, taken);
        if (other != following)
            jump_to(e, other);
        return;
    case END_RETURN:
        put_bytes(e, b->last->bytes, b->last->length);
        return;
    case END_STOP:
        put_bytes(e, (const u8[]){0x0f, 0x0b}, 2);
        return;
    case END_LEAVE:
        e->c.size += encode_jump(b->target, address(e), here(e));
        return;
    case END_INDIRECT: {
        OutInsn o = {.in = b->last, .reads = ALL_REGS, .live = ALL_REGS};
        pending_reset(&e->p);
        put_insn(e, &o);
        return;
    }
    }
}

/* SDM 2B, NOP: the recommended multi-byte forms. */
static void align(Emit *e) {
    static const u8 nops[][9] = {{0x90},
                                 {0x66, 0x90},
                                 {0x0f, 0x1f, 0x00},
                                 {0x0f, 0x1f, 0x40, 0x00},
                                 {0x0f, 0x1f, 0x44, 0x00, 0x00},
                                 {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
                                 {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
                                 {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
                                 {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}};
    u32 missing = (u32)(-address(e) & (LOOP_ALIGN - 1));
    while (missing) {
        u32 size = missing < ARRAY_LEN(nops) ? missing : (u32)ARRAY_LEN(nops);
        put_bytes(e, nops[size - 1], size);
        missing -= size;
    }
}

static void put_block(Emit *e, size_t place) {
    MachineBlock *b = &e->u->blocks.at[e->order->list.at[place]];
    if (b->loops)
        align(e);
    b->code_off = e->c.size;
    b->placed = true;
    pending_reset(&e->p);
    for (u32 i = 0; i < b->out_count; i++)
        put_out(e, &b->out[i]);
    put_end(e, b, place + 1 < e->order->list.len ? e->order->list.at[place + 1] : NO_BLOCK);
}

/* ------------------------------------------------------------------------------------------------------------------ guard */

/* Emits a comparison with the value, by way of r11. Calls with another value go to the original. */
static void put_compare(Emit *e, u8 reg, u32 bytes, u64 value) {
    u8 *to = here(e);
    if (bytes < 4) { /* movzx */
        u8 code[] = {(u8)(0x44 | (reg & 8 ? 1 : 0)), 0x0f, bytes == 1 ? 0xb6 : 0xb7,
                     (u8)(0xc0 | (R11 & 7) << 3 | (reg & 7))};
        put_bytes(e, code, sizeof(code));
        reg = R11;
        bytes = 4;
    }
    to = here(e);
    u8 rex = (u8)(0x40 | (bytes == 8 ? 8 : 0) | (reg & 8 ? 1 : 0));
    if (bytes == 4 || encode_fits32((i64)value)) {
        i32 low = (i32)value;
        put_bytes(e, (const u8[]){rex, 0x81, (u8)(0xf8 | (reg & 7))}, 3);
        put_bytes(e, &low, sizeof(low));
    } else {
        e->c.size += encode_move_number(R11, value, to);
        put_bytes(e, (const u8[]){rex | 4, 0x39, (u8)(0xc0 | (R11 & 7) << 3 | (reg & 7))}, 3);
    }
    e->c.size += encode_branch(5, e->u->cfg->function, address(e), here(e));
}

static void put_guard(Emit *e) {
    ParamPlace places[ENTRY_MAX_PARAMS];
    const BinoptCfg *cfg = e->u->cfg;
    const char *why;
    CHECK(entry_places(cfg, places, &why), "the signature was looked at before");
    for (size_t i = 0; i < cfg->params.len; i++) {
        const Param *p = &cfg->params.at[i];
        u8 reg = places[i].reg;
        u32 bytes = config_type_bytes(p->type);
        if (!p->fixed)
            continue;
        if (reg >= XMM0 && reg != NO_REG) { /* movq xmm, r10; r10 and r11 have no other use here */
            put_bytes(e, (const u8[]){0x66, 0x49, 0x0f, 0x7e, (u8)(0xc2 | (reg - XMM0) << 3)}, 5);
            reg = R10;
        } else if (reg == NO_REG) { /* mov slot(%rsp), r10 */
            i32 slot = (i32)places[i].slot;
            put_bytes(e, (const u8[]){0x4c, 0x8b, 0x94, 0x24}, 4);
            put_bytes(e, &slot, sizeof(slot));
            reg = R10;
        }
        put_compare(e, reg, bytes, p->value);
    }
}

/* ----------------------------------------------------------------------------------------------------------------- public */

static u64 most_bytes(const MachineUnit *u) {
    u64 bytes = 64 + HOIST_MAX * ENCODE_MAX_BYTES + GUARD_BYTES * u->cfg->params.len;
    for (size_t i = 0; i < u->blocks.len; i++)
        if (u->blocks.at[i].reached)
            bytes += END_BYTES + LOOP_ALIGN + (u64)OUT_BYTES * u->blocks.at[i].out_count;
    return bytes;
}

/* Gives all constants that will be loaded a place before code is emitted. */
static void collect_constants(MachineUnit *u) {
    for (size_t i = 0; i < u->blocks.len; i++)
        for (u32 k = 0; u->blocks.at[i].reached && k < u->blocks.at[i].out_count; k++) {
            const OutInsn *o = &u->blocks.at[i].out[k];
            for (u32 n = 0; !o->dead && n < o->result_count; n++) {
                u64 both[] = {o->result[n].low, o->result[n].high};
                if (o->result[n].reg >= XMM0 && (both[0] || both[1]))
                    graph_constant(u, (const u8 *)both, sizeof(both));
            }
        }
}

/* Counts the calls that exceptions pass through. */
static size_t count_calls(const MachineUnit *u) {
    size_t count = 0;
    for (size_t i = 0; i < u->blocks.len; i++)
        for (u32 k = 0; u->blocks.at[i].reached && k < u->blocks.at[i].out_count; k++)
            count += u->blocks.at[i].out[k].frame != NULL;
    return count;
}

static void fix_up(Emit *e) {
    for (size_t i = 0; i < e->fixups.len; i++) {
        const Fixup *f = &e->fixups.at[i];
        i32 distance = (i32)e->u->blocks.at[f->block].code_off - (i32)(f->at + 4);
        memcpy(e->c.write + f->at, &distance, sizeof(distance));
    }
}

/* Returns the memory that was not needed. */
static void give_back(CodeMem *memory, CodeSpan *span, u64 size) {
    u64 used = (size + LOOP_ALIGN - 1) & ~(u64)(LOOP_ALIGN - 1);
    if (used >= span->code_bytes)
        return;
    CodeSpan rest = {span->code_write + used, span->code_run + used, span->data, span->code_bytes - used, 0};
    codemem_release(memory, &rest);
    span->code_bytes = used;
}

bool assemble_graph(MachineUnit *u, const BlockOrder *order, CodeMem *memory, CodeSpan *span, const void **unwind) {
    Emit e = {.u = u, .order = order};
    collect_constants(u);
    u64 table_bytes = unwind_tables_most_bytes(count_calls(u));
    if (!codemem_alloc(memory, most_bytes(u), u->pool.len + table_bytes, LOOP_ALIGN, span))
        return false;
    e.c = (CodeOut){span->code_write, (u64)span->code_run, 0};
    e.pool = (u64)span->data;
    if (u->pool.len)
        memcpy(span->data, u->pool.at, u->pool.len);
    Hoisted hoisted = hoist_constants(u, order);
    if (memory_insn(&u->memory, u->cfg->function)->mnemonic == ZYDIS_MNEMONIC_ENDBR64)
        put_bytes(&e, (const u8[]){0xf3, 0x0f, 0x1e, 0xfa}, 4);
    if (u->cfg->guard)
        put_guard(&e);
    for (u32 i = 0; i < hoisted.count; i++)
        e.c.size += encode_load_vector(hoisted.vec[i], e.pool + hoisted.bytes[i], u->newer, address(&e), here(&e));
    for (size_t i = 0; i < order->list.len; i++)
        put_block(&e, i);
    fix_up(&e);
    *unwind = e.calls.len ? span->data + u->pool.len : NULL;
    if (e.calls.len)
        unwind_tables_put(span->data + u->pool.len, e.c.run, e.c.size, e.calls.at, e.calls.len);
    give_back(memory, span, e.c.size);
    u->code_bytes = e.c.size;
    VEC_FREE(&e.fixups);
    VEC_FREE(&e.calls);
    return true;
}
