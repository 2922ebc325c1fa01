/* state.h: the known world at one point of a function: which registers, flags and bytes of the stack frame have a known value.
 *
 * Offsets on the stack are from where the stack pointer is at the function's entry: the return address is at 0, the frame below,
 * parameters above. What is unknown is all zero, so that equal states are equal bytes. */
#ifndef BINOPT_MACHINE_STATE_H
#define BINOPT_MACHINE_STATE_H

#include "binopt/x86_64/machine/insn.h"

/* VALUE_BASED: a number more than something that is not known. Two of the same base are known to be so far apart. */
typedef enum ValueKind { VALUE_UNKNOWN, VALUE_CONST, VALUE_STACK, VALUE_BASED } ValueKind;

typedef struct Value {
    u64 v; /* the number, or the offset on the stack */
    u64 base : 48; /* of VALUE_BASED: what the instruction at that address made when it was last executed, or from 1 to 16 a register
                      at the function's entry */
    u64 kind : 8;
    u64 nested : 8; /* a pointer to memory that is constant, as is all that it leads to */
} Value;

enum { SLOT_BYTES = 8, MAX_SLOTS = 96, MAX_VEC = 16, VEC_BYTES = 16 };

typedef struct Slot {
    i64 off;   /* a multiple of SLOT_BYTES */
    u64 known; /* a mask of its bytes */
    Value value;
} Slot;

typedef struct State {
    Value gp[GP_COUNT];
    u8 vec[MAX_VEC][VEC_BYTES];
    u16 vec_known;
    u8 flags, flags_known; /* of FLAG(f) */
    bool escaped;          /* somebody may know an address in the frame */
    u8 zero;
    u16 slot_count;
    Slot slot[MAX_SLOTS]; /* by offset */
} State;

/* The bit of a flag in a State. */
#define FLAG(f) (1u << ((f)-CF))

static inline Value value_const(u64 v) {
    return (Value){.v = v, .kind = VALUE_CONST};
}
static inline Value value_stack(i64 off) {
    return (Value){.v = (u64)off, .kind = VALUE_STACK};
}
static inline Value value_at_entry(u8 reg) {
    return (Value){.kind = VALUE_BASED, .base = reg + 1u};
}

void state_copy(State *to, const State *from);
bool state_equal(const State *a, const State *b);
/* Do they differ in nothing but what is VALUE_BASED? */
bool state_same_numbers(const State *a, const State *b);
/* Keeps in `a` what also holds in `b`; true if that was less. */
bool state_merge(State *a, const State *b);

/* Forgets registers and flags. */
void state_forget(State *s, Regs regs);
/* The instruction at `pc` has put something new into a register. */
void state_define(State *s, u8 reg, u64 pc);
/* Are all of these registers and flags known numbers? */
bool state_knows(const State *s, Regs regs);

/* Bytes of the frame; false if not all are known numbers. */
bool state_load(const State *s, i64 off, u32 size, u8 *bytes);
/* A whole slot, which may also be an address of the stack. */
Value state_load_slot(const State *s, i64 off);
void state_store(State *s, i64 off, u32 size, const u8 *bytes);
void state_store_slot(State *s, i64 off, Value v);
/* Nothing is known of these bytes any more. */
void state_forget_stack(State *s, i64 from, i64 to);
/* Is there an address of the frame among these bytes? */
bool state_has_address(const State *s, i64 from, i64 to);

#endif
