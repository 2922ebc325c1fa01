/* programs.h: the programs that belong to lathe, and its directory for what is kept. */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include "base/base.h"

/* The path of one of our programs, such as "lathe-client"; false, after a message: it is missing. */
bool programs_find(const char *name, char *path, size_t size);

/* The cache directory as an absolute path. `choice` is a directory, "none", or NULL for the user's usual one; a shared cache may
 * follow behind a comma, or stand alone for the usual directory. An empty
 * result stands for no cache; false, after a message: the path is too long. */
bool programs_cache_dir(const char *choice, char *path, size_t size);

/* Path made independent of the current directory; false: too long. */
bool programs_absolute(const char *given, char *path, size_t size);

#endif
