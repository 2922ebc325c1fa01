/* plugin_file.h: the plugin that --plugin names, for `lathe run` and `lathe serve`. */
#ifndef CLI_PLUGIN_FILE_H
#define CLI_PLUGIN_FILE_H

#include "run/protocol/plugin_id.h"

typedef struct PluginFile {
    char word[PLUGIN_WORD_SIZE]; /* its absolute path, and its options behind a comma; empty: there is no plugin */
    u64 identity;
} PluginFile;

/* `choice`: FILE[,OPTIONS]; NULL or empty: none. Returns false after a message. */
bool plugin_find(const char *choice, PluginFile *out);

#endif
