/* trace_names.h: the names that --strace prints for numbers: flags, commands, requests, errors, signals. */
#ifndef LATHE_RUN_CLIENT_OS_TRACE_NAMES_H
#define LATHE_RUN_CLIENT_OS_TRACE_NAMES_H

#include "base/base.h"

typedef struct Name {
    u64 value;
    const char *name;
} Name;

/* What an argument's letter (syscalls.def) means: bits that are named each for itself, or one of several values. The list ends with a
 * name that is NULL. */
typedef struct NameSet {
    char letter;
    bool one_of;
    const Name *names;
    const char *none; /* of bits: what is printed for 0 */
} NameSet;

const NameSet *names_of_letter(char letter); /* NULL: the letter's numbers have no names */
const char *name_of_error(u64 error);        /* NULL: unknown */
const char *name_of_signal(u64 sig);         /* NULL: a real-time signal */

extern const Name names_of_open[]; /* without the access mode */

#endif
