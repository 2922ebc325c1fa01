/* system.c: instructions that ask the system or the machine: system calls, cpuid, time stamps, traps, segment bases. */
#include "isa/x86_64/families_base.h"
#include "isa/x86_64/forms.h"

/* SDM 2B, SYSCALL: rcx gets the return address, r11 the flags. */
void system_call(Lifter *l, const Insn *in) {
    Val flags = rflags(l);
    reg_write(l, RCX, pc_value(l, insn_end(in)));
    reg_write(l, R11, flags);
    if (l->cfg->on_syscall)
        call_out(l, in, l->cfg->on_syscall, true);
    else
        trap(l, in, insn_end(in), LATHE_TRAP_SYSCALL, 0);
}

/* Through the caller's override, or a C function that asks the host for the same. The instruction may have an operand
 * (rdrand, rdpid): its register's number is left in trap_info for the function. */
void ask_host(Lifter *l, const Insn *in, Val override, const char *helper) {
    if (in->operand_count && is_reg(in, 0)) {
        u32 which = in->op[0].no | (u32)width(in, 0) << 8;
        ir_store(l, ir_int(l, I32, which), ir_state(l, offsetof(LatheX86Cpu, trap_info)), 4, SPACE_STATE);
    }
    call_out(l, in, override ? override : ir_state_function(l, helper), false);
}

void stop(Lifter *l, const Insn *in, LatheTrap t) {
    trap(l, in, in->pc, t, 0);
}

void stop_after(Lifter *l, const Insn *in, LatheTrap t, u32 info) {
    trap(l, in, insn_end(in), t, info);
}

void fence(Lifter *l) {
    ir_fence(l, SEQ_CST);
}

void read_segment_base(Lifter *l, const Insn *in, u8 seg) {
    set_operand(l, in, 0, ir_trunc(l, ir_bitcast(l, segment_base(l, seg), I64), ty_int(width(in, 0))));
}

void write_segment_base(Lifter *l, const Insn *in, u8 seg) {
    u32 off = seg == SEG_FS ? offsetof(LatheX86Cpu, fsbase) : offsetof(LatheX86Cpu, gsbase);
    Val base = ir_zext(l, operand(l, in, 0), I64);
    if (seg == SEG_FS && tuning_of(l->cfg)->native_fs)
        x86_forms(l)->write_fs_base(l, base);
    ir_store(l, base, ir_state(l, off), 8, SPACE_STATE);
}
