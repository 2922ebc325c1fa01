/* caselist.h: the lists of commands to compare, one per line:
 *
 *     # a comment
 *     = seq 100 > $DATA/numbers            run natively before all cases, by sh
 *     name | programs it needs | command   a case; those whose name begins with + are the quick ones
 *
 * A command of plain words is executed as it is; anything with a character that is special to a shell goes through sh -c.
 */
#ifndef CASELIST_H
#define CASELIST_H

#include "base/base.h"

typedef struct Case {
    char *name, *needs, *command;
    bool quick;
} Case;

typedef struct CaseList {
    VEC(Case) cases;
    VEC(char *) prepare;
    char *text; /* what all of these point into */
} CaseList;

/* false: the file cannot be read or makes no sense; there was a message. */
bool caselist_read(CaseList *list, const char *path);
void caselist_free(CaseList *list);
/* A program of `needs` that PATH does not have, or NULL. The result lives until the next call. */
const char *case_lacks(const Case *c);
/* The words of a command, as arguments for exec; `prefix` goes before the first. One piece of memory: free it. */
char **case_argv(const Case *c, const char *prefix);

#endif
