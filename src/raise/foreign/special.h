/* special.h: what prototypes do not tell, for programs of another machine. */
#ifndef RAISE_FOREIGN_SPECIAL_H
#define RAISE_FOREIGN_SPECIAL_H

#include "raise/prototypes.h"

/* What a prototype does not tell of a function, or of a type. */
typedef enum SpecialKind {
    SPECIAL_WRAPPED, /* src/raise/runtime has lathe_wrap_NAME, which does the same for programs of another machine: types or constants differ */
    SPECIAL_OPAQUE, /* of a type: only the library looks into it, and what it writes fits where the program has one, but in functions
                        that are wrapped or refused */
    SPECIAL_FEW,      /* its variable arguments are integers, not more than there are registers */
    SPECIAL_POINTERS, /* its variable arguments are pointers up to a null pointer */
    SPECIAL_INSTEAD,  /* another function is called instead */
    SPECIAL_SETJMP,
    SPECIAL_LONGJMP,
    SPECIAL_REFUSED,
} SpecialKind;

/* NULL: it is not of that kind. SPECIAL_REFUSED: the reason. SPECIAL_POINTERS: the function that takes an array. SPECIAL_INSTEAD: the other function. */
const char *special_find(SpecialKind kind, const char *name);

#endif
