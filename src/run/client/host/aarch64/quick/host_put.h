/* host_put.h: quick code in the host's instructions, for code/stencil: words, sites, and the ways out. */
#ifndef RUN_CLIENT_HOST_PUT_H
#define RUN_CLIENT_HOST_PUT_H

#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/emit.h"
#include "run/client/core/client.h"

static inline void put32(Emitter *e, u32 word) {
    memcpy(arena_writable(e->at), &word, sizeof(word));
    e->at += sizeof(word);
}

/* Adds an amount to a word of the Thread. */
EmitCount put_thread_add(Emitter *e, u32 off, bool small);
/* Sites are whole instructions, of four bytes. */
static inline void put_alignment(Emitter *e, u64 before) {
    (void)e, (void)before;
}

/* The registers in which C functions expect their arguments. */
extern const u8 put_argument[LATHE_VALUES];
/* movz and movk, as many as it needs */
void put_number(Emitter *e, u32 reg, u64 value);

/* A function of PUT_HELPER_BYTES by which code of stencils calls a C function (see StencilHelper): THREAD_HELPING is set while that runs, so that the handler
 * of a signal knows that the guest is in the middle of an instruction. */
enum { PUT_HELPER_BYTES = 160 };
void put_helper(Emitter *e, u64 function, bool with_state);

#endif
