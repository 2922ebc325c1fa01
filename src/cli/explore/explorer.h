/* explorer.h: what `lathe explore` knows of a file, and how its parts are written as JSON for the page. */
#ifndef CLI_EXPLORE_EXPLORER_H
#define CLI_EXPLORE_EXPLORER_H

#include "cli/explore/samples.h"
#include "cli/lift/unit.h"

typedef struct Explorer {
    Guest guest;
    Samples samples; /* none: nobody has counted */
    char *stats;     /* an object of JSON, of `lathe run --stats=json`; NULL: none */
    bool strict_fp, no_tables;
} Explorer;

/* A function as it becomes for one host. */
typedef struct Look {
    u64 at;
    LatheHost host;
    LatheOpt opt;
    bool steps; /* with what each pass makes of it */
} Look;

/* The names of hosts and levels, as the page and the command's options have them; LATHE_HOST_OWN is "own". False: there is none of that name. */
const char *look_host_name(LatheHost host);
const char *look_opt_name(LatheOpt opt);
bool look_host(const char *name, LatheHost *host);
bool look_opt(const char *name, LatheOpt *opt);

/* file.c: the file, its functions and what was counted. */
void explore_file(FILE *out, const Explorer *x, const Look *first);
/* The functions by number, those first that were executed most. */
void explore_order(const Explorer *x, size_t *order);

/* function.c: one function; what is wrong with it, if it cannot be shown, is a member "error". */
void explore_function(FILE *out, const Explorer *x, const Look *look);
void explore_error(FILE *out, const char *text);

/* gaps.c: why the code made of an instruction may not do what a CPU does. */
typedef struct Gap {
    const char *text; /* NULL: there is none */
    bool
        leaves; /* the instruction cannot be lifted, and the function leaves before it with a trap; otherwise, it deviates */
} Gap;
Gap explore_gap(const Unit *u, u64 pc);

#endif
