/* prototypes.h: the C functions of the system's libraries, as its headers declare them: a table that prototypes.py makes at build time. Those of the C++ library are another one (cxx.py).
 *
 * A type is one letter: */
#ifndef RAISE_PROTOTYPES_H
#define RAISE_PROTOTYPES_H

#include "base/base.h"

typedef enum TypeLetter {
    TYPE_VOID = 'v',
    TYPE_I8 = 'b', /* capitals: unsigned */
    TYPE_U8 = 'B',
    TYPE_I16 = 'h',
    TYPE_U16 = 'H',
    TYPE_I32 = 'i',
    TYPE_U32 = 'I',
    TYPE_I64 = 'l', /* or a struct of integers that is not larger */
    TYPE_TWO = 'q', /* a struct of integers of up to 16 bytes */
    TYPE_FLOAT = 'f',
    TYPE_DOUBLE = 'd',
    TYPE_EXTENDED = 'x', /* long double */
    TYPE_POINTER = 'p',
    TYPE_CALLBACK = 'c',    /* a pointer to a function */
    TYPE_PRINTS = 'F',      /* the format of variable arguments */
    TYPE_SCANS = 'S',       /* likewise, for scanf */
    TYPE_WIDE_PRINTS = 'W', /* formats of wide characters */
    TYPE_WIDE_SCANS = 'w',
    TYPE_LIST = 'a',   /* va_list */
    TYPE_MORE = '.',   /* variable arguments follow */
    TYPE_MEMORY = 'm', /* a result in memory, whose address is the first parameter */
    TYPE_OTHER = '?',
} TypeLetter;

enum { PROTOTYPE_HOSTS = 4 };

typedef struct Prototype {
    const char *name;
    const char *types; /* of the result, then of the parameters */
    /* For each host of prototype_host: a type that its parameters lead to and that is another one there than on the first; NULL: none. */
    const char *differs[PROTOTYPE_HOSTS];
} Prototype;

/* NULL: no header has it. */
const Prototype *prototype_find(const char *name);
/* A function of the C++ library, by its mangled name; NULL: it is not known. Its result is one or two integers, whatever it is, if its name does not tell. */
const Prototype *prototype_find_cxx(const char *name);
/* Does that virtual function of a class of the C++ library return a class in memory? `type` is the mangled name of its type. */
bool prototype_slot_in_memory(const char *type, u32 slot);
/* The index in `differs` of a host by its name; -1: the headers of that machine were not there. */
int prototype_host(const char *host);

#endif
