/* holder.h: a meaning as a function whose registers, immediates and addresses are holes; see holder.c. */
#ifndef STENCIL_HOLDER_H
#define STENCIL_HOLDER_H

#include "isa/isa.h"

/* Names of what is undefined in the module: holes, which are absolute symbols, followed by the operand's number, and jumps. */
#define HOLE_PLACE "place."
#define HOLE_IMMEDIATE "immediate."
#define HOLE_PC "pc"
#define GO_NEXT "go.next"
#define GO_TARGET "go.target"
#define GO_CALL "go.call"
#define GO_LOOKUP "go.lookup"
#define GO_LOOKUP_CALL "go.lookup_call"
#define GO_LOOKUP_RETURN "go.lookup_return"
#define GO_TRAP "go.trap"

/* A function of that name in the module. The instruction is at address 0. */
void holder_lift(LLVMModuleRef mod, const Insn *in, const char *name);

#endif
