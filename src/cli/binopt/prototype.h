/* prototype.h: types and values as they are typed on the command line.
 *
 *     int(int, const double *, double *restrict)     a function: the result, then the parameters; names of types only
 *     42  -7  0x2a  1.5                               numbers
 *     double:0.25,0.5,0.25                            for a pointer: memory with these numbers
 *     text:hello   zero:4096   file:PATH              memory with a text, with zeros, with a file's contents
 *     symbol:NAME  symbol:0x4010                      a place in the loaded file
 */
#ifndef CLI_PROTOTYPE_H
#define CLI_PROTOTYPE_H

#include <binopt.h>

#include "cli/binopt/loaded.h"

enum { PROTOTYPE_MAX_PARAMS = 64 };

typedef struct Prototype {
    BinoptType ret, params[PROTOTYPE_MAX_PARAMS];
    u32 count;
} Prototype;

/* Returns false after a message if the text is not valid. */
bool prototype_parse(const char *text, Prototype *p);
/* "int32(int32, ptr)" */
void prototype_print(FILE *out, const Prototype *p);

typedef struct TypedValue {
    u64 bits;    /* as a parameter of its type */
    u8 *memory;  /* the memory that `bits` points to, if it was made here; shared with child processes */
    size_t size; /* of memory */
} TypedValue;

/* Likewise. The memory stays until the process ends. */
bool value_parse(const char *text, BinoptType type, Loaded *l, TypedValue *v);
void value_print(FILE *out, BinoptType type, u64 bits);

#endif
