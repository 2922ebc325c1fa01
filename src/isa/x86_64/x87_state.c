/* x87_state.c: instructions that save or restore the x87 unit, the vector registers, or both. */
#include "isa/x86_64/families_x87.h"
#include "isa/x86_64/forms.h"

enum { FXSAVE_BYTES = 512, FXSAVE_MXCSR = 24, FXSAVE_XMM = 160 };

/* ----------------------------------------------------------------------------------------------------------- memory */

/* The memory operand as a pointer that C code can use: a host segment's base has to be asked for. */
static Val plain_pointer(Lifter *l, const Insn *in) {
    const Operand *m = &in->op[0];
    if (m->seg != SEG_FS || !tuning_of(l->cfg)->native_fs)
        return address(l, in, 0);
    return ir_index(l, segment_base(l, SEG_FS), ir_zext(l, effective_address(l, in, 0), I64), 1);
}

void state_environment(Lifter *l, const Insn *in, const char *helper, u32 access) {
    Val area = plain_pointer(l, in);
    guest_access(l, in, area, width(in, 0) / 8, access);
    Val short_form = ir_int(l, I32, width(in, 0) == 112 || width(in, 0) == 752);
    ir_helper(l, helper, 0, (Val[]){l->cpu, area, short_form}, 3);
}

/* ----------------------------------------------------------------------------------------------------------- FXSAVE */

static Val mxcsr_slot(Lifter *l) {
    return ir_state(l, offsetof(LatheX86Cpu, mxcsr));
}

static Val xmm_at(Lifter *l, Val area, u32 i) {
    return ir_offset(l, area, FXSAVE_XMM + 16 * i);
}

/* The aligned vector accesses come first: they fault where the instruction would because of alignment. */
void state_fxsave(Lifter *l, const Insn *in, bool wide) {
    Val area = plain_pointer(l, in), mxcsr = mxcsr_slot(l);
    check_aligned(l, in, area, 16);
    guest_access(l, in, area, FXSAVE_BYTES, STORES);
    for (u32 i = 0; i < 16; i++)
        ir_store(l, reg_read(l, (Reg)(XMM0 + i), VECTOR(I64, 2)), xmm_at(l, area, i), 16, SPACE_GUEST);
    if (x86_forms(l))
        x86_forms(l)->store_mxcsr(l, mxcsr);
    ir_helper(l, "lathe_x87_fxsave", 0, (Val[]){l->cpu, area, ir_int(l, I32, wide)}, 3);
}

void state_fxrstor(Lifter *l, const Insn *in, bool wide) {
    Val area = plain_pointer(l, in), slot = mxcsr_slot(l), xmm[16];
    check_aligned(l, in, area, 16);
    guest_access(l, in, area, FXSAVE_BYTES, LOADS);
    for (u32 i = 0; i < 16; i++)
        xmm[i] = ir_load(l, VECTOR(I64, 2), xmm_at(l, area, i), 16, SPACE_GUEST);
    Val mxcsr = ir_load(l, I32, ir_offset(l, area, FXSAVE_MXCSR), 4, SPACE_GUEST);
    trap_if(l, in, ir_icmp(l, UGT, mxcsr, ir_int(l, I32, 0xffff)), LATHE_TRAP_PRIVILEGED);
    ir_helper(l, "lathe_x87_fxrstor", 0, (Val[]){l->cpu, area, ir_int(l, I32, wide)}, 3);
    ir_store(l, mxcsr, slot, 4, SPACE_STATE);
    if (x86_forms(l))
        x86_forms(l)->load_mxcsr(l, slot);
    for (u32 i = 0; i < 16; i++)
        reg_write(l, (Reg)(XMM0 + i), xmm[i]);
}

/* ------------------------------------------------------------------------------------------------------------ XSAVE */

/* How much is accessed depends on edx:eax; markers are told of the legacy area and the header. Saving reads the header, too, but for xsavec
 * (SDM 1, 13.7 and 13.10). */
void state_extended(Lifter *l, const Insn *in, const char *helper, u32 access) {
    Val area = plain_pointer(l, in);
    guest_access(l, in, area, width(in, 0) / 8, access);
    ir_store(l, ir_bitcast(l, area, I64), ir_state(l, offsetof(LatheX86Cpu, scratch)), 8, SPACE_STATE);
    call_out(l, in, ir_state_function(l, helper), false);
}
