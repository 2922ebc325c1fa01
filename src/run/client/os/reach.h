/* reach.h: system calls of the guest do not reach the client's memory.
 *
 * The kernel would read and write any address that the guest gives it. So an argument that is an address of the client's memory is
 * replaced by an address that nobody can access, and the kernel answers as for memory that does not exist. Which arguments are addresses
 * is in the texts of syscalls.def. Lists of struct iovec and a struct msghdr are searched as well: if one contains such an address, the
 * call gets a copy with another address. Addresses that lie deeper in memory (lists of messages, requests of rings) are not examined.
 */
#ifndef RUN_CLIENT_REACH_H
#define RUN_CLIENT_REACH_H

#include "run/client/memory/space.h"
#include "run/client/os/calls.h"

/* The bit of argument i if its letter in the text of a call is this one, otherwise 0. */
#define REACH_IS(text, letter, i) (((text "      ")[i] == (letter)) << (i))
#define REACH_LETTER(text, letter)                                                                                     \
    (REACH_IS(text, letter, 0) | REACH_IS(text, letter, 1) | REACH_IS(text, letter, 2) | REACH_IS(text, letter, 3) |   \
     REACH_IS(text, letter, 4) | REACH_IS(text, letter, 5))

/* Which arguments of a call are addresses that the kernel reads or writes: one bit for each. */
typedef struct Reach {
    u8 pointers; /* all addresses */
    u8 vectors;  /* addresses of lists of struct iovec, whose length is the next argument */
    u8 remote;   /* of `vectors`: the lists that describe memory of the process that the first argument names */
    u8 message;  /* the address of a struct msghdr */
} Reach;

#define REACH_VECTORS(text) (REACH_LETTER(text, 'v') | REACH_LETTER(text, 'V'))
#define REACH_OF(text)                                                                                                 \
    {                                                                                                                  \
        REACH_LETTER(text, 'p') | REACH_LETTER(text, 's') | REACH_LETTER(text, 'b') | REACH_LETTER(text, 'B') |        \
            REACH_LETTER(text, 'A') | REACH_LETTER(text, 'n') | REACH_LETTER(text, 'k') | REACH_VECTORS(text),         \
            REACH_VECTORS(text), REACH_LETTER(text, 'V'), REACH_LETTER(text, 'n')                                      \
    }

/* A quick test: false for nearly every address of the guest; true for all addresses of the client's memory, and a few others. */
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

/* Copies the arguments, and replaces the addresses of the client's memory among those in `pointers`. */
void reach_replace(u32 pointers, const u64 a[6], u64 changed[6]);

/* Copies of the lists and messages that the arguments of a call point to. */
typedef struct ReachCopies {
    u64 vector[2], bytes[2]; /* copies of lists of struct iovec, and their sizes */
    u32 vectors;
    u64 message[7]; /* copy of a struct msghdr */
    u64 original;   /* the guest's address of that message; 0: there is no copy */
} ReachCopies;

/* If a list or message that the arguments point to contains an address of the client's memory, makes the arguments
 * point to copies, which live until reach_end, and returns true. */
bool reach_begin(const Reach *r, u64 a[6], ReachCopies *c);
void reach_end(const ReachCopies *c);

/* Calls about the memory in [a[0], a[0] + a[1]). They answer as if nothing were mapped where the guest has nothing. */
i64 reach_range(Thread *t, Call call, const u64 a[6]);

#endif
