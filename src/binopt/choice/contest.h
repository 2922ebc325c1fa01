/* contest.h: which version of a function is the fastest is found out by the calls that the application makes.
 *
 * What a rewriter makes is right, but nobody can tell from the code alone that it is faster: caches, branch predictors, the lengths of loops and the
 * caller decide that, too. So the door that the application has (door.h) leads to one version for some calls, then to the next one, and the time that
 * passes until these calls are done is taken. After a few turns of each it leads to the fastest for good. Until then it counts the calls,
 * and rings when the turn is over.
 *
 * Nothing is put between a call and its return: all arguments, exceptions and longjmp pass as ever, and a function may call itself. And there is one
 * jump on the way, as there will be in the end: branch predictors know the way that led to a branch. Calls are counted without a lock: where several
 * threads call at once, some are not counted. */
#ifndef BINOPT_CONTEST_H
#define BINOPT_CONTEST_H

#include "binopt/x86_64/door/door.h"

enum { CONTEST_MOST = 3, CONTEST_OPEN = -1 };

typedef struct Contest {
    DoorBell bell; /* first; what is behind it is the version that plays */
    i32 *left;     /* calls of its turn: the door's count */
    u32 busy;      /* somebody is in contest_turn, which has what follows */
    Door door;
    BinoptFunc versions[CONTEST_MOST];
    u32 count;
    u32 playing;              /* an index of versions, as the next three have */
    u64 best[CONTEST_MOST];   /* cycles of its fastest turn, */
    u64 second[CONTEST_MOST]; /* and of the one after it */
    bool out[CONTEST_MOST];   /* clearly slower than another one: it gets no more turns */
    u32 calls;                /* of a turn */
    u32 rounds;               /* that are over: turns of each that is not out */
    u64 start;                /* of the turn; 0: it has not begun */
    u32 random;               /* see contest_turn.c */
    i32 winner;               /* CONTEST_OPEN: not known yet */
} Contest;

/* Begins one between at least two versions that the door reaches. The first one plays first, and wins if there is no clear
 * difference. NULL: the process may not read the time stamp counter, and the door is as it was. */
Contest *contest_begin(const Door *door, const BinoptFunc *versions, u32 count);

/* The same once more with other versions, whether or not it was decided. */
void contest_begin_again(Contest *c, const BinoptFunc *versions, u32 count);

/* Nobody comes by any more. NULL is none. */
void contest_free(Contest *c);

/* The index of the version that has won, or CONTEST_OPEN. */
int contest_winner(const Contest *c);
bool contest_lost(const Contest *c); /* the original has won */

/* A turn is over: the next one. The bell is a Contest's. As DoorBell says, this and all that it calls is compiled without vector registers. */
void contest_turn(DoorBell *bell);

#endif
