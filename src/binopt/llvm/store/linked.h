/* linked.h: the specialised functions of one handle, as linked code. Each is counted, and freed when it was released as
 * often as it was returned. */
#ifndef BINOPT_LLVM_LINKED_H
#define BINOPT_LLVM_LINKED_H

#include <binopt.h>

#include "binopt/process/places.h"
#include "codegen/load.h"

typedef struct LinkedFunction {
    u64 id; /* of the object in the store; 0: it is not there */
    BinoptFunc code;
    size_t bytes, users;
    CodeMem *memory;
    CodeSpan span;
    u64 forks;          /* fork_count() when it was made */
    const void *unwind; /* its unwind tables, or NULL */
    BinoptFunc base;    /* the linked function that it was made from, if any: its guard leads there */
} LinkedFunction;

/* A zeroed Linked is empty. */
typedef struct Linked {
    Places places;
    VEC(LinkedFunction) functions;
} Linked;

void linked_free(Linked *l);

/* The function of an object that was linked before, or NULL. */
BinoptFunc linked_find(Linked *l, u64 id);

/* Gives a function the id of its object in the store. */
void linked_identify(Linked *l, BinoptFunc code, u64 id);

/* Keeps a function until all are freed, because code that was made from it may lead there. */
void linked_keep(Linked *l, BinoptFunc code);

/* Links an object that has one function, `name`, if possible near the function it was made from. Returns NULL on
 * failure. */
BinoptFunc linked_add(Linked *l, u64 near, u64 id, const char *name, const void *object, size_t size);

void linked_release(Linked *l, BinoptFunc code);
size_t linked_bytes(const Linked *l, BinoptFunc code);

#endif
