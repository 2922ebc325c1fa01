/* stats.h: what `lathe run --stats=json` has printed. */
#ifndef CLI_EXPLORE_STATS_H
#define CLI_EXPLORE_STATS_H

#include "base/base.h"

/* The last such object in a file, to be freed by free(); NULL: there is none, or it cannot be read, and a message was printed. */
char *stats_read(const char *path);

#endif
