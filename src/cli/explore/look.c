/* look.c: hosts and levels by name. */
#include "cli/explore/explorer.h"

static const char *const opts[] = {
    [LATHE_OPT_NONE] = "none",
    [LATHE_OPT_QUICK] = "quick",
    [LATHE_OPT_FULL] = "full",
    [LATHE_OPT_MAX] = "max",
};

const char *look_host_name(LatheHost host) {
    return host == LATHE_HOST_OWN ? "own" : lathe_host_name(host);
}

const char *look_opt_name(LatheOpt opt) {
    return (size_t)opt < ARRAY_LEN(opts) ? opts[opt] : NULL;
}

bool look_host(const char *name, LatheHost *host) {
    const char *known;
    for (*host = LATHE_HOST_OWN; (known = look_host_name(*host)); ++*host)
        if (!strcmp(known, name))
            return true;
    return false;
}

bool look_opt(const char *name, LatheOpt *opt) {
    const char *known;
    for (*opt = 0; (known = look_opt_name(*opt)); ++*opt)
        if (!strcmp(known, name))
            return true;
    return false;
}
