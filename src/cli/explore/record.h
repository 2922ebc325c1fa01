/* record.h: what each pass makes of a function's IR. A line that stays as it is is stored once. */
#ifndef CLI_EXPLORE_RECORD_H
#define CLI_EXPLORE_RECORD_H

#include "cli/explore/lines.h"

typedef struct Step {
    const char *pass; /* "lifted" for the first one */
    u32 *lines;       /* of Record.lines */
    u32 count;
} Step;

/* A zeroed one is empty. */
typedef struct Record {
    LLVMValueRef function; /* the one that is looked at; it stays while passes run */
    Arena arena;
    Lines lines; /* each different one, in no particular order */
    Map64 by_hash;
    VEC(Step) steps;
    size_t stored;   /* lines of all steps */
    size_t left_out; /* how many steps were not kept, since there were too many lines */
    u64 print;       /* the function's fingerprint when it was looked at last */
    u64 names;       /* given so far */
} Record;

/* Adds the function as it is now, unless it is as before. Gives names to values and blocks that have none, so that they keep these from step to step. */
void record_step(Record *r, const char *pass);
/* Does the same while there is room. A LatheStep, whose user is the Record. */
void record_pass(void *record, const char *pass, LLVMModuleRef mod);
void record_free(Record *r);

#endif
