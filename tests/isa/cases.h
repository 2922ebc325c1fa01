/* cases.h: case files. A case is a line `instructions | initial state | expected changes`; see docs/testing.md. */
#ifndef ISA_CASES_H
#define ISA_CASES_H

#include "state.h"

typedef struct Case {
    const char *file;
    int line; /* from 1 */
    const char *insns, *initial, *expected;
    bool by_hand;   /* the expected column is not the CPU's word: no native run, no update */
    const u8 *code; /* set by assemble_cases */
    size_t size;
} Case;

typedef struct CaseList {
    Case *at;
    size_t len, cap;
} CaseList;

/* Appends the cases of a file; strings live in the arena. False: a message was printed. */
bool cases_read(const char *file, CaseList *list, Arena *a);

/* The three states of an assembled case: before, after, and what of the latter is left open. False: printed. */
bool cases_states(const Case *c, State *initial, State *expected, State *ignore);

/* Rewrites a file with the expected columns as given; `expected[i]` is for list->at[i], NULL: keep. False: printed. */
bool cases_write(const char *file, const CaseList *list, const char *const *expected);

#endif
