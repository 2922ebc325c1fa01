/* assemble.h: the machine code of case texts, from LLVM's assembler. */
#ifndef ISA_ASSEMBLE_H
#define ISA_ASSEMBLE_H

#include "cases.h"

/* Assembles all cases at once and sets their code, which lives in the arena. False: each bad line was reported. */
bool assemble_cases(CaseList *list, Arena *a);

#endif
