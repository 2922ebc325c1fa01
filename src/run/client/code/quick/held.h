/* held.h: guest registers in host registers, as code of stencils has them, in the host's instructions (host/NAME/quick). */
#ifndef RUN_CLIENT_QUICK_HELD_H
#define RUN_CLIENT_QUICK_HELD_H

#include "run/client/code/quick/emit.h"
#include "stencil/stencil.h"

enum { HELD_NONE = 0xff };

/* The number, as in host/stencil.h, of the host register that holds the guest register at this place of the state; HELD_NONE: none does. */
u8 held_number(u32 place);
/* Writes a patch's value into the code at w, which runs at `at`. */
void held_patch(u8 *w, const u8 *at, const StencilPatch *p, u64 value);
/* A held register to its place in the state, and back. */
void put_held_store(Emitter *e, u8 number, u32 place);
void put_held_load(Emitter *e, u8 number, u32 place);

/* Can this field of a stencil name this register? */
static inline bool held_fits(const StencilField *f, u8 number) {
    return f->field.allowed >> number % 32 & 1;
}

/* Makes a field in the code at w name this register. */
static inline void held_name(u8 *w, const StencilField *f, u8 number) {
    u32 difference = f->number ^ number; /* they are of one kind */
    w[f->field.at] ^= (u8)((difference & 7) << f->field.shift);
    w[f->field.high_at] ^= (u8)(difference >> 3 << f->field.high_shift);
}

/* Emit a call of a tool's function. put_visit_begin: stores the held registers that C may change in the state. Then, for each argument:
 * put_visit_register: the register at this place of the state, plus `more`; put_visit_thread: the address of the Thread's member at this offset;
 * put_visit_u32: the 32 bits there; or put_number for put_argument[n]. put_visit_end: the call, on the Thread's stack for tools, and loads all
 * registers again. */
void put_visit_begin(Emitter *e);
void put_visit_register(Emitter *e, u32 argument, u32 place, i32 more);
void put_visit_thread(Emitter *e, u32 argument, u32 off);
void put_visit_u32(Emitter *e, u32 argument, u32 off);
void put_visit_end(Emitter *e, u64 function);

/* A stencil's jump to the function that it calls, with the distance at this place, becomes a host call, where guest calls are. */
void held_call(u8 *site);
/* How code of stencils goes on at a computed guest address, in place of the jump of LOOKUP_JUMP_BYTES to the routine for it with which a stencil ends: the search that the
 * routine begins with, and the jump for where that finds nothing. */
typedef enum Lookup { LOOKUP_JUMP, LOOKUP_CALL, LOOKUP_RETURN } Lookup;
void put_lookup(Emitter *e, Lookup kind, const void *routine);
/* Emits a return to the guest address in a held register, in place of a stencil that does nothing else. Returns false if the stencil is needed. */
bool put_return_by_link(Emitter *e, u8 number);

#endif
