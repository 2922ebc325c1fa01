/* choice.h: what an application gets when there are several versions of a function: one that is sure to be the best, or a door (door.h)
 * behind which they compete with the original (contest.h). */
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

/* Those of one rewriter. */
typedef struct Choices {
    void *self;
    void (*release)(void *self, BinoptFunc version); /* one that is no longer needed */
    VEC(Choice) list;
} Choices;

/* Does the code run once from its beginning to its end, and take hardly longer than the jump of a door? There is nothing to be measured in that. */
bool choice_is_trifle(BinoptFunc code, size_t bytes);

/* The versions, the one that is expected to be the best first, are the choice's from now on. */
BinoptFunc choice_offer(Choices *c, Places *places, const BinoptCfg *cfg, const BinoptFunc *versions, u32 count,
                        size_t bytes_of_first);

/* The code to begin with if the function is one of the doors: that stays until all go. Else the function itself. */
u64 choice_base(Choices *c, u64 function);

/* What the application has got by choice_offer is no longer needed. */
void choice_release(Choices *c, BinoptFunc given);

/* The version that is behind what was given, or may be. */
BinoptFunc choice_version(const Choices *c, BinoptFunc given);

/* Why nothing was gained in the end, or "". */
void choice_reason(const Choices *c, BinoptFunc given, char *text, size_t size);

void choice_free_all(Choices *c);

/* Begins a contest (contest.h) between the versions and the original: *c, or a new one if that is NULL. False: the door does not reach them all, or times
 * cannot be taken. */
bool choice_compete(Contest **c, const Door *door, const BinoptFunc *versions, u32 count, u64 original);

#define CHOICE_LOST "nothing is gained: in the calls that were timed the original was faster"

#endif
