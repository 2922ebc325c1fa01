/* target.h: LLVM target machines for the machine we run on. */
#ifndef CODEGEN_TARGET_H
#define CODEGEN_TARGET_H

#include <stdbool.h>

#include <llvm-c/TargetMachine.h>

/* What code is generated for. Both strings are owned. */
typedef struct Target {
    char *cpu, *features;
} Target;

/* `cpu` NULL: this machine, without AVX-512; `features` NULL: those of the CPU. `low_vectors`: without AVX all the
 * same. False if LLVM does not know a name. */
bool target_init(Target *t, const char *cpu, const char *features, bool low_vectors);
void target_free(Target *t);

/* LLVM's name of what every machine of this kind has that we run on. */
const char *target_common_cpu(void);

/* A machine that emits position-independent code of the small code model; owned by the caller. */
LLVMTargetMachineRef target_machine_new(const Target *t, LLVMCodeGenOptLevel level);

#endif
