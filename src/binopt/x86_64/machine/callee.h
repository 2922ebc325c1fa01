/* callee.h: what is known of an address that is called or jumped to. The system is asked once for each: that takes longer than
 * following the instructions of a small function. */
#ifndef BINOPT_MACHINE_CALLEE_H
#define BINOPT_MACHINE_CALLEE_H

#include "base/base.h"

typedef struct Callee {
    u64 at, function; /* what is called, and where that leads */
    bool stub;        /* the function itself is a stub: one that is not bound yet */
    bool placed;      /* `library` holds */
    bool library;
    bool named; /* what follows holds */
    bool never_returns;
    const char *unusual; /* its name, if it returns twice or changes its caller's stack */
} Callee;

typedef struct Callees {
    VEC(Callee) list;
} Callees;

/* Each of them knows what those before it do, and more: which file it is in, what its name says. */
Callee callee_find(Callees *c, u64 at);
Callee callee_place(Callees *c, u64 at);
Callee callee_describe(Callees *c, u64 at);
void callees_free(Callees *c);

#endif
