/* statement.h: random expressions and statements of C. They end, and whatever the values are their behaviour is defined, with -fwrapv. */
#ifndef FUZZ_BINOPT_STATEMENT_H
#define FUZZ_BINOPT_STATEMENT_H

#include <stdio.h>

#include "random.h"

/* The function that is being written. */
typedef struct Text {
    Rng *r;
    FILE *to;
    bool cpp;
    bool small;   /* only x, y, acc and the data: few registers are needed, and no frame */
    u32 loops;    /* around what is written now */
    u32 callable; /* functions that it may call: entry_0 up to this one, besides the leaves */
    bool leaf;    /* it calls none */
} Text;

/* The local variables of a function that is not small; and a statement that makes acc depend on all of them. */
void text_locals(Text *t);
void text_collect(Text *t);

void text_expression(Text *t, u32 depth); /* of type long */
void text_condition(Text *t);
void text_statements(Text *t, u32 count, u32 depth);

#endif
