/* expression.h: expressions of DWARF, by which rare rules of .eh_frame compute an address or a value. */
#ifndef RUN_CLIENT_TOOL_EXPRESSION_H
#define RUN_CLIENT_TOOL_EXPRESSION_H

#include "run/client/core/caller.h"
#include "run/client/tool/unwind/cursor.h"

/* The value of an expression that finds `first` on its stack, if that is given; false: it has none, or is none that is known. */
bool expression_value(Cursor text, const Caller *c, const u64 *first, u64 *value);

#endif
