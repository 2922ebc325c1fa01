/* programs.h: finds the programs that belong to lathe, and its cache directory. */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include "base/base.h"

/* Finds the path of one of lathe's programs, such as "lathe-client". Returns false after a message if it is missing. */
bool programs_find(const char *name, char *path, size_t size);

/* Finds a file that can be read, at a place relative to the directory of this program. Returns false if it is not there. */
bool programs_beside(const char *relative, const char *name, char *path, size_t size);

/* Finds the cache directory as an absolute path. `choice` is a directory, "none", or NULL for the user's usual one. A
 * shared cache may follow after a comma, or stand alone and mean the usual directory. The result is empty if there is
 * no cache. Returns false after a message if the path is too long. */
bool programs_cache_dir(const char *choice, char *path, size_t size);

/* Empties the path after a message if others than this user could have written what is there. */
void programs_cache_check(char *path);

/* Makes a path independent of the current directory. Returns false if it is too long. */
bool programs_absolute(const char *given, char *path, size_t size);

#endif
