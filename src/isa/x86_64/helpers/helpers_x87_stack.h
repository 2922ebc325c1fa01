/* helpers_x87_stack.h: the x87 instructions as far as they are about the stack and the words of state, for the one file of each host that
 * has their arithmetic.
 *
 * Who includes it defines before what a register holds: `Extended`, which is ten bytes. Names are lathe_x87_ and the operation, as
 * lifted code calls them; dst and src are numbers of stack registers; pops is how often the stack is popped.
 */
#ifndef ISA_X86_64_HELPERS_X87_STACK_H
#define ISA_X86_64_HELPERS_X87_STACK_H

#include "isa/x86_64/helpers/helpers_x87.h"

typedef Extended ExtendedSlot __attribute__((may_alias));

static inline ExtendedSlot *fpu_slot(LatheX86Cpu *cpu, u32 i) {
    return (ExtendedSlot *)cpu->st[(cpu->fpu_top + i) & 7];
}

static inline void fpu_set(LatheX86Cpu *cpu, u32 i, Extended v) {
    *fpu_slot(cpu, i) = v;
    cpu->fpu_tag |= fpu_tag_bit(cpu, i);
}

static inline void fpu_push(LatheX86Cpu *cpu, Extended v) {
    cpu->fpu_top = (cpu->fpu_top - 1) & 7;
    fpu_set(cpu, 0, v);
}

/* The real indefinite: what masked invalid operations give. */
static inline Extended fpu_indefinite(void) {
    static _Alignas(16) const u8 bytes[16] = {[7] = 0xc0, 0xff, 0xff};
    return *(const ExtendedSlot *)bytes;
}

/* ------------------------------------------------------------------------------------------------------------ loads */

/* A denormal number is loaded even where that is an unmasked exception. */
static inline void load(LatheX86Cpu *cpu, Extended v, u16 sw) {
    if (fpu_commit(cpu, sw, FPU_C1, FPU_IE))
        fpu_push(cpu, v);
}

static inline bool overflows(LatheX86Cpu *cpu) {
    fpu_wait(cpu);
    if (fpu_empty(cpu, 7))
        return false;
    if (fpu_stack_fault(cpu, FPU_C1))
        fpu_push(cpu, fpu_indefinite());
    return true;
}

/* ------------------------------------------------------------------------------------------------------- arithmetic */

static inline void put_result(LatheX86Cpu *cpu, u32 dst, Extended r, u16 sw, u32 pops) {
    if (!fpu_commit(cpu, sw, FPU_C1, FPU_BEFORE))
        return;
    fpu_set(cpu, dst, r);
    if (pops)
        fpu_pop(cpu);
}

static inline bool underflows(LatheX86Cpu *cpu, u32 dst, u32 src, u32 pops) {
    fpu_wait(cpu);
    if (!fpu_empty(cpu, dst) && !fpu_empty(cpu, src))
        return false;
    if (fpu_stack_fault(cpu, 0)) {
        fpu_set(cpu, dst, fpu_indefinite());
        if (pops)
            fpu_pop(cpu);
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------------- compares */

static inline void pop_some(LatheX86Cpu *cpu, u32 pops) {
    while (pops--)
        fpu_pop(cpu);
}

/* An unmasked exception keeps the stack from being popped, not the condition codes from being set. */
static inline void compared(LatheX86Cpu *cpu, u16 sw, u32 pops) {
    fpu_commit(cpu, sw, FPU_CODES, 0);
    if (!(sw & ~cpu->fpu_cw & FPU_BEFORE))
        pop_some(cpu, pops);
}

static inline bool is_any_empty(LatheX86Cpu *cpu, u32 src, u32 pops) {
    fpu_wait(cpu);
    if (!fpu_empty(cpu, 0) && !fpu_empty(cpu, src))
        return false;
    if (fpu_stack_fault(cpu, 0))
        pop_some(cpu, pops);
    cpu->fpu_sw |= FPU_C0 | FPU_C2 | FPU_C3;
    return true;
}

/* The flags at their places in rflags: CF 0, PF 2, ZF 6. */
enum { UNORDERED = 0x45 };

static inline bool is_flag_compare_empty(LatheX86Cpu *cpu, u32 src, u32 pops) {
    fpu_wait(cpu);
    if (!fpu_empty(cpu, 0) && !fpu_empty(cpu, src))
        return false;
    if (fpu_stack_fault(cpu, 0))
        pop_some(cpu, pops);
    return true;
}

#endif
