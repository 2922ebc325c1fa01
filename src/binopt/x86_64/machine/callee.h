/* callee.h: what is known of an address that is called or jumped to. The system is asked once for each address, because
 * that takes longer than following the instructions of a small function. */
#ifndef BINOPT_MACHINE_CALLEE_H
#define BINOPT_MACHINE_CALLEE_H

#include "base/base.h"

typedef struct Callee {
    u64 at, function; /* the address that is called, and the function that it leads to */
    bool stub;        /* the function itself is a stub that is not bound yet */
    bool placed;      /* `library` is valid */
    bool library;
    bool named; /* the following members are valid */
    bool never_returns;
    const char *unusual; /* its name, if it returns twice or changes its caller's stack */
} Callee;

typedef struct Callees {
    VEC(Callee) list;
} Callees;

/* Each of these functions finds out what the one before it does, and more: which file the callee is in, what its name
 * says. */
Callee callee_find(Callees *c, u64 at);
Callee callee_place(Callees *c, u64 at);
Callee callee_describe(Callees *c, u64 at);
void callees_free(Callees *c);

#endif
