/* system_access.c: the meanings of what leaves for the system, of system registers, and of pointer authentication. */
#include "isa/aarch64/families.h"
#include "isa/aarch64/float.h"
#include "isa/aarch64/system.h"

void a64_system_call(Lifter *l, const Insn *in) {
    if (l->cfg->on_syscall)
        call_out(l, in, l->cfg->on_syscall, true);
    else
        trap(l, in, insn_end(in), LATHE_TRAP_SYSCALL, 0);
}

void a64_trap(Lifter *l, const Insn *in, LatheTrap kind) {
    trap(l, in, in->pc, kind, 0);
}

void a64_nothing(Lifter *l, const Insn *in) {
    (void)l, (void)in;
}

/* What comes after it may be other code than when this was lifted. */
void a64_synchronize_code(Lifter *l, const Insn *in) {
    jump_to(l, in, pc_value(l, insn_end(in)));
}

/* ----------------------------------------------------------------------------------------------------- system registers */

/* As I64. */
static Val system_value(Lifter *l, u32 no) {
    u64 constant;
    if (a64_system_constant(no, &constant))
        return ir_int(l, I64, constant);
    switch (no) {
    case A64_NZCV:
        return ir_shl_by(l, ir_zext(l, a64_nzcv(l), I64), 28);
    case A64_FPCR:
        return ir_zext(l, a64_fpcr(l), I64);
    case A64_FPSR:
        return ir_zext(l, a64_fpsr(l), I64);
    case A64_TPIDR_EL0:
        return reg_read(l, A64_THREAD, I64);
    case A64_CNTVCT_EL0:
        return ir_intrinsic(l, "llvm.readcyclecounter", NULL, 0, NULL, 0);
    }
    CHECK(false, "a system register that is not known");
}

void a64_read_system(Lifter *l, const Insn *in) {
    if (!a64_system_is_legal(in)) {
        a64_trap(l, in, LATHE_TRAP_UNDEFINED);
        return;
    }
    a64_set(l, in, 0, system_value(l, (u32)a64_imm(in, 1)));
}

void a64_write_system(Lifter *l, const Insn *in) {
    if (!a64_system_is_legal(in)) {
        a64_trap(l, in, LATHE_TRAP_UNDEFINED);
        return;
    }
    Val v = a64_x(l, in, 1), low = ir_trunc(l, v, I32);
    switch (a64_imm(in, 0)) {
    case A64_NZCV:
        a64_flags_bits(l, ir_lshr_by(l, low, 28));
        return;
    case A64_FPCR:
        a64_set_fpcr(l, in, low);
        return;
    case A64_FPSR:
        a64_set_fpsr(l, low);
        return;
    case A64_TPIDR_EL0:
        reg_write(l, A64_THREAD, v);
        return;
    case A64_DIT:
    case A64_SSBS:
        return;
    }
    CHECK(false, "a system register that is not known");
}

/* The line that the address is in. */
void a64_zero_line(Lifter *l, const Insn *in) {
    Val address = ir_and_with(l, ir_bitcast(l, a64_address(l, in, 0), I64), ~(u64)(A64_LINE_BYTES - 1));
    Val at = ir_bitcast(l, address, PTR), zeros = ir_zero(l, VECTOR(I64, 2));
    for (u32 i = 0; i < A64_LINE_BYTES; i += 16)
        guest_store(l, in, zeros, ir_offset(l, at, i), 0);
}

/* ----------------------------------------------------------------------------------------------- pointer authentication */

/* Addresses have 48 bits; bit 55 says of which half they are. */
static Val stripped(Lifter *l, Val v) {
    Val low = ir_and_with(l, v, ((u64)1 << 48) - 1), high = ir_or(l, v, ir_int(l, I64, ~(u64)0 << 48));
    return ir_select(l, ir_is_zero(l, ir_and_with(l, v, (u64)1 << 55)), low, high);
}

void a64_strip(Lifter *l, const Insn *in) {
    a64_set(l, in, 0, stripped(l, a64_x(l, in, 0)));
}

void a64_strip_link(Lifter *l, const Insn *in) {
    (void)in;
    reg_write(l, A64_LR, stripped(l, reg_read(l, A64_LR, I64)));
}

/* A signature of a value, in the upper half: any function of both that is hard to invert by chance. */
void a64_sign(Lifter *l, const Insn *in) {
    Val mixed =
        ir_mul(l, ir_xor(l, a64_x(l, in, 1), ir_int(l, I64, 0x9e3779b97f4a7c15)), ir_int(l, I64, 0xbf58476d1ce4e5b9));
    mixed = ir_mul(l, ir_xor(l, mixed, ir_add(l, a64_x(l, in, 2), ir_lshr_by(l, mixed, 29))),
                   ir_int(l, I64, 0x94d049bb133111eb));
    a64_set(l, in, 0, ir_and_with(l, mixed, ~(u64)0 << 32));
}

void a64_return_link(Lifter *l, const Insn *in) {
    return_to(l, in, reg_read(l, A64_LR, I64));
}
