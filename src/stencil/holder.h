/* holder.h: a meaning as a function whose registers, immediates and addresses are holes; see holder.c. */
#ifndef STENCIL_HOLDER_H
#define STENCIL_HOLDER_H

#include "host/host.h"
#include "host/stencil.h"
#include "isa/isa.h"

/* Names of what is undefined in the module: holes, which are absolute symbols, followed by the operand's number, and jumps. */
#define HOLE_PLACE "place."
#define HOLE_IMMEDIATE "immediate."
#define HOLE_LOW "low."     /* the same, of which only 32 bits are wanted */
#define HOLE_COUNT "count." /* one that is less than 64 */
#define HOLE_WIDE "wide."   /* one of 64 bits */
#define HOLE_PC "pc"
#define WITH_STATE "with_state." /* before the name of a helper whose first argument is the state */
#define GO_NEXT "go.next"
#define GO_TARGET "go.target"
#define GO_CALL "go.call"
#define GO_LOOKUP "go.lookup"
#define GO_LOOKUP_CALL "go.lookup_call"
#define GO_LOOKUP_RETURN "go.lookup_return"
#define GO_TRAP "go.trap"

/* The operands of an instruction that are compiled to be in host registers. */
typedef struct Held {
    u32 mask;  /* a bit for each operand; operands that are one register are held together */
    u32 count; /* of different registers */
    /* Set by holder_lift. False: nothing in the function has to do with floating point or vectors; it has not been told which of their registers are held, and must not
     * touch any. */
    bool floats;
    Reg reg[STENCIL_OPERANDS];
    u8 number[STENCIL_OPERANDS]; /* of the host register that each is compiled to be in */
    /* Which of the values that the function gets it is: those that are passed, then HostStencil.taken, then its floats. */
    u8 value[STENCIL_OPERANDS];
} Held;

/* Is it one that registers for floating point hold? */
bool holder_is_float(Reg r);
/* A function of that name in the module, for that host. The instruction is at address 0. False: it calls a C function that stencils cannot call. */
bool holder_lift(LLVMModuleRef mod, const Host *host, const Insn *in, Held *held, const char *name);
/* What is left to do with all of them once LLVM has optimised the module. */
void holder_settle(LLVMModuleRef mod);

#endif
