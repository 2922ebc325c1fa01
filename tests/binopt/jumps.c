/* jumps.c: functions with computed jumps do what they did: those that jump inside themselves, and those whose jumps are tail calls. */
#include <binopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "jump_subjects.h"

typedef struct Subject {
    Jumping *function;
    const char *name;
    enum { BYTES, LABELS, FUNCTIONS } program;
} Subject;

#define SUBJECT(f, program)                                                                                            \
    { f, #f, program }
static const Subject subjects[] = {
    SUBJECT(threaded_table, BYTES),      SUBJECT(threaded_offsets, BYTES), SUBJECT(calls_threaded, BYTES),
    SUBJECT(threaded_with_calls, BYTES), SUBJECT(one_label, BYTES),        SUBJECT(switched, BYTES),
    SUBJECT(switched_openly, BYTES),     SUBJECT(switched_twice, BYTES),   SUBJECT(bound_of_another, BYTES),
    SUBJECT(threaded_directly, LABELS),  SUBJECT(calls_last, FUNCTIONS),   SUBJECT(calls_last_of_two, FUNCTIONS),
    SUBJECT(calls_first, FUNCTIONS),     SUBJECT(calls_inside, FUNCTIONS),
};

enum { PROGRAMS = 2, LENGTH = 12 };
static const unsigned char bytes[PROGRAMS][LENGTH] = {
    {OP_ADD, OP_TRIPLE, OP_FLIP, OP_ADD, OP_LESS, OP_TRIPLE, OP_ADD, OP_FLIP, OP_LESS, OP_TRIPLE, OP_ADD, OP_END},
    {OP_TRIPLE, OP_LESS, OP_END},
};

static int failures, checks;
static bool thunks; /* computed jumps are made by returns: *llvm* need not recognise tail calls */

/* The program as the subject wants it. */
static const void *program_for(const Subject *s, int which) {
    static const void *labels[PROGRAMS][LENGTH];
    static Jumping *const functions[] = {last_step, last_step, last_step};
    if (s->program == BYTES)
        return bytes[which];
    if (s->program == FUNCTIONS)
        return functions + which;
    const void *const *label = (const void *const *)s->function(NULL, 0, 0);
    for (int i = 0; i < LENGTH; i++)
        labels[which][i] = label[bytes[which][i]];
    return labels[which];
}

static void compare(const Subject *s, Jumping *made, const void *program, bool fixed[3], long x, long y) {
    long expected = s->function(program, x, y), got = made(program, x, y);
    checks++;
    if (got == expected)
        return;
    failures++;
    printf("%s(%p, %ld, %ld)%s%s%s: %ld, not %ld\n", s->name, program, x, y, fixed[0] ? ", program fixed" : "",
           fixed[1] ? ", x fixed" : "", fixed[2] ? ", y fixed" : "", got, expected);
}

/* Each choice of what is fixed, and of what is constant. */
static void test(BinoptHandle handle, const Subject *s, unsigned choice) {
    bool fixed[3] = {choice & 1, choice & 2, choice & 4};
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)s->function);
    const void *program = program_for(s, choice >> 3 & 1);
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT64, BINOPT_TY_PTR, BINOPT_TY_INT64, BINOPT_TY_INT64);
    if (fixed[0])
        binopt_cfg_set_paramp(cfg, 0, program, s->program == BYTES ? LENGTH : 8, BINOPT_MEM_CONST);
    if (fixed[1])
        binopt_cfg_set_parami(cfg, 1, 5);
    if (fixed[2])
        binopt_cfg_set_parami(cfg, 2, 7);
    Jumping *made = (Jumping *)binopt_spec_create(cfg);
    if (s->program == FUNCTIONS && !thunks && !strcmp(binopt_driver(), "llvm") && made == s->function) {
        failures++;
        printf("%s: a tail call was not recognised\n", s->name);
    }
    for (long i = -2; i < 3; i++)
        compare(s, made, program, fixed, fixed[1] ? 5 : i * 11, fixed[2] ? 7 : i * 1000003);
}

/* With an argument the subjects were compiled with thunks. */
int main(int argc, char **argv) {
    (void)argv;
    thunks = argc > 1;
    BinoptHandle handle = binopt_init();
    for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++)
        for (unsigned choice = 0; choice < 16; choice++)
            test(handle, &subjects[i], choice);
    binopt_fini(handle);
    printf("%d of %d checks failed (%s)\n", failures, checks, binopt_driver());
    return failures != 0;
}
