/* code_config.c: see code_config.h. */
#include "cli/start/code_config.h"

#include <stdio.h>

#include "host/host.h"

CodeConfig code_config(const Kind *kind, const char *build, LatheOpt opt, bool strict_fp, bool with_quick, bool polls) {
    CodeConfig config = {
        .version = CODE_VERSION,
        .arch = kind_arch(kind),
        .host = host_this,
        .low_vectors = kind == kind_of_host(),
        .memory = kind->weak_memory ? MEMORY_WEAK : MEMORY_ALONE,
        .opt = opt,
        .strict_fp = strict_fp,
        .with_quick = with_quick,
        .polls = polls,
    };
    snprintf((char *)config.reserved, sizeof(config.reserved), "%s", build);
    return config;
}
