/* counts.h: counters by number (LatheCounts of lathe/tool.h). */
#ifndef RUN_CLIENT_TOOL_TABLE_COUNTS_H
#define RUN_CLIENT_TOOL_TABLE_COUNTS_H

#include "run/client/core/client.h"

/* A thread ends: what it has counted is kept. */
void counts_thread_ends(Thread *t);
/* A process was forked: it begins with nothing counted. */
void counts_after_fork(Thread *t);

#endif
