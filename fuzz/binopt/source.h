/* source.h: random files of C or C++ with functions to be specialised: what compilers make of interpreters, switches, calls of all kinds,
 * objects and containers is what a program has, and machine code that is drawn at random has not. */
#ifndef FUZZ_BINOPT_SOURCE_H
#define FUZZ_BINOPT_SOURCE_H

#include <stdio.h>

#include "random.h"

/* What all functions have as their first parameter, and only read; the text is for the files, too. */
#define SOURCE_DATA                                                                                                    \
    typedef struct Data Data;                                                                                          \
    typedef long Entry(const Data *d, long x, long y, long *out);                                                      \
    enum { SOURCE_CODE = 40, SOURCE_ENTRIES = 6, SOURCE_LEAVES = 4, SOURCE_OUT = 16, SOURCE_OPS = 8 };                 \
    struct Data {                                                                                                      \
        Entry *leaf[SOURCE_LEAVES];                                                                                    \
        const void *const *labels[SOURCE_ENTRIES + SOURCE_LEAVES];                                                     \
        const void *object[4];                                                                                         \
        long word[8];                                                                                                  \
        double real[8];                                                                                                \
        int number[16];                                                                                                \
        int op[SOURCE_CODE];                                                                                           \
        unsigned char code[SOURCE_CODE];                                                                               \
    };
SOURCE_DATA

/* Writes a file that defines `Entry entry_0, …, entry_5` and `void setup(Data *)`, which sets the pointers. Operations in `op` and `code`
 * are below SOURCE_OPS, and the highest one ends a program. */
void source_draw(Rng *r, FILE *to, bool cpp);

#endif
