/* door.h: an address that callers keep while what it leads to changes.
 *
 * It is one jump in one aligned word that is replaced as a whole, so that a thread that comes by executes the old one or the new one. It is
 * a direct one where its target is in reach, which costs a caller one cycle at most. */
#ifndef BINOPT_DOOR_H
#define BINOPT_DOOR_H

#include <binopt.h>

#include "binopt/process/places.h"

enum { DOOR_WORD_BYTES = 8 };

/* Behind its word is room for a few instructions, for whoever wants to count the calls (contest.h). Its data are a word for the address of a target that
 * is out of reach, and one for such a count. */
typedef struct Door {
    CodeMem *memory; /* of the span; NULL: there is no door */
    CodeSpan span;
    u64 forks; /* of the process, before it was made */
} Door;

/* A door in reach of the function if there is memory, else anywhere; it leads nowhere yet. False: there is no memory at all. */
bool door_make(Door *d, Places *places, u64 function);

/* Nobody comes by any more. After a fork the memory stays as it is: the other process may still use it. */
void door_free(Door *d);

static inline BinoptFunc door_address(const Door *d) {
    return d->span.code_run;
}

/* What is behind the jump in the word: `jle` to the end of the room, where a thread goes on that has been at the count before (contest.h). */
enum { DOOR_COUNT_BYTES = 6, DOOR_END = 16, DOOR_JLE = 0x7e };
#define DOOR_TAIL ((u64)DOOR_JLE << 48 | (u64)(DOOR_END - DOOR_WORD_BYTES) << 56)

/* The distance from the end of an instruction that begins `at` bytes behind the door's address. */
static inline i64 door_distance(const Door *d, u32 at, u32 instruction_bytes, u64 target) {
    return (i64)(target - ((u64)d->span.code_run + at + instruction_bytes));
}

/* Can it lead there by a direct jump? */
static inline bool door_reaches(const Door *d, BinoptFunc target) {
    i64 distance = door_distance(d, 0, DOOR_WORD_BYTES, (u64)target);
    return distance == (i32)distance;
}

/* A direct jump as a word at one of the places of the door: E9 is jmp rel32, 90 is nop. */
static inline void door_jump(const Door *d, u32 at, BinoptFunc target) {
    enum { JUMP_BYTES = 5 };
    u64 word = 0x0000900000000000u | DOOR_TAIL;
    word |= 0xe9 | (u64)(u32)door_distance(d, at, JUMP_BYTES, (u64)target) << 8;
    __atomic_store_n((u64 *)(d->span.code_write + at), word, __ATOMIC_RELEASE);
}

/* From now on it leads there. FF /4 with mod 00, rm 101: jmp *disp32(%rip). Here, so that it can be compiled without vector registers, too. */
static inline void door_lead(const Door *d, BinoptFunc target) {
    enum { INDIRECT_BYTES = 6 };
    if (door_reaches(d, target)) {
        door_jump(d, 0, target);
        return;
    }
    __atomic_store_n((BinoptFunc *)d->span.data, target, __ATOMIC_RELEASE);
    u64 word = DOOR_TAIL | 0x25ff | (u64)(u32)door_distance(d, 0, INDIRECT_BYTES, (u64)d->span.data) << 16;
    __atomic_store_n((u64 *)d->span.code_write, word, __ATOMIC_RELEASE);
}

#endif
