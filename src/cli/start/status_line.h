/* status_line.h: one line on a terminal that says how far a long command is. */
#ifndef CLI_STATUS_LINE_H
#define CLI_STATUS_LINE_H

#include "base/base.h"

/* Shows "DONE of TOTAL WHAT" on standard error if that is a terminal, at most ten times per second. */
void status_line_show(const char *what, u64 done, u64 total);
/* Erases the line. */
void status_line_end(void);

#endif
