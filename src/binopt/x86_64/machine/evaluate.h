/* evaluate.h: what an instruction makes of known inputs: the CPU says. The instruction is executed alone, with the known values
 * in its registers and a copy of its memory operand. */
#ifndef BINOPT_MACHINE_EVALUATE_H
#define BINOPT_MACHINE_EVALUATE_H

#include "binopt/x86_64/machine/insn.h"
#include "codegen/codemem.h"

enum { EVALUATE_MEM_BYTES = 64 };

/* All registers before and after. */
typedef struct Machine {
    u64 gp[GP_COUNT]; /* that of the stack pointer is not used */
    u64 flags;        /* as in rflags */
    u64 use_vec;
    u8 vec[16][16];
} Machine;

typedef struct Evaluator {
    CodeMem memory; /* copies of instructions, made once */
    u8 *operand;    /* what memory operands become */
    Map64 copies;
    bool works;
    X86Level level; /* what this CPU has for sure */
} Evaluator;

void evaluator_init(Evaluator *e);
void evaluator_free(Evaluator *e);

/* Executes a pure instruction whose memory operand, if it has one, has the bytes `operand`, which are then what it left there.
 * False if it cannot be executed here, or would fault. */
bool evaluate_insn(Evaluator *e, const MachineInsn *in, Machine *m, u8 *operand);

#endif
