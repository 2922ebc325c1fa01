/* record.h: a sample and what the CPU made of it, as fuzz-emit writes it and fuzz-replay reads it. */
#ifndef FUZZ_RECORD_H
#define FUZZ_RECORD_H

#include "sample.h"

enum { RECORD_TEXT_BYTES = 320 };

typedef struct Record {
    u64 seed;
    u32 size;
    u8 code[SAMPLE_BYTES];
    char text[RECORD_TEXT_BYTES]; /* its instructions, to be shown */
    State initial, final, ignore; /* ignore: what quick code does not keep, docs/quick.md */
    NativeResult result;
} Record;

#endif
