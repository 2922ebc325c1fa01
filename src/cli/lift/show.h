/* show.h: what `lathe lift` can print about a unit or about the lifter; each kind has its own file. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "cli/lift/unit.h"

/* listing.c: the guest's instructions block by block, with `prefix` before each line; the control flow graph for
 * people, and for Graphviz. */
void show_listing(FILE *out, const Unit *u, const char *prefix);
void show_cfg_text(FILE *out, const Unit *u);
void show_cfg_dot(FILE *out, const Unit *u);

/* annotate.c: the IR; calls of UNIT_MARKER become comments with the guest instruction. */
void show_ir(FILE *out, const Unit *u);

/* columns.c: guest and host code beside each other. False if the unit could not be compiled. */
bool show_side_by_side(FILE *out, Unit *u, LatheJit *jit);

/* Parts of that: code of this process with addresses that begin at 0; two texts side by side. */
void show_code(FILE *out, const u8 *code, size_t size, LatheArch host);
void show_columns(FILE *out, const char *left, const char *right);

/* stats.c: the measures of one unit or of many; for people, or as a JSON object. */
void show_measures(FILE *out, const Measures *m);
void show_measures_json(FILE *out, const Measures *m); /* members of an object, without its braces */
void show_unit_stats(FILE *out, const Unit *u, bool json);
void show_json_string(FILE *out, const char *text);

/* survey.c: lifts every function of the guest and prints the results. Optimises and compiles only if there is a jit. */
bool show_survey(FILE *out, const UnitPlan *plan, LatheJit *jit, bool json);

/* tables.c: the instructions that the lifter knows; the functions of a file. */
void show_support(FILE *out, LatheArch arch, LatheHost host);
void show_functions(FILE *out, const ElfFile *elf);

#endif
