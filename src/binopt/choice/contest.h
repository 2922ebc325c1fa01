/* contest.h: finds out which version of a function is the fastest, by the calls that the application makes.
 *
 * The code that a rewriter makes is right, but the code alone does not tell whether it is faster: that also depends on caches, branch
 * predictors, the lengths of loops and the caller. So the door that the application has (door.h) leads to one version for some calls,
 * then to the next one, and the time that passes during these calls is measured. After a few turns of each version it leads to the
 * fastest for good. Until then it counts the calls, and rings when the turn is over.
 *
 * Nothing is put between a call and its return: arguments, exceptions and longjmp pass as always, and a function may call itself. There is
 * one jump on the way, as there will be in the end, so branch predictors see the same path. Calls are counted without a lock: if several
 * threads call at once, some calls are not counted. */
#ifndef BINOPT_CONTEST_H
#define BINOPT_CONTEST_H

#include "binopt/x86_64/door/door.h"

enum { CONTEST_MOST = 3, CONTEST_OPEN = -1 };

typedef struct Contest {
    DoorBell bell; /* the first member; it leads to the version whose turn it is */
    i32 *left;     /* calls that are left of its turn: the door's count */
    u32 busy;      /* a thread is in contest_turn, which alone uses the following members */
    Door door;
    BinoptFunc versions[CONTEST_MOST];
    u32 count;
    u32 playing;              /* the index of that version; the next three are indexed likewise */
    u64 best[CONTEST_MOST];   /* cycles of its fastest turn */
    u64 second[CONTEST_MOST]; /* cycles of its second fastest turn */
    bool out[CONTEST_MOST];   /* it is clearly slower than another version and gets no more turns */
    u32 calls;                /* the number of calls of a turn */
    u32 rounds;               /* completed rounds; in a round each version that is not out has a turn */
    u64 start;                /* when the turn began; 0: it has not begun */
    u32 random;               /* see contest_turn.c */
    i32 winner;               /* an index; CONTEST_OPEN: not known yet */
} Contest;

/* Begins a contest between at least two versions, which the door must reach. The first one has the first turn, and wins
 * if there is no clear difference. Returns NULL if the process may not read the time stamp counter; then the door is
 * unchanged. */
Contest *contest_begin(const Door *door, const BinoptFunc *versions, u32 count);

/* Begins a contest again with other versions, whether or not it was decided. */
void contest_begin_again(Contest *c, const BinoptFunc *versions, u32 count);

/* Frees a contest whose door no thread uses any more. NULL is allowed. */
void contest_free(Contest *c);

/* The index of the version that has won, or CONTEST_OPEN. */
int contest_winner(const Contest *c);
bool contest_lost(const Contest *c); /* true if the original has won */

/* A turn is over: the next one. The bell is a Contest's. As DoorBell says, this and all that it calls is compiled without vector registers. */
void contest_turn(DoorBell *bell);

#endif
