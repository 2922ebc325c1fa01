/* small.h: how small a function has to be to be translated together with what calls it.
 *
 * The server lifts such functions into the translation of their caller, and LLVM puts their code in the place of the calls. The client takes a loop that
 * calls nothing else for one that stays in its translation. So both go by the same limits. */
#ifndef RUN_SMALL_H
#define RUN_SMALL_H

enum {
    SMALL_INSNS = 64,  /* the most instructions of such a function, with all that it calls in turn */
    SMALL_DEPTH = 3,   /* of calls: the function, what it calls, and what that calls */
    SMALL_ADDED = 600, /* the most instructions that all calls of one translation add to it */
};

#endif
