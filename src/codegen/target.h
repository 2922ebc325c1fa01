/* target.h: LLVM target machines for hosts. */
#ifndef CODEGEN_TARGET_H
#define CODEGEN_TARGET_H

#include <stdbool.h>

#include <llvm-c/TargetMachine.h>

#include "host/host.h"

/* What code is generated for. Both strings are owned. */
typedef struct Target {
    const Host *host;
    char *cpu, *features;
} Target;

/* `cpu` NULL: of LATHE_HOST_OWN this machine, as far as its host uses it, of others what all of the kind have; `features` NULL:
 * those of the CPU. `low_vectors`: see LatheJitConfig. False if there is no such host, or LLVM does not know a name. */
bool target_init(Target *t, LatheHost id, const char *cpu, const char *features, bool low_vectors);
void target_free(Target *t);

/* LLVM's name of what every machine of this kind has that we run on. */
const char *target_common_cpu(void);

/* A machine that emits position-independent code of the small code model; owned by the caller. */
LLVMTargetMachineRef target_machine_new(const Target *t, LLVMCodeGenOptLevel level);

#endif
