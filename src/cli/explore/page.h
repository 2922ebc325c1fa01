/* page.h: the page that shows what the other parts write. Its sources are in the folder `page`, as they are, and are put into the command when that is built. */
#ifndef CLI_EXPLORE_PAGE_H
#define CLI_EXPLORE_PAGE_H

#include <stdio.h>

#include "base/base.h"

extern const char page_html[], page_css[], page_js[];

/* The page that asks a server for its style, its script and all it shows. */
void page_write_served(FILE *out);
/* The page that needs nothing else; `data` is JSON: {"file": …, "functions": {"0x1000 own full": …}}. */
void page_write_whole(FILE *out, const char *data);

#endif
