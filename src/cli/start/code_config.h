/* code_config.h: the configuration of code that runs with certain options ask for. */
#ifndef CLI_CODE_CONFIG_H
#define CLI_CODE_CONFIG_H

#include "cache/key.h"
#include "isa/kinds.h"
#include "lathe/lift.h"

/* What run/client/core/options.c makes of the options of lathe run, and tier.c of the guest. build: see identity.h; with_quick: the runs are those with
 * --tier=auto; polls: the program has handlers of signals. */
CodeConfig code_config(const Kind *kind, const char *build, LatheOpt opt, bool strict_fp, bool with_quick, bool polls);

#endif
