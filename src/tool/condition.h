/* condition.h: the hooks that the options of a tool leave out (LatheWhere.option, .unless). */
#ifndef TOOL_CONDITION_H
#define TOOL_CONDITION_H

#include "tool/package.h"

/* Where the text of a tool's options begins, in NAME,key=value,… of all tools; its end is TOOL_OPTIONS_DIVIDER or 0. NULL: there is no such tool. */
static inline const char *tool_options_of(const char *options, u32 tool) {
    for (; options && tool > 1; tool--) {
        options = strchr(options, TOOL_OPTIONS_DIVIDER);
        options += options != NULL;
    }
    return options;
}

static inline bool tool_option_is_given(const char *options, u32 tool, const char *key) {
    const char *at = tool_options_of(options, tool);
    size_t len = strlen(key);
    for (; at && *at && *at != TOOL_OPTIONS_DIVIDER; at++) {
        const char *end = at + 1 + len;
        if (*at == ',' && !strncmp(at + 1, key, len) &&
            (!*end || *end == ',' || *end == '=' || *end == TOOL_OPTIONS_DIVIDER))
            return true;
    }
    return false;
}

/* A bit for each hook. */
static inline u64 tool_left_out(const ToolPlan *plans, u32 count, const char *options) {
    u64 all = 0;
    for (u32 i = 0; i < count; i++) {
        const ToolCondition *c = &plans[i].when;
        bool out = (*c->option && !tool_option_is_given(options, c->tool, c->option)) ||
                   (*c->unless && tool_option_is_given(options, c->tool, c->unless));
        all |= (u64)out << i;
    }
    return all;
}

#endif
