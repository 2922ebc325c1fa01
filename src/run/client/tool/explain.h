/* explain.h: --explain: what has become of the tool's functions in translated code, hook by hook. A site is an instruction at which a hook applies, as often as it was translated. */
#ifndef RUN_CLIENT_TOOL_EXPLAIN_H
#define RUN_CLIENT_TOOL_EXPLAIN_H

#include "run/client/core/client.h"
#include "tool/package.h"

/* With the arena's lock held: a hook has one more site in quick code, in front of which so many bytes are added for it. */
void explain_quick(u32 hook, ToolWay way, u64 bytes);
/* Bytes in quick code that belong to several hooks: a bit for each. */
void explain_quick_bytes(u64 hooks, u64 bytes);
/* With the arena's lock held: the rows of an object's section (TOOL_SITES_SECTION). */
void explain_optimised(const ToolSites *rows, u64 count);
/* The program ends: tells all. */
void explain_print(void);

#endif
