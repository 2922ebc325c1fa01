/* spec.h: what the tests of specialised functions have in common. Each calls functions of subjects.c and their specialised versions, and
 * compares what they do. spec.c runs all of them. */
#ifndef TESTS_BINOPT_SPEC_H
#define TESTS_BINOPT_SPEC_H

#include <binopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subjects.h"

/* What a specialisation should return: a new function; the original from *llvm*, which cannot lift it; the original from every rewriter. */
typedef enum Expect { NEW, NOT_LIFTED, SAME } Expect;

enum { NUMBERS = 40 }; /* length of arrays of floating-point numbers */

extern BinoptHandle handle;
extern const int edges[10]; /* numbers at which functions of integers are likely to be wrong */
extern bool guarded;        /* configurations get BINOPT_F_GUARD */

void check(bool right, const char *what, const char *file, int line);
#define CHECK_THAT(cond) check(cond, #cond, __FILE__, __LINE__)

/* Makes a configuration by letters: the result's type, then those of the parameters. */
BinoptCfgRef configure(void *function, const char *sig);

/* True if the rewriter returns the original where nothing is gained. */
bool may_keep(void);

/* Specialises the function, and checks that what is expected was returned. */
BinoptFunc make(BinoptCfgRef cfg, void *function, Expect expect, const char *file, int line);
#define MAKE_ANY(cfg, f, expect) make(cfg, f, expect, __FILE__, __LINE__)
#define MAKE(cfg, f, expect) ((__typeof__(&f))MAKE_ANY(cfg, (void *)f, expect))

/* Prints the sums, and checks that most functions were new that could be. Returns the exit status. */
int report(void);

/* spec_numbers.c */
void test_integers(void);
void test_quotients(void);
void test_conversions(void);

/* spec_loops.c */
void test_indices(void);
void test_wrapping_numbers(void);
void test_lanes(void);
void test_distances(void);
void test_loops(void);
void test_nested_loops(void);
void test_vectors(void);
void test_tables(void);

/* spec_memory.c */
void test_memory(void);
void test_pointers_to_functions(void);
void test_calls(void);
void test_arguments(void);
void test_frames(void);

/* spec_odd.c */
void test_faults(void);
void test_nonsense(void);
void test_found(void);
void test_lost_addresses(void);

/* spec_versions.c */
void test_again(void);
void test_base(void);
void test_permissions(void);
void test_stack_sizes(void);
void test_deletion(void);
void test_gain(void);

#endif
