/* evaluate.h: computes the results of an instruction for known inputs, by the CPU itself. The instruction is executed
 * alone, with the known values in its registers and a copy of its memory operand. */
#ifndef BINOPT_MACHINE_EVALUATE_H
#define BINOPT_MACHINE_EVALUATE_H

#include "binopt/x86_64/machine/machine_insn.h"
#include "codegen/codemem.h"

enum { EVALUATE_MEM_BYTES = 64 };

/* All registers, before and after. */
typedef struct MachineRegs {
    u64 gp[GP_COUNT]; /* the entry of the stack pointer is not used */
    u64 flags;        /* in the format of rflags */
    u64 use_vec;
    u8 vec[16][16];
} MachineRegs;

typedef struct Evaluator {
    CodeMem memory; /* copies of instructions, each made once */
    u8 *operand;    /* the memory that memory operands refer to */
    Map64 copies;
    bool works;
    X86Level level; /* the least level of this CPU */
} Evaluator;

void evaluator_init(Evaluator *e);
void evaluator_free(Evaluator *e);

/* Executes a pure instruction. `operand` has the bytes of its memory operand, if it has one, and then what the
 * instruction left there. Returns false if the instruction cannot be executed here, or would fault. */
bool evaluate_insn(Evaluator *e, const MachineInsn *in, MachineRegs *m, u8 *operand);

#endif
