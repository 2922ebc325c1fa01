/* door.h: an address that callers keep while the code that it leads to changes.
 *
 * A door is one jump in one aligned word that is replaced as a whole, so that a thread executes either the old jump or the new one. The jump
 * is direct if its target is in reach, which costs a caller one cycle at most. */
#ifndef BINOPT_DOOR_H
#define BINOPT_DOOR_H

#include <binopt.h>

#include "binopt/process/places.h"

/* Behind its word is room for a few instructions, by which it can count calls. Its data are a word for the address of a target that is out of reach,
 * and one for the count. */
typedef struct Door {
    CodeMem *memory; /* where the span was allocated; NULL: there is no door */
    CodeSpan span;
    u64 forks; /* fork_count() when the door was made */
} Door;

/* What a door that counts comes to when no calls are left: `ring` is called, and then the function `behind` goes on with what its caller has given to it.
 * Arguments may be in vector registers, so `ring` is compiled without these, with all that it calls. enter.S has the order of the members. */
typedef struct DoorBell {
    void (*enter)(void); /* door_enter */
    BinoptFunc behind;
    void (*ring)(struct DoorBell *);
} DoorBell;

_Static_assert(offsetof(DoorBell, enter) == 0 && offsetof(DoorBell, behind) == 8 && offsetof(DoorBell, ring) == 16,
               "as enter.S has them");

void door_enter(void); /* of enter.S */

/* Makes a door in reach of the function if there is memory there, otherwise anywhere. It leads nowhere yet. Returns
 * false if there is no memory. */
bool door_make(Door *d, Places *places, u64 function);

/* From now on that bell rings. */
void door_hang(const Door *d, const DoorBell *bell);

/* Frees a door that no thread uses any more. If the process has forked since, the memory stays: the other process may
 * still use it. */
void door_free(Door *d);

static inline BinoptFunc door_address(const Door *d) {
    return d->span.code_run;
}

/* How many calls are left before it rings. */
static inline i32 *door_count(const Door *d) {
    return (i32 *)(d->span.data + sizeof(BinoptFunc));
}

/* -------------------------------------------------------------------------------------------------------------- its code
 *
 * What changes it is here, so that it can be compiled without vector registers, too. A door that counts:
 *
 *      decl count(%rip); jle 1f       the door's word
 *      jmp version                    a word that is replaced for another version
 *   1: mov $bell, %r11; jmp *(%r11)
 *
 * Each word ends with the `jle`, for a thread that has been at the count before the word was replaced. */
enum { DOOR_WORD_BYTES = 8, DOOR_BELL = 16, DOOR_JLE = 0x7e };
#define DOOR_TAIL ((u64)DOOR_JLE << 48 | (u64)(DOOR_BELL - DOOR_WORD_BYTES) << 56)

/* The distance of `target` from the end of an instruction that begins `at` bytes behind the door's address. */
static inline i64 door_distance(const Door *d, u32 at, u32 instruction_bytes, u64 target) {
    return (i64)(target - ((u64)d->span.code_run + at + instruction_bytes));
}

static inline void door_put_word(const Door *d, u32 at, u64 word) {
    __atomic_store_n((u64 *)(d->span.code_write + at), word | DOOR_TAIL, __ATOMIC_RELEASE);
}

/* Writes a direct jump as a word at one of the places of the door: E9 is jmp rel32, 90 is nop. */
static inline void door_put_jump(const Door *d, u32 at, BinoptFunc target) {
    enum { JUMP_BYTES = 5 };
    u64 distance = (u32)door_distance(d, at, JUMP_BYTES, (u64)target);
    door_put_word(d, at, 0x0000900000000000u | 0xe9 | distance << 8);
}

/* True if the door can lead to the target by a direct jump. */
static inline bool door_reaches(const Door *d, BinoptFunc target) {
    i64 distance = door_distance(d, 0, DOOR_WORD_BYTES, (u64)target);
    return distance == (i32)distance;
}

/* From now on it leads there, without counting. FF /4 with mod 00, rm 101: jmp *disp32(%rip). */
static inline void door_lead(const Door *d, BinoptFunc target) {
    enum { INDIRECT_BYTES = 6 };
    if (door_reaches(d, target)) {
        door_put_jump(d, 0, target);
        return;
    }
    __atomic_store_n((BinoptFunc *)d->span.data, target, __ATOMIC_RELEASE);
    door_put_word(d, 0, 0x25ff | (u64)(u32)door_distance(d, 0, INDIRECT_BYTES, (u64)d->span.data) << 16);
}

/* While it counts it leads there, which it reaches. */
static inline void door_lead_counted(const Door *d, BinoptFunc target) {
    door_put_jump(d, DOOR_WORD_BYTES, target);
}

/* From now on it counts. FF /1 with mod 00, rm 101: decl disp32(%rip). */
static inline void door_begin_to_count(const Door *d) {
    enum { COUNT_BYTES = 6 };
    door_put_word(d, 0, 0x0dff | (u64)(u32)door_distance(d, 0, COUNT_BYTES, (u64)door_count(d)) << 16);
}

#endif
