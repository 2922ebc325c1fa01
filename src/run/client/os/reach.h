/* reach.h: system calls of the guest do not reach the client's memory.
 *
 * The kernel reads and writes for the guest whatever address it is given. An argument that is an address of the client's is therefore
 * replaced by one that nobody may access, and the kernel's answer is the one for memory that is not there. Which arguments are addresses
 * is in the texts of syscalls.def. So are lists of struct iovec and a struct msghdr: if one has such an address, the call gets a copy that
 * has another. What else lies in memory itself (lists of messages, requests of rings) is not looked at.
 */
#ifndef RUN_CLIENT_REACH_H
#define RUN_CLIENT_REACH_H

#include "run/client/memory/space.h"
#include "run/client/os/calls.h"

/* One bit for each argument whose letter in the text of a call is this one. */
#define REACH_IS(text, letter, i) (((text "      ")[i] == (letter)) << (i))
#define REACH_LETTER(text, letter)                                                                                     \
    (REACH_IS(text, letter, 0) | REACH_IS(text, letter, 1) | REACH_IS(text, letter, 2) | REACH_IS(text, letter, 3) |   \
     REACH_IS(text, letter, 4) | REACH_IS(text, letter, 5))

/* The arguments of a call that are addresses which the kernel reads or writes: one bit for each. */
typedef struct Reach {
    u8 pointers; /* all of them */
    u8 vectors;  /* those of lists of struct iovec, whose length is the next argument, */
    u8 remote;   /* of which these are of the process that the first argument names */
    u8 message;  /* of a struct msghdr */
} Reach;

#define REACH_VECTORS(text) (REACH_LETTER(text, 'v') | REACH_LETTER(text, 'V'))
#define REACH_OF(text)                                                                                                 \
    {                                                                                                                  \
        REACH_LETTER(text, 'p') | REACH_LETTER(text, 's') | REACH_LETTER(text, 'b') | REACH_LETTER(text, 'B') |        \
            REACH_LETTER(text, 'A') | REACH_LETTER(text, 'n') | REACH_VECTORS(text),                                   \
            REACH_VECTORS(text), REACH_LETTER(text, 'V'), REACH_LETTER(text, 'n')                                      \
    }

/* False for nearly every address of the guest's: for these, nothing more is to be done. */
static inline bool reach_is_suspect(u64 addr) {
    bool near = addr - the.memory.block_start < the.memory.block_end - the.memory.block_start;
    bool reserved = near ? addr - the.memory.window >= the.code_base - the.memory.window
                         : addr - the.memory.own_start < the.memory.own_end - the.memory.own_start;
    return reserved || addr - the.memory.image_start < the.memory.image_end - the.memory.image_start ||
           addr >= the.memory.first_stack;
}

static inline bool reach_any_suspect(u32 pointers, const u64 a[6]) {
    for (; pointers; pointers &= pointers - 1)
        if (reach_is_suspect(a[__builtin_ctz(pointers)]))
            return true;
    return false;
}

/* The arguments, with another address for each of these that is the client's. */
void reach_replace(u32 pointers, const u64 a[6], u64 changed[6]);

/* Copies of what the arguments of a call point to. */
typedef struct ReachCopies {
    u64 vector[2], bytes[2]; /* of lists of struct iovec */
    u32 vectors;
    u64 message[7]; /* of a struct msghdr, */
    u64 original;   /* which is here; 0: there is no copy */
} ReachCopies;

/* True if lists or the message that the arguments point to have addresses of the client's: the arguments are the copies' then, until reach_end. */
bool reach_begin(const Reach *r, u64 a[6], ReachCopies *c);
void reach_end(const ReachCopies *c);

/* Calls about the memory in [a[0], a[0] + a[1]), which answer as if nothing were there where the guest has nothing. */
i64 reach_range(Thread *t, Call call, const u64 a[6]);

#endif
