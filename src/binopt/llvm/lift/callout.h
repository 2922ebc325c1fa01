/* callout.h: calls from lifted code to machine code that stays as it is, while the IR is still being worked on.
 *
 * A call out is a call of a placeholder that takes the address, the argument registers and the stack pointer by value and
 * returns the registers that the callee leaves behind. A callee keeps the registers that the calling convention makes it
 * keep, and writes to its caller's stack frame only through pointers it was given: this is what lets a loop's function
 * pointer stay known across the calls through it.
 */
#ifndef BINOPT_LLVM_CALLOUT_H
#define BINOPT_LLVM_CALLOUT_H

#include "binopt/llvm/unit/unit.h"

typedef enum CallShape {
    CALL_ABI, /* to whatever follows the calling convention */
    CALL_LOCAL, /* to a function that the caller's compiler knew: it may rely on registers that the callee happens to keep */
} CallShape;

enum { CALLOUT_MAX_REGS = 32 };

typedef struct CallRegs {
    u32 in_count, out_count;
    Reg in[CALLOUT_MAX_REGS], out[CALLOUT_MAX_REGS]; /* the arguments of a placeholder after the pc; the results */
} CallRegs;

const CallRegs *callout_regs(CallShape shape);

/* Makes the placeholders, where they are missing, and new u->leave and u->lookup: to be called before code is lifted,
 * and again when the module has been optimised since. */
void callout_declare(Unit *u);

/* After the module was optimised: finds the placeholders that are still in use. */
void callout_find(Unit *u);

/* Is this instruction a call out? */
bool callout_is(const Unit *u, Val insn, CallShape *shape);
static inline Val callout_pc(Val call) {
    return LLVMGetOperand(call, 0);
}
Val callout_sp(Val call);

/* Replaces a call out by a call of a lifted function. */
void callout_replace(Unit *u, Val call, CallShape shape, Val lifted);

/* Replaces a call out by a call of a function that was lifted from pc, if the call leads there; otherwise it stays what it is. */
void callout_guess(Unit *u, Val call, CallShape shape, u64 pc, Val lifted);

#endif
