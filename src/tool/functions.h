/* functions.h: what is known of the functions of lathe/tool.h by their names. */
#ifndef TOOL_FUNCTIONS_H
#define TOOL_FUNCTIONS_H

#include "base/base.h"

/* Does a function of lathe/tool.h work on the guest's whole state? Only quick code has that at hand. */
static inline bool tool_is_state_function(const char *name) {
#define FUNCTION(name)
#define STATE_FUNCTION(name) #name,
    static const char *const all[] = {
#include "tool/functions.def"
    };
#undef FUNCTION
    for (u32 i = 0; i < ARRAY_LEN(all); i++)
        if (!strcmp(all[i], name))
            return true;
    return false;
}

#endif
