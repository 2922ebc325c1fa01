/* scopes.h: a part of guest memory that only certain accesses of a function lead to, told to LLVM by alias metadata. */
#ifndef IR_SCOPES_H
#define IR_SCOPES_H

#include "ir/ir.h"

typedef struct OwnScope {
    Val in, not_in; /* lists of scopes, for alias.scope and noalias */
} OwnScope;

typedef enum ScopeSide { SCOPE_IN, SCOPE_OUT, SCOPE_EITHER } ScopeSide;

/* Scopes of the same name are one. */
OwnScope scope_new(const Lifter *l, const char *name);
/* Says of a load or store on which side it is. False: that was said already, or it is no access to guest memory. */
bool scope_say(const Lifter *l, const OwnScope *s, Val access, ScopeSide side);
/* For the metadata noalias of what every access but those of these scopes is ordered by: all of a function's scopes. NULL: it has none. */
Val scope_all(Val fn);

#endif
