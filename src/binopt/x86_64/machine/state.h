/* state.h: what is known at one point of a function: the registers, flags and bytes of the stack frame that have a known value.
 *
 * Offsets on the stack are relative to the stack pointer at the function's entry: the return address is at 0, the frame below, parameters
 * above. Everything unknown is zero, so that equal states are equal bytes. */
#ifndef BINOPT_MACHINE_STATE_H
#define BINOPT_MACHINE_STATE_H

#include "binopt/x86_64/machine/machine_insn.h"

/* VALUE_BASED: an unknown value plus a number. The distance of two values with the same base is known. */
typedef enum ValueKind { VALUE_UNKNOWN, VALUE_CONST, VALUE_STACK, VALUE_BASED } ValueKind;

typedef struct Value {
    u64 v; /* the number, or the offset on the stack */
    /* For VALUE_BASED: the address of the instruction that last produced the unknown value; or, from 1 to 16, a register's
     * value at the function's entry. */
    u64 base : 48;
    u64 kind : 8;
    u64 nested : 8; /* points to memory that is constant, like all memory that it leads to */
} Value;

enum { SLOT_BYTES = 8, MAX_SLOTS = 96, MAX_VEC = 16, VEC_BYTES = 16 };

typedef struct Slot {
    i64 off;   /* a multiple of SLOT_BYTES */
    u64 known; /* a mask of its known bytes */
    Value value;
} Slot;

typedef struct State {
    Value gp[GP_COUNT];
    u8 vec[MAX_VEC][VEC_BYTES];
    u16 vec_known;
    u8 flags, flags_known; /* bits FLAG(f) */
    bool escaped; /* an address of the frame may be where it is not followed, so anything may read or write the frame */
    u8 zero;
    u16 slot_count;
    Slot slot[MAX_SLOTS]; /* sorted by offset */
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
/* True if they differ only in values that are VALUE_BASED. */
bool state_same_numbers(const State *a, const State *b);
/* Keeps in `a` what also holds in `b`. Returns true if something was lost. */
bool state_merge(State *a, const State *b);

/* Makes registers and flags unknown. */
void state_forget(State *s, Regs regs);
/* The instruction at `pc` has put a new unknown value into a register. */
void state_define(State *s, u8 reg, u64 pc);
/* True if all of these registers and flags are known numbers. */
bool state_knows(const State *s, Regs regs);

/* Loads bytes of the frame. Returns false if not all are known numbers. */
bool state_load(const State *s, i64 off, u32 size, u8 *bytes);
/* Loads a whole slot, which may also be an address of the stack. */
Value state_load_slot(const State *s, i64 off);
void state_store(State *s, i64 off, u32 size, const u8 *bytes);
void state_store_slot(State *s, i64 off, Value v);
/* Makes these bytes unknown. */
void state_forget_stack(State *s, i64 from, i64 to);
/* Forgets all of the frame. */
void state_forget_frame(State *s);
/* True if these bytes contain an address of the frame. */
bool state_has_address(const State *s, i64 from, i64 to);

#endif
