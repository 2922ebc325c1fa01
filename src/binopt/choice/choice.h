/* choice.h: what an application gets when there are several versions of a function: the one that is certainly the best,
 * or a door (door.h) behind which they compete with the original (contest.h). */
#ifndef BINOPT_CHOICE_H
#define BINOPT_CHOICE_H

#include "binopt/choice/contest.h"
#include "binopt/config/config.h"

enum { CHOICE_MOST = CONTEST_MOST - 1 }; /* versions beside the original */

typedef struct Choice {
    Door door;
    Contest *contest;
    BinoptFunc versions[CHOICE_MOST];
    u32 count, users;
} Choice;

/* The choices of one rewriter. */
typedef struct Choices {
    void *self;
    void (*release)(void *self, BinoptFunc version); /* called for a version that is no longer needed */
    VEC(Choice) list;
} Choices;

/* True if the code is so short, without loops and calls, that it takes hardly longer than the jump of a door. Its time
 * cannot be measured. */
bool choice_is_trifle(BinoptFunc code, size_t bytes);

/* Offers these versions, which then belong to the choice. The one that is expected to be the best comes first. */
BinoptFunc choice_offer(Choices *c, Places *places, const BinoptCfg *cfg, const BinoptFunc *versions, u32 count,
                        size_t bytes_of_first);

/* If `function` is one of the doors, returns the code to specialise in its place, which stays until all choices are
 * freed. Otherwise returns the function itself. */
u64 choice_base(Choices *c, u64 function);

/* The application no longer needs a function that choice_offer returned. */
void choice_release(Choices *c, BinoptFunc given);

/* The version that a given function leads to, or may lead to. */
BinoptFunc choice_version(const Choices *c, BinoptFunc given);

/* Writes why nothing was gained in the end, or "". */
void choice_reason(const Choices *c, BinoptFunc given, char *text, size_t size);

void choice_free_all(Choices *c);

/* Begins a contest (contest.h) between the versions and the original, in *c, or in a new one if *c is NULL. Returns
 * false if the door does not reach all of them, or time cannot be measured. */
bool choice_compete(Contest **c, const Door *door, const BinoptFunc *versions, u32 count, u64 original);

#define CHOICE_LOST "nothing is gained: in the calls that were timed the original was faster"

#endif
