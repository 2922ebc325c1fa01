/* explain.c: see explain.h. It is noted whether somebody asks or not, since that costs nothing beside making code. */
#include "run/client/tool/explain.h"

#include "run/client/tool/runtime.h"
#include "run/client/tool/sites.h"

typedef enum Kind { QUICK, OPTIMISED, KINDS } Kind;

typedef struct Row {
    u64 sites[TOOL_WAYS], size;
} Row;

static Row rows[TOOL_HOOKS_MAX][KINDS];

void explain_quick(u32 hook, ToolWay way, u64 bytes) {
    rows[hook][QUICK].sites[way]++;
    rows[hook][QUICK].size += bytes;
}

void explain_quick_bytes(u64 hooks, u64 bytes) {
    u32 count = (u32)__builtin_popcountll(hooks);
    for (u32 i = 0; i < TOOL_HOOKS_MAX && count; i++)
        if (hooks >> i & 1) {
            u64 part = bytes / count--;
            rows[i][QUICK].size += part;
            bytes -= part;
        }
}

void explain_optimised(const ToolSites *list, u64 count) {
    for (u64 i = 0; i < count; i++)
        if (list[i].hook < TOOL_HOOKS_MAX && list[i].way < TOOL_WAYS) {
            rows[list[i].hook][OPTIMISED].sites[list[i].way] += list[i].sites;
            rows[list[i].hook][OPTIMISED].size += list[i].size;
        }
}

/* ------------------------------------------------------------------------------------------------------------- printing */

static const char *event_name(LatheEvent event) {
    static const char *const names[] = {
#define EVENT(event) [event] = #event,
#include "tool/events.def"
#undef EVENT
    };
    return event < ARRAY_LEN(names) ? names[event] : "?";
}

/* Each instruction is counted by the lifter itself (LatheTuning.cells), and objects do not tell. */
static Row row_of(u32 hook, Kind kind) {
    Row row = rows[hook][kind];
    const ToolPlan *plan = tool_plan(hook);
    if (kind == OPTIMISED && tool_only_counts_insns(hook)) {
        row.sites[TOOL_AS_COUNTER] = the.stats.guest_insns;
        row.size = the.stats.guest_insns * TOOL_ADD_INSNS * plan->add_count;
    }
    return row;
}

/* Names are NUMBER.NAME. */
static void print_hook(u32 hook, Kind kind) {
    static const char *const kinds[KINDS] = {"quick", "optimised"};
    Row row = row_of(hook, kind);
    u64 sites = 0, number = 0;
    for (u32 i = 0; i < TOOL_WAYS; i++)
        sites += row.sites[i];
    if (!sites)
        return;
    const char *name = tool_function((u64)tool_hook(hook)->call);
    for (; name && *name >= '0' && *name <= '9'; name++)
        number = number * 10 + (u64)(*name - '0');
    const char *tool = tool_own_name((u32)number);
    u64 tenths = row.size * 10 / sites;
    lathe_print("lathe: %-12s %-15s %-16s %-9s %8lu", tool ? tool : "?", event_name(tool_hook(hook)->event) + 6,
                name && *name ? name + 1 : "?", kinds[kind], sites);
    for (u32 i = 0; i < TOOL_WAYS; i++)
        lathe_print(" %8lu", row.sites[i]);
    lathe_print(" %6lu.%lu %s\n", tenths / 10, tenths % 10, kind == QUICK ? "bytes" : "IR");
}

void explain_print(void) {
    if (!the.opt.explain)
        return;
    lathe_print("lathe: %-12s %-15s %-16s %-9s %8s %8s %8s %8s %8s %8s %8s %8s   adds per site\n", "tool", "event",
                "function", "code", "sites", "counter", "merged", "inlined", "split", "call", "keeping", "left");
    for (u32 i = 0; i < tool_hook_count(); i++)
        for (Kind kind = QUICK; kind < KINDS; kind++)
            if (site_is_event(tool_hook(i)->event))
                print_hook(i, kind);
}
