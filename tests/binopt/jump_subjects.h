/* jump_subjects.h: functions with computed jumps, which rewriters may take for tail calls or not, compiled by several compilers at
 * several levels. All have the same type, and take a program of operations: see jump_subjects.c. */
#ifndef TESTS_BINOPT_JUMP_SUBJECTS_H
#define TESTS_BINOPT_JUMP_SUBJECTS_H

typedef long Jumping(const void *program, long x, long y);

/* Programs are bytes; the last operation ends them. */
enum { OP_ADD, OP_TRIPLE, OP_FLIP, OP_LESS, OP_END, OPS };

Jumping threaded_table, threaded_offsets, calls_threaded, threaded_with_calls, one_label, switched, switched_openly,
    switched_twice, bound_of_another;
/* Programs are addresses of labels, which the function gives away when it gets no program. */
Jumping threaded_directly;
/* Programs are pointers to functions: these are tail calls, or look like them. */
Jumping calls_last, calls_last_of_two;
/* The same, but something is done with what they return: with retpolines these are calls of a thunk, which has the target in r11. */
Jumping calls_first, calls_inside;
/* A function that a program may have. */
long last_step(const void *program, long x, long y);

#endif
