/* ends.h: what the parts of the test of ways to end have in common: see ends.c. */
#ifndef TESTS_ENDS_H
#define TESTS_ENDS_H

#include <stdbool.h>

#define EXPORTED __attribute__((visibility("default")))

/* In a library of its own, or in the program. */
typedef unsigned Subject(const unsigned char *program, unsigned size, unsigned x);
EXPORTED Subject subject;

enum { ENDS_COUNT = 3 };

/* The user of binopt, in a library of its own or in the program: it makes ENDS_COUNT functions out of the subject, by a thread of the
 * application if in_thread is true. With `tidy` it frees what it has when its library is unloaded. */
EXPORTED void user_start(Subject *from, bool in_thread, bool tidy);

/* Those that are there by now are called; are the results right? */
EXPORTED bool user_is_right(void);

/* Are they all what they will be? Of tiered these are those of LLVM. */
EXPORTED bool user_is_done(void);

/* Makes one with a handle of its own, calls it and frees both. Is the result right? */
EXPORTED bool user_makes_another(Subject *from);

#endif
