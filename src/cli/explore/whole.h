/* whole.h: the page as one file. */
#ifndef CLI_EXPLORE_WHOLE_H
#define CLI_EXPLORE_WHOLE_H

#include "cli/explore/explorer.h"

/* Writes a page with these functions, as many as a browser opens easily if they were not chosen by name, and opens it with the first one. False: it could
 * not be written, and a message was printed. */
bool whole_write(const Explorer *x, const Look *first, const Look *looks, size_t count, const char *path);

#endif
