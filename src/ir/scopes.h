/* scopes.h: a part of guest memory that only certain accesses of a function lead to, told to LLVM by alias metadata. */
#ifndef IR_SCOPES_H
#define IR_SCOPES_H

#include "ir/ir.h"

typedef struct OwnScope {
    Val in, not_in; /* lists of scopes, for alias.scope and noalias */
} OwnScope;

typedef enum ScopeSide { SCOPE_IN, SCOPE_OUT, SCOPE_EITHER } ScopeSide;

/* Scopes of the same name are one. NULL: one that is different from all others, and that is another one in each inlined copy of the function. */
OwnScope scope_new(const Lifter *l, const char *name);
/* Says of a load or store on which side it is. False: that was said already, or it is no access to guest memory. */
bool scope_say(const Lifter *l, const OwnScope *s, Val access, ScopeSide side);
/* Has a load or store been said to be in a scope? */
bool scope_is_own(Val access);
/* All scopes of a function, as a list for the `noalias` metadata of an instruction that touches all memory but these. NULL: it has none. */
Val scope_all(Val fn);

#endif
