/* plugin_id.h: what identifies a plugin (lathe/plugin.h): its file and its options. Both sides compute it, so that the server never loads another file than the client's cache keys name. */
#ifndef RUN_PLUGIN_ID_H
#define RUN_PLUGIN_ID_H

#include "base/base.h"

/* FILE[,OPTIONS], as --plugin has it, and as the client and the server hand it on with the file's absolute path. */
enum { PLUGIN_PATH_SIZE = 256, PLUGIN_WORD_SIZE = 768 };

/* Copies the path; the result is where the options begin in `word`. NULL: the path is too long. */
const char *plugin_split(const char *word, char path[PLUGIN_PATH_SIZE]);
/* Never 0. False: the file cannot be read, and errno says why. */
bool plugin_identity(const char *path, const char *options, u64 *identity);

#endif
