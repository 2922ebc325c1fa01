/* host_put.h: quick code in the host's instructions: bytes, and what both makers of it (code/quick/emit.h) have in common: sites, and the ways out. */
#ifndef RUN_CLIENT_HOST_PUT_H
#define RUN_CLIENT_HOST_PUT_H

#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/emit.h"
#include "run/client/core/client.h"

static inline void put(Emitter *e, const void *bytes, size_t n) {
    memcpy(arena_writable(e->at), bytes, n);
    e->at += n;
}

static inline void put8(Emitter *e, u32 byte) {
    *arena_writable(e->at++) = (u8)byte;
}

static inline void put32(Emitter *e, u32 v) {
    put(e, &v, 4);
}

/* movl $value, gs:off */
void put_set(Emitter *e, u32 off, u32 value);
/* addq $amount, gs:off */
EmitCount put_thread_add(Emitter *e, u32 off, bool small);
/* jmp *gs:off */
void put_thread_jump(Emitter *e, u32 off);
/* Emits instructions that do nothing, until a site that comes `before` bytes behind them does not cross the border of 8 aligned bytes. */
void put_alignment(Emitter *e, u64 before);
/* Emits an instruction that ends with a site (a displacement of 32 bits that is changed while threads run), and returns the site. */
u8 *put_site(Emitter *e, const void *opcode, size_t n);

enum { PUT_SWITCH_BYTES = 5 }; /* of the jump of emit_begin_switch */

/* The registers in which C functions expect their arguments. */
extern const u8 put_argument[LATHE_VALUES];
/* mov $value, with as few bytes as it needs */
void put_number(Emitter *e, u32 reg, u64 value);
/* lea of an operand's address without its segment. The displacement has at most 32 bits, and the base is not the pc. */
void put_operand_lea(Emitter *e, u32 to, const Operand *at);
/* call, of code within 2 GiB */
void put_near_call(Emitter *e, u64 target);

/* A function of PUT_HELPER_BYTES by which code of stencils calls a C function (see StencilHelper): THREAD_HELPING is set while that runs, so that the handler
 * of a signal knows that the guest is in the middle of an instruction. */
enum { PUT_HELPER_BYTES = 112 };
void put_helper(Emitter *e, u64 function, bool with_state);

#endif
