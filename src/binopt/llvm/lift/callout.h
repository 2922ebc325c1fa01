/* callout.h: calls from lifted code to machine code that is not lifted, as they appear in IR that is still being changed.
 *
 * A call out is a call of a placeholder. It takes the address, the argument registers and the stack pointer by value, and returns the
 * registers that the callee may change. It is assumed that a callee preserves the registers that the calling convention demands, and
 * writes to its caller's stack frame only through pointers that it was given. Therefore a loop's function pointer stays known across the
 * calls through it.
 */
#ifndef BINOPT_LLVM_CALLOUT_H
#define BINOPT_LLVM_CALLOUT_H

#include "binopt/llvm/unit/llvm_unit.h"

typedef enum CallShape {
    CALL_ABI, /* a call of any function that follows the calling convention */
    /* A call of a function that the caller's compiler knew: the caller may rely on further registers that the callee
     * happens to preserve. */
    CALL_LOCAL,
} CallShape;

enum { CALLOUT_MAX_REGS = 32 };

typedef struct CallRegs {
    u32 in_count, out_count;
    Reg in[CALLOUT_MAX_REGS], out[CALLOUT_MAX_REGS]; /* a placeholder's arguments after the pc, and its results */
} CallRegs;

const CallRegs *callout_regs(CallShape shape);

/* Makes missing placeholders, and new u->leave and u->lookup. Must be called before code is lifted, and again if the
 * module has been optimised since. */
void callout_declare(LlvmUnit *u);

/* Finds the placeholders that are still in use after the module was optimised. */
void callout_find(LlvmUnit *u);

/* True if this instruction is a call out. */
bool callout_is(const LlvmUnit *u, Val insn, CallShape *shape);
static inline Val callout_pc(Val call) {
    return LLVMGetOperand(call, 0);
}
Val callout_sp(Val call);

/* Replaces a call out by a call of a lifted function. */
void callout_replace(LlvmUnit *u, Val call, CallShape shape, Val lifted);

/* Replaces a call out by a test: if it leads to pc, the function that was lifted from pc is called; otherwise the call
 * out is made. */
void callout_guess(LlvmUnit *u, Val call, CallShape shape, u64 pc, Val lifted);

#endif
