/* contain.h: `lathe raise --contained`: a program, its libraries and the translator in one file, which runs without Lathe. */
#ifndef CLI_CONTAIN_H
#define CLI_CONTAIN_H

#include "cli/options.h"

typedef enum ContainReport { CONTAIN_REPORT_NONE, CONTAIN_REPORT_TEXT, CONTAIN_REPORT_JSON } ContainReport;

typedef struct ContainSettings {
    const char *file, *output, *sysroot; /* sysroot NULL: the usual one */
    const OptionList *with;              /* more libraries and programs */
    bool ahead;                          /* compile all functions first */
    bool strict_fp;
    ContainReport report;
} ContainSettings;

/* Returns false after a message; then there is no file. */
bool contain(const ContainSettings *s);

#endif
