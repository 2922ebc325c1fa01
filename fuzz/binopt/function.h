/* function.h: random functions that can be called: they end, and touch nothing but their frame and a buffer. */
#ifndef FUZZ_BINOPT_FUNCTION_H
#define FUZZ_BINOPT_FUNCTION_H

#include "forms.h"
#include "random.h"

/* The buffer, which is the first parameter: what is only read, what is read and written, what the registers are in the end. */
enum {
    CONST_BYTES = 512,
    DYNAMIC_BYTES = 1024,
    RESULT_BYTES = 1024,
    BUFFER_BYTES = CONST_BYTES + DYNAMIC_BYTES + RESULT_BYTES
};

/* Parameters: the buffer; integers, of which those that no register is left for come last; numbers in vector registers. */
enum { MAX_INTS = 5, MAX_FLOATS = 8, MAX_ON_STACK = 3, MAX_PARAMS = 1 + MAX_INTS + MAX_FLOATS + MAX_ON_STACK };

typedef struct Signature {
    u32 ints, floats, on_stack;
    u8 bytes[MAX_PARAMS]; /* of each parameter, in the order of the enum's comment */
    bool is_signed[MAX_PARAMS];
} Signature;

static inline u32 signature_count(const Signature *s) {
    return 1 + s->ints + s->floats + s->on_stack;
}

/* The forms of instructions that a function may have. */
typedef struct Choice {
    Forms forms;
    VEC(bool) deviates; /* by row: lifted code may differ from the CPU, as in the NaNs of floating-point arithmetic */
} Choice;
void choice_init(Choice *c);

typedef struct FunctionOptions {
    const Choice *choice;
    bool exact; /* nothing that deviates */
    bool avx;
    u64 callee; /* a function of this kind that it may call, or 0 */
} FunctionOptions;

enum { FUNCTION_BYTES = 4096 };

/* A function for the address `pc`; returns its size. Constants of its own are put before it. It finds `callee`, if any, also in the
 * buffer at CALLEE_OFFSET. */
enum { CALLEE_OFFSET = 0, FUNCTION_POOL_BYTES = 64 };
void signature_draw(Rng *r, Signature *s);
size_t function_draw(Rng *r, const FunctionOptions *o, const Signature *s, u64 pc, u8 *code);

#endif
