/* rewrite.h: a function while promote.c rewrites it: its registers as variables, and calls among them (call.c). */
#ifndef RAISE_REWRITE_H
#define RAISE_REWRITE_H

#include "raise/raise.h"

typedef struct Rewriter {
    Raise *r;
    RaiseFunction *f;
    LLVMBuilderRef b, head; /* `head` is at the end of the new first block */
    LLVMValueRef cpu, old_cpu;
    LLVMValueRef var[REG_MAX], pc;
    LLVMBasicBlockRef returned,
        pad;            /* where the call that is being built goes on, if it may throw and that matters; else NULL */
    LLVMValueRef threw; /* a variable: did the last call throw? NULL: there is none yet */
} Rewriter;

LLVMValueRef rewrite_get(Rewriter *w, Reg reg);
void rewrite_set(Rewriter *w, Reg reg, LLVMValueRef v);
/* To the state, and from it. */
void rewrite_spill(Rewriter *w, const RegSet *set);
void rewrite_fill(Rewriter *w, const RegSet *these);
LLVMValueRef rewrite_offset(Rewriter *w, LLVMBuilderRef b, LLVMValueRef p, u64 off);

/* signature.c: what is said of a call for raise_stack_operand and raise_may_pass_on_stack. `name` is the function's of the C library, if it is one. */
void rewrite_say_stack(Rewriter *w, LLVMValueRef call, unsigned operand);
void rewrite_say_native(Rewriter *w, LLVMValueRef call, const Event *e, const char *name);

/* The callee has taken the return address from the stack. */
void rewrite_return_stack(Rewriter *w, LLVMValueRef before);
/* call_native.c: the call of an event of kind OUT. */
void rewrite_call_outside(Rewriter *w, const Event *e, LLVMValueRef target);
/* exceptions.c: if the lifted call `at` has a landing pad, or must not throw, prepares for the call that replaces it. */
void rewrite_begin_throwing(Rewriter *w, LLVMValueRef at);
/* Builds a call, or what goes to the landing pad, and leaves the builder where control is when the callee has returned. */
LLVMValueRef rewrite_build_call(Rewriter *w, LLVMTypeRef type, LLVMValueRef fn, LLVMValueRef *args, unsigned count);
/* The call is built; its results are where they belong. Deletes the lifted one. */
void rewrite_end_throwing(Rewriter *w, LLVMValueRef at);

/* Builds the call of an event of kind CALL or OUT at the builder's place. `target`: OUT: the address that is called. */
void rewrite_call(Rewriter *w, const Event *e, LLVMValueRef target);

#endif
