/* fences.h: fences between memory accesses, for hosts whose order is weaker than what some guests expect (MEMORY_STRONG of cache/key.h): that loads come before all that follows
 * them, and stores before later stores, for all threads to see.
 *
 * What is pending says which accesses are not ordered yet before what follows. So a fence is only put in front of an access that needs one, and one serves all that were pending;
 * what is between two fences keeps to the order in which the host has it. A load that follows a store needs no fence. */
#ifndef IR_FENCES_H
#define IR_FENCES_H

#include "host/host.h"
#include "ir/ir.h"

typedef struct Pending {
    bool load, store;
} Pending;

typedef struct Fences {
    LLVMBuilderRef b;
    const Host *host;
    bool writes; /* are fences to be written, or only their effect to be known? */
    u32 count;   /* of those written */
} Fences;

/* Needs the host fences at all? */
bool fences_needed(const Host *host);
/* What is pending if it is one or the other. True if that is more than before. */
bool pending_join(Pending *to, Pending from);

/* An access: puts a fence in front of it if it needs one. */
void fences_load(Fences *f, Val access, Pending *p);
void fences_store(Fences *f, Val access, Pending *p);
/* One that loads and stores, is atomic, and is a full fence for the guest. */
void fences_atomic(Fences *f, Val access, Pending *p);

#endif
