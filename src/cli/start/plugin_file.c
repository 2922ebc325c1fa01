/* plugin_file.c: see plugin_file.h. */
#include "cli/start/plugin_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "cli/start/programs.h"

static bool fail(const char *choice, const char *why) {
    fprintf(stderr, "lathe: the plugin %s: %s\n", choice, why);
    return false;
}

bool plugin_find(const char *choice, PluginFile *out) {
    char given[PLUGIN_PATH_SIZE], path[PLUGIN_PATH_SIZE];
    *out = (PluginFile){0};
    if (!choice || !*choice)
        return true;
    const char *options = plugin_split(choice, given);
    if (!options || !programs_absolute(given, path, sizeof(path)))
        return fail(choice, "the path is too long");
    if (strchr(path, ','))
        return fail(path, "the path has a comma, behind which its options would begin");
    if (!plugin_identity(path, options, &out->identity))
        return fail(path, strerror(errno));
    if (snprintf(out->word, sizeof(out->word), "%s,%s", path, options) >= (int)sizeof(out->word))
        return fail(choice, "the options are too long");
    return true;
}
