/* operand.c: x86-64 operands: addresses, partial registers, immediates, the stack. */
#include "isa/x86_64/forms.h"
#include "isa/x86_64/x86_64.h"

/* ---------------------------------------------------------------------------------------------------- general registers */

Val gp(Lifter *l, Reg r, u32 bits) {
    return reg_read(l, r, ty_int(bits));
}

/* The bits of r that a narrow write keeps, joined with it. The freeze is for LLVM 19, which selects a partial move for
 * `p & -256 | zext(load i8 p)` (mov al, [rax]) and then loses the upper bits of p where the address register is p itself. The results of
 * arithmetic are no loads and are not frozen: LLVM moves a freeze to the beginning of the chain of instructions it depends on, step by
 * step, which takes time with the square of the chain's length. */
static void merge(Lifter *l, Reg r, Val v, u32 shift) {
    u64 mask = (ty_bits(ir_ty(v)) == 8 ? 0xffu : 0xffffu) << shift;
    Val kept = ir_and_with(l, gp(l, r, 64), ~mask), low = ir_zext(l, v, I64);
    if (!ir_is_arithmetic(v))
        low = ir_freeze(l, low);
    reg_write(l, r, ir_or(l, kept, ir_shl_by(l, low, shift)));
}

void set_gp(Lifter *l, Reg r, Val v) {
    Ty t = ir_ty(v);
    if (t != I8 && t != I16) {
        reg_write(l, r, v);
        return;
    }
    merge(l, r, v, 0);
    reg_also(l, r, v);
}

void set_gp_high(Lifter *l, Reg r, Val v) {
    merge(l, r, v, 8);
}

static Val read_gp(Lifter *l, const Operand *op) {
    if (op->high)
        return ir_trunc(l, ir_lshr_by(l, gp(l, op->no, 64), 8), I8);
    return gp(l, op->no, op->bits);
}

/* ----------------------------------------------------------------------------------------------------------- addresses */

/* Is a segment of the guest the host's own? */
static bool is_native(const Lifter *l, u8 seg) {
    return seg == SEG_FS && tuning_of(l->cfg)->native_fs;
}

Val segment_base(Lifter *l, u8 seg) {
    u32 off = seg == SEG_FS ? offsetof(LatheX86Cpu, fsbase) : offsetof(LatheX86Cpu, gsbase);
    if (is_native(l, seg))
        return ir_bitcast(l, x86_forms(l)->read_fs_base(l), PTR);
    return ir_load(l, PTR, ir_state(l, off), 8, SPACE_STATE);
}

static Val integer_address(Lifter *l, const Operand *m) {
    Ty t = ty_int(m->addr_bits);
    Val sum = NULL;
    if (m->base != REG_NONE && m->base != REG_PC)
        sum = reg_read(l, m->base, t);
    if (m->index != REG_NONE) {
        Val scaled = ir_shl_by(l, reg_read(l, m->index, t), (u32)__builtin_ctz(m->scale));
        sum = sum ? ir_add(l, sum, scaled) : scaled;
    }
    if (m->base == REG_PC)
        return ir_trunc(l, pc_value(l, (u64)m->disp), t);
    return sum ? ir_add_to(l, sum, m->disp) : ir_int(l, t, (u64)m->disp);
}

/* The base register is taken for the pointer, everything else for offsets into what it points to. The constant comes last:
 * accesses that differ only in it then share the rest. */
static Val pointer_address(Lifter *l, const Operand *m) {
    if (m->base == REG_PC)
        return pc_pointer(l, (u64)m->disp);
    bool based = m->base != REG_NONE;
    Val p = based ? reg_read(l, m->base, PTR) : ir_bitcast(l, ir_int(l, I64, (u64)m->disp), PTR);
    if (m->index != REG_NONE)
        p = ir_index(l, p, reg_read(l, m->index, I64), m->scale);
    return based ? ir_offset(l, p, m->disp) : p;
}

/* LLVM's address space 257 is the host's fs. */
static Val native_segment(Lifter *l, Val offset) {
    return LLVMBuildIntToPtr(l->b, offset, LLVMPointerTypeInContext(l->ctx, 257), "");
}

/* A marker of memory accesses gets plain addresses. */
Val segmented(Lifter *l, Val offset, u8 seg) {
    if (seg == SEG_NONE)
        return ir_bitcast(l, offset, PTR);
    if (is_native(l, seg) && !l->cfg->mark_memory && !tuning_of(l->cfg)->full_addresses)
        return native_segment(l, offset);
    return ir_index(l, segment_base(l, seg), offset, 1);
}

static Val make_address(Lifter *l, const Operand *m) {
    if (m->seg == SEG_NONE && m->addr_bits == 64)
        return pointer_address(l, m);
    return segmented(l, ir_zext(l, integer_address(l, m), I64), m->seg);
}

Val address(Lifter *l, const Insn *in, int i) {
    Val *slot = &l->address[i ? 1 : 0];
    if (!*slot)
        *slot = make_address(l, &in->op[i]);
    return *slot;
}

Val plain_address(Lifter *l, const Operand *at) {
    Val offset = ir_zext(l, integer_address(l, at), I64);
    return at->seg == SEG_NONE ? offset : ir_add(l, ir_bitcast(l, segment_base(l, at->seg), I64), offset);
}

/* A base that is at hand as a pointer keeps the result a pointer, so that what points into an object goes on to. */
Val effective_address(Lifter *l, const Insn *in, int i) {
    const Operand *m = &in->op[i];
    bool pointer = m->addr_bits == 64 && m->base < REG_MAX && reg_has(l, m->base, PTR);
    if (pointer || (m->base == REG_PC && m->addr_bits == 64))
        return pointer_address(l, m);
    return integer_address(l, m);
}

/* ------------------------------------------------------------------------------------------------------- MMX registers */

static Val mmx_slot(Lifter *l, u8 no) {
    return ir_state(l, (u32)offsetof(LatheX86Cpu, st) + no * 16u);
}

/* SDM 1, 9.2: a write sets the exponent of the aliased x87 register to ones. */
static void write_mmx(Lifter *l, u8 no, Val v) {
    ir_store(l, v, mmx_slot(l, no), 16, SPACE_STATE);
    ir_store(l, ir_int(l, I16, 0xffff), ir_offset(l, mmx_slot(l, no), 8), 8, SPACE_STATE);
}

/* An access of the host's own that wants to be aligned faults by itself; elsewhere one has to look. */
void check_aligned(Lifter *l, const Insn *in, Val ptr, u32 align) {
    if (align < 2 || x86_forms(l))
        return;
    Val low = ir_and_with(l, ir_bitcast(l, ptr, I64), align - 1);
    trap_if(l, in, ir_not(l, ir_is_zero(l, low)), LATHE_TRAP_MISALIGNED);
}

/* ------------------------------------------------------------------------------------------------------------- reading */

Val imm(Lifter *l, const Insn *in, int i, Ty t) {
    return ir_int(l, t, imm_value(in, i));
}

static Val read_operand(Lifter *l, const Insn *in, int i, Ty t, u32 align) {
    const Operand *op = &in->op[i];
    if (op->kind == OPERAND_MEM) {
        check_aligned(l, in, address(l, in, i), align);
        return guest_load(l, in, t, address(l, in, i), align);
    }
    if (op->kind == OPERAND_IMM)
        return imm(l, in, i, t);
    switch (op->cls) {
    case CLS_GP:
        return op->high ? read_gp(l, op) : reg_read(l, op->no, t);
    case CLS_VEC:
        return reg_read(l, (Reg)(XMM0 + op->no), t);
    case CLS_MMX:
        return ir_load(l, t, mmx_slot(l, op->no), 16, SPACE_STATE);
    case CLS_MASK:
        return reg_read(l, (Reg)(K0 + op->no), t);
    }
    CHECK(false, "an operand of a class that has no value");
}

Val operand(Lifter *l, const Insn *in, int i) {
    return read_operand(l, in, i, ty_int(in->op[i].kind == OPERAND_IMM ? width(in, 0) : width(in, i)), 0);
}

Val operand_as(Lifter *l, const Insn *in, int i, Ty t) {
    return read_operand(l, in, i, t, 0);
}

Val operand_aligned(Lifter *l, const Insn *in, int i, Ty t) {
    return read_operand(l, in, i, t, ty_bits(t) / 8);
}

/* ------------------------------------------------------------------------------------------------------------- writing */

static void clear_upper(Lifter *l, u8 no) {
    reg_write(l, (Reg)(YMM0_HIGH + no), ir_zero(l, VECTOR(I64, 2)));
    reg_write(l, (Reg)(ZMM0_HIGH + no), ir_zero(l, VECTOR(I64, 4)));
}

/* A scalar goes into lane 0 of its vector; a shorter vector into the low lanes. */
static Val insert_low(Lifter *l, Reg r, Val v, Ty t) {
    if (!ty_is_vector(t))
        return ir_insert(l, reg_read(l, r, ty_vector(t, 128)), v, 0);
    int lanes[16];
    u32 n = ty_lanes(t), all = 128 / ty_bits(ty_elem(t));
    for (u32 i = 0; i < all; i++)
        lanes[i] = (int)(i < n ? i : i % n + n);
    Val wide = ir_shuffle(l, v, LLVMConstNull(LLVMTypeOf(v)), lanes, all);
    for (u32 i = 0; i < all; i++)
        lanes[i] = (int)(i < n ? i : all + i);
    return ir_shuffle(l, wide, reg_read(l, r, VECTOR(ty_elem(t), all)), lanes, all);
}

static void write_vector(Lifter *l, const Insn *in, u8 no, Val v, bool keep) {
    Reg r = (Reg)(XMM0 + no);
    Ty t = ir_ty(v);
    if (keep && (t == F32 || t == F64)) {
        reg_write_low(l, r, v);
    } else if (ty_bits(t) < 128 && keep) {
        reg_write(l, r, insert_low(l, r, v, t));
        reg_also(l, r, v);
    } else {
        reg_write(l, r, v);
    }
    if (in->prefixes & (PREFIX_VEX | PREFIX_EVEX))
        clear_upper(l, no);
}

static void write_operand(Lifter *l, const Insn *in, int i, Val v, bool keep, u32 align) {
    const Operand *op = &in->op[i];
    if (op->kind == OPERAND_MEM) {
        check_aligned(l, in, address(l, in, i), align);
        guest_store(l, in, v, address(l, in, i), align);
        return;
    }
    switch (op->cls) {
    case CLS_GP:
        if (op->high)
            set_gp_high(l, op->no, v);
        else
            set_gp(l, op->no, v);
        return;
    case CLS_VEC:
        write_vector(l, in, op->no, v, keep);
        return;
    case CLS_MMX:
        write_mmx(l, op->no, v);
        return;
    case CLS_MASK:
        reg_write(l, (Reg)(K0 + op->no), v);
        return;
    }
    CHECK(false, "an operand of a class that cannot be written");
}

void set_operand(Lifter *l, const Insn *in, int i, Val v) {
    write_operand(l, in, i, v, true, 0);
}

void set_operand_zext(Lifter *l, const Insn *in, int i, Val v) {
    write_operand(l, in, i, v, false, 0);
}

void set_operand_aligned(Lifter *l, const Insn *in, int i, Val v) {
    write_operand(l, in, i, v, true, ty_bits(ir_ty(v)) / 8);
}

/* --------------------------------------------------------------------------------------------------------------- stack */

/* The store comes first: if it faults, rsp is still the old one. */
void push(Lifter *l, const Insn *in, Val v) {
    Val top = ir_offset(l, reg_read(l, RSP, PTR), -(i64)(ty_bits(ir_ty(v)) / 8));
    guest_store(l, in, v, top, 0);
    reg_write(l, RSP, top);
}

Val pop(Lifter *l, const Insn *in, u32 bits) {
    Val top = reg_read(l, RSP, PTR);
    Val v = guest_load(l, in, ty_int(bits), top, 0);
    reg_write(l, RSP, ir_offset(l, top, bits / 8));
    return v;
}
