/* drive.h: who calls the kernels: each row's kernel in each of its ways from a place of its own.
 *
 * A CPU predicts where a call through a pointer leads. Where one place calls several functions, the one that it called first after the
 * predictor was reset may come out three cycles faster than all others (seen on an AMD EPYC), which is a third of the shortest kernels.
 * So drive.c is compiled once for each way, and the loops of all of them are aligned alike. */
#ifndef BENCH_BINOPT_DRIVE_H
#define BENCH_BINOPT_DRIVE_H

#include "kernels.h"

enum { ROWS = 13, WAYS = 8 };

extern Sorted one_sorted;
extern double terms[TERMS];
extern float from_float[SIDE * SIDE], to_float[SIDE * SIDE];
extern double from[SIDE * SIDE], to[SIDE * SIDE], numbers[ELEMENTS];

/* Calls the kernel that many times; returns a digest of the results. */
typedef double Drive(void *kernel, long times);

/* For each row, in the order of the table. */
extern Drive *const drives_0[ROWS], *const drives_1[ROWS], *const drives_2[ROWS], *const drives_3[ROWS],
                                                                                      *const drives_4[ROWS],
                                                                                          *const drives_5[ROWS],
                                                                                              *const drives_6[ROWS],
                                                                                                  *const drives_7[ROWS];

#endif
