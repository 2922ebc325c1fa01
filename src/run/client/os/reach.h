/* reach.h: system calls of the guest do not reach the client's memory.
 *
 * The kernel reads and writes for the guest whatever address it is given. An argument that is an address of the client's is therefore
 * replaced by one that nobody may access, and the kernel's answer is the one for memory that is not there. Which arguments are addresses
 * is in the texts of syscalls.def. What lies in memory itself, as in a struct iovec, is not looked at.
 */
#ifndef RUN_CLIENT_REACH_H
#define RUN_CLIENT_REACH_H

#include "run/client/memory/space.h"
#include "run/client/os/calls.h"

/* One bit for each argument that is an address which the kernel reads or writes, from the text of a call. */
#define REACH_LETTER(text, i) ((text "      ")[i])
#define REACH_IS(text, i)                                                                                              \
    ((REACH_LETTER(text, i) == 'p' || REACH_LETTER(text, i) == 's' || REACH_LETTER(text, i) == 'b' ||                  \
      REACH_LETTER(text, i) == 'B' || REACH_LETTER(text, i) == 'A')                                                    \
     << (i))
#define REACH_POINTERS(text)                                                                                           \
    (REACH_IS(text, 0) | REACH_IS(text, 1) | REACH_IS(text, 2) | REACH_IS(text, 3) | REACH_IS(text, 4) |               \
     REACH_IS(text, 5))

/* False for nearly every address of the guest's: for these, nothing more is to be done. */
static inline bool reach_is_suspect(u64 addr) {
    bool reserved =
        addr - the.own_start < the.own_end - the.own_start && addr - the.window >= the.code_base - the.window;
    return reserved || addr - the.image_start < the.image_end - the.image_start || addr >= the.first_stack;
}

static inline bool reach_any_suspect(u32 pointers, const u64 a[6]) {
    for (; pointers; pointers &= pointers - 1)
        if (reach_is_suspect(a[__builtin_ctz(pointers)]))
            return true;
    return false;
}

/* The arguments, with another address for each of these that is the client's. */
void reach_replace(u32 pointers, const u64 a[6], u64 changed[6]);

/* Calls about the memory in [a[0], a[0] + a[1]), which answer as if nothing were there where the guest has nothing. */
i64 reach_range(Thread *t, Call call, const u64 a[6]);

#endif
