/* linked.h: the specialised functions of one handle, as code that runs. Each is counted: it is freed when it was given back as
 * often as it was handed out. */
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
    u64 forks;          /* before it was made */
    const void *unwind; /* its tables, or NULL */
    BinoptFunc base;    /* what it was made from, if that is one of these: its guard leads there */
} LinkedFunction;

/* A zeroed one is empty. */
typedef struct Linked {
    Places places;
    VEC(LinkedFunction) functions;
} Linked;

void linked_free(Linked *l);

/* The function of an object that was linked before; NULL: none. */
BinoptFunc linked_find(Linked *l, u64 id);

/* Gives a function the id of its object in the store. */
void linked_identify(Linked *l, BinoptFunc code, u64 id);

/* A function of these stays until all of them go: something was made from it that may lead there. */
void linked_keep(Linked *l, BinoptFunc code);

/* Links an object whose one function is `name`, if it can be near to the function it was made from; NULL on failure. */
BinoptFunc linked_add(Linked *l, u64 near, u64 id, const char *name, const void *object, size_t size);

void linked_release(Linked *l, BinoptFunc code);
size_t linked_bytes(const Linked *l, BinoptFunc code);

#endif
