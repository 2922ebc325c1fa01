/* x87.c: x87 instructions as calls of C functions (helpers_x87.c), with operands passed by their bits.
 *
 * Memory is accessed here, not in the functions, so that markers see it. A store takes its value from a function, then
 * writes memory, then pops: if the write faults, the register stack is still the old one.
 */
#include <stdio.h>

#include "isa/x86_64/families_x87.h"
#include "isa/x86_64/forms.h"

/* ---------------------------------------------------------------------------------------------------------- calling */

/* The helper `op`, on the guest state and args. */
static Val call(Lifter *l, const char *op, Ty ret, Val *args, u32 arg_count) {
    char name[40];
    Val all[4] = {l->cpu};
    CHECK(arg_count < ARRAY_LEN(all), "an x87 helper has at most three operands");
    memcpy(all + 1, args, arg_count * sizeof(Val));
    snprintf(name, sizeof(name), "lathe_x87_%s", op);
    return ir_helper(l, name, ret, all, arg_count + 1);
}

/* The helper `op_f32` or the like, on the guest state, v and more. */
static void call_mem(Lifter *l, const char *op, char kind, Val v, Val *more, u32 count) {
    char name[24];
    Val args[3] = {ir_ty(v) == I16 ? ir_zext(l, v, I32) : v};
    memcpy(args + 1, more, count * sizeof(Val));
    snprintf(name, sizeof(name), "%s_%c%u", op, kind, ty_bits(ir_ty(v)));
    call(l, name, 0, args, count + 1);
}

static Val number(Lifter *l, u32 n) {
    return ir_int(l, I32, n);
}

static Val st(Lifter *l, const Insn *in, int i) {
    return number(l, in->op[i].no);
}

void x87_plain(Lifter *l, const char *op) {
    call(l, op, 0, NULL, 0);
}

/* ------------------------------------------------------------------------------------------------- loads and stores */

/* Floats travel as integers, except the 80-bit ones, which no integer type fits: where the host has that type, as itself, and else as two
 * pieces of 64 and 16 bits. */
static bool has_extended(const Lifter *l) {
    return x86_forms(l) != NULL;
}

/* The upper piece of the ten bytes at memory operand 0, of which `low` is the lower. */
static Val upper_piece(Lifter *l, const Insn *in) {
    return ir_offset(l, address(l, in, 0), 8);
}

static void load_pieces(Lifter *l, const Insn *in, const char *op) {
    Val low = guest_load(l, in, I64, address(l, in, 0), 0);
    Val high = guest_load(l, in, I16, upper_piece(l, in), 0);
    call(l, op, 0, (Val[]){low, ir_zext(l, high, I32)}, 2);
}

/* The C function leaves them in the state's scratch fields. */
static void store_pieces(Lifter *l, const Insn *in, const char *op) {
    call(l, op, 0, NULL, 0);
    Val from = ir_state(l, offsetof(LatheX86Cpu, scratch));
    Val low = ir_load(l, I64, from, 8, SPACE_STATE), high = ir_load(l, I64, ir_offset(l, from, 8), 8, SPACE_STATE);
    guest_store(l, in, low, address(l, in, 0), 0);
    guest_store(l, in, ir_trunc(l, high, I16), upper_piece(l, in), 0);
}

static Ty bits_type(const Insn *in, int i) {
    return width(in, i) == 80 ? F80 : ty_int(width(in, i));
}

void x87_load(Lifter *l, const Insn *in) {
    if (is_reg(in, 0))
        call(l, "load_st", 0, (Val[]){st(l, in, 0)}, 1);
    else if (width(in, 0) == 80 && !has_extended(l))
        load_pieces(l, in, "load_f80");
    else
        call_mem(l, "load", 'f', operand_as(l, in, 0, bits_type(in, 0)), NULL, 0);
}

void x87_load_int(Lifter *l, const Insn *in) {
    call_mem(l, "load", 'i', operand(l, in, 0), NULL, 0);
}

void x87_load_bcd(Lifter *l, const Insn *in) {
    if (has_extended(l))
        call(l, "load_bcd", 0, (Val[]){operand_as(l, in, 0, F80)}, 1);
    else
        load_pieces(l, in, "load_bcd");
}

static Val state_byte(Lifter *l, u32 off_bytes) {
    return ir_load(l, I8, ir_state(l, off_bytes), 1, SPACE_STATE);
}

static void pop_register(Lifter *l) {
    const u32 top_off = offsetof(LatheX86Cpu, fpu_top), tag_off = offsetof(LatheX86Cpu, fpu_tag);
    Val top = state_byte(l, top_off), tag = state_byte(l, tag_off);
    Val bit = ir_shl(l, ir_int(l, I8, 1), ir_and_with(l, top, 7));
    ir_store(l, ir_and(l, tag, ir_not(l, bit)), ir_state(l, tag_off), 1, SPACE_STATE);
    ir_store(l, ir_and_with(l, ir_add_to(l, top, 1), 7), ir_state(l, top_off), 1, SPACE_STATE);
}

static void store_memory(Lifter *l, const Insn *in, char kind, u32 pops) {
    char name[24];
    snprintf(name, sizeof(name), "store_%c%u", kind, width(in, 0));
    if (width(in, 0) == 80 && !has_extended(l))
        store_pieces(l, in, name);
    else
        set_operand(l, in, 0, call(l, name, bits_type(in, 0), NULL, 0));
    if (pops)
        pop_register(l);
}

void x87_store(Lifter *l, const Insn *in, u32 pops) {
    if (is_reg(in, 0))
        call(l, "store_st", 0, (Val[]){st(l, in, 0), number(l, pops)}, 2);
    else
        store_memory(l, in, 'f', pops);
}

void x87_store_int(Lifter *l, const Insn *in, u32 pops) {
    store_memory(l, in, 'i', pops);
}

void x87_store_truncated(Lifter *l, const Insn *in) {
    store_memory(l, in, 't', 1);
}

void x87_store_bcd(Lifter *l, const Insn *in) {
    if (has_extended(l))
        set_operand(l, in, 0, call(l, "store_bcd", F80, NULL, 0));
    else
        store_pieces(l, in, "store_bcd");
    pop_register(l);
}

/* ------------------------------------------------------------------------------------------------------- arithmetic */

void x87_arith(Lifter *l, const Insn *in, const char *op, u32 pops) {
    if (is_mem(in, 0))
        call_mem(l, op, 'f', operand(l, in, 0), NULL, 0);
    else
        call(l, op, 0, (Val[]){st(l, in, 0), st(l, in, 1), number(l, pops)}, 3);
}

void x87_arith_int(Lifter *l, const Insn *in, const char *op) {
    call_mem(l, op, 'i', operand(l, in, 0), NULL, 0);
}

/* --------------------------------------------------------------------------------------------------------- compares */

/* Zydis names ST(0) as the first operand of some compares and leaves it out of others. */
static Val compared(Lifter *l, const Insn *in) {
    return in->operand_count ? st(l, in, in->operand_count - 1) : number(l, 1);
}

void x87_compare(Lifter *l, const Insn *in, const char *op, u32 pops) {
    Val times = number(l, pops);
    if (in->operand_count && is_mem(in, 0))
        call_mem(l, op, 'f', operand(l, in, 0), &times, 1);
    else
        call(l, op, 0, (Val[]){compared(l, in), times}, 2);
}

void x87_compare_int(Lifter *l, const Insn *in, u32 pops) {
    Val times = number(l, pops);
    call_mem(l, "com", 'i', operand(l, in, 0), &times, 1);
}

void x87_compare_flags(Lifter *l, const Insn *in, const char *op, u32 pops) {
    Val flags = call(l, op, I32, (Val[]){compared(l, in), number(l, pops)}, 2);
    set_flag(l, CF, ir_trunc(l, flags, I1));
    set_flag(l, PF, ir_trunc(l, ir_lshr_by(l, flags, 2), I1));
    set_flag(l, ZF, ir_trunc(l, ir_lshr_by(l, flags, 6), I1));
}

/* ----------------------------------------------------------------------------------------------- the register stack */

void x87_exchange(Lifter *l, const Insn *in) {
    call(l, "xch", 0, (Val[]){st(l, in, 0)}, 1);
}

void x87_move_if(Lifter *l, const Insn *in, Cond c) {
    Val moves = ir_zext(l, condition(l, c), I32);
    call(l, "cmov", 0, (Val[]){st(l, in, 1), moves}, 2);
}

void x87_free(Lifter *l, const Insn *in, u32 pops) {
    call(l, "free", 0, (Val[]){st(l, in, 0), number(l, pops)}, 2);
}

void x87_step(Lifter *l, int by) {
    call(l, "step", 0, (Val[]){number(l, (u32)by)}, 1);
}

/* ---------------------------------------------------------------------------------------------------------- control */

/* Field by field, so that the next load of one need not wait for a wider store. */
void x87_init(Lifter *l) {
    Val zero = ir_int(l, I8, 0), zero16 = ir_int(l, I16, 0), zero64 = ir_int(l, I64, 0);
    ir_store(l, ir_int(l, I16, 0x037f), ir_state(l, offsetof(LatheX86Cpu, fpu_cw)), 2, SPACE_STATE);
    ir_store(l, zero16, ir_state(l, offsetof(LatheX86Cpu, fpu_sw)), 2, SPACE_STATE);
    ir_store(l, zero, ir_state(l, offsetof(LatheX86Cpu, fpu_top)), 1, SPACE_STATE);
    ir_store(l, zero, ir_state(l, offsetof(LatheX86Cpu, fpu_tag)), 1, SPACE_STATE);
    ir_store(l, zero16, ir_state(l, offsetof(LatheX86Cpu, fpu_opcode)), 2, SPACE_STATE);
    ir_store(l, zero64, ir_state(l, offsetof(LatheX86Cpu, fpu_ip)), 8, SPACE_STATE);
    ir_store(l, zero64, ir_state(l, offsetof(LatheX86Cpu, fpu_dp)), 8, SPACE_STATE);
}

static Val status_without_top(Lifter *l) {
    return ir_load(l, I16, ir_state(l, offsetof(LatheX86Cpu, fpu_sw)), 2, SPACE_STATE);
}

/* SDM 2A, FCLEX: exception flags, SF, ES and B; the condition codes stay, though the manual leaves them undefined. */
void x87_clear_exceptions(Lifter *l) {
    Val sw = ir_and_with(l, status_without_top(l), 0x7f00);
    ir_store(l, sw, ir_state(l, offsetof(LatheX86Cpu, fpu_sw)), 2, SPACE_STATE);
}

void x87_load_control(Lifter *l, const Insn *in) {
    call(l, "load_cw", 0, (Val[]){ir_zext(l, operand(l, in, 0), I32)}, 1);
}

void x87_store_control(Lifter *l, const Insn *in) {
    set_operand(l, in, 0, ir_load(l, I16, ir_state(l, offsetof(LatheX86Cpu, fpu_cw)), 2, SPACE_STATE));
}

void x87_store_status(Lifter *l, const Insn *in) {
    Val top = ir_zext(l, state_byte(l, offsetof(LatheX86Cpu, fpu_top)), I16);
    set_operand(l, in, 0, ir_or(l, status_without_top(l), ir_shl_by(l, top, 11)));
}
