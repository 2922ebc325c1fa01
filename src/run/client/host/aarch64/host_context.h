/* host_context.h: what a signal handler finds on its stack, as aarch64 Linux lays it out. */
#ifndef RUN_CLIENT_HOST_CONTEXT_H
#define RUN_CLIENT_HOST_CONTEXT_H

#include "run/client/kernel/kernel_signal.h"

/* ucontext_t of the host. Behind it are records of what else the kernel has saved: a word that says what, and its size. */
typedef struct SignalContext {
    u64 flags, link;
    u64 stack;
    u32 stack_flags, reserved0;
    u64 stack_size;
    u64 mask;
    u8 reserved1[120];
    __attribute__((aligned(16))) u64 fault_address;
    u64 x[31], sp, pc, pstate;
    __attribute__((aligned(16))) u32 record[1024];
} SignalContext;

_Static_assert(offsetof(SignalContext, fault_address) == 176 && offsetof(SignalContext, record) == 464,
               "the kernel's layout");

/* ------------------------------------------------------------------------------------------------------------ what is in it */

static inline u64 context_pc(const SignalContext *s) {
    return s->pc;
}

static inline u64 context_sp(const SignalContext *s) {
    return s->sp;
}

static inline void context_set_pc(SignalContext *s, u64 pc) {
    s->pc = pc;
}

/* The record that begins with this word; NULL: there is none. */
static inline const u32 *context_record(const SignalContext *s, u32 magic) {
    for (u32 at = 0; at + 4 <= ARRAY_LEN(s->record) && s->record[at] && s->record[at + 1] >= 8;
         at += s->record[at + 1] / 4)
        if (s->record[at] == magic)
            return &s->record[at];
    return NULL;
}

/* The bytes of v register n, of 16; NULL: the kernel has not saved them. */
static inline const u8 *context_vector(const SignalContext *s, u32 n) {
    enum { FPSIMD_MAGIC = 0x46508001, VECTORS = 16 };
    const u8 *record = (const u8 *)context_record(s, FPSIMD_MAGIC);
    return record ? record + VECTORS + 16 * n : NULL;
}

/* The flags of the code that was interrupted. */
static inline u64 context_flags(const SignalContext *s) {
    return s->pstate;
}

/* Is it an instruction that stores? Arm ARM, C4.1.94 "Loads and Stores": of pairs, exclusive accesses and others bit 22 tells loads; atomic operations store, too. */
static inline bool context_stores(u32 insn) {
    bool access = (insn & 0x0a000000) == 0x08000000, single = (insn & 0x3b000000) >> 24 >= 0x38;
    bool atomic = single && (insn & 0x01200c00) == 0x00200000, zero = (insn & 0xffffffe0) == 0xd50b7420;
    bool wide_store = single && (insn & 0xc4c00000) == 0x04800000; /* of a q register */
    bool load = single ? insn & 0x00c00000 : insn & 0x00400000;
    return zero || (access && (atomic || wide_store || !load));
}

/* Of a fault of an access to memory. Not every system tells in the register for that. */
static inline bool context_is_write(const SignalContext *s) {
    enum { ESR_MAGIC = 0x45535201, WRITES = 1 << 6 };
    const u32 *esr = context_record(s, ESR_MAGIC);
    return esr ? esr[2] & WRITES : context_stores(*(const u32 *)s->pc);
}

#include "run/client/kernel/plain_context.h"

#endif
