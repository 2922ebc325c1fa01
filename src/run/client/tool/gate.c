/* gate.c: see gate.h. */
#include "run/client/tool/gate.h"

#include "run/client/code/arena/arena.h"
#include "run/client/core/client.h"
#include "run/client/core/sys.h"
#include "run/client/tool/tool.h"
#include "tool/functions.h"

#define TOOL_COUNT_NAME "lathe_count"

enum { GATES_BYTES = 64 << 10, GATE_ALIGN = 16, GATES_WANTING = 16, GATE_WORDS = 9 };

extern u8 tool_gate[] __attribute__((visibility("hidden"))), tool_gate_end[] __attribute__((visibility("hidden")));
extern u8 tool_count[] __attribute__((visibility("hidden"))), tool_count_end[] __attribute__((visibility("hidden")));
_Static_assert(TOOL_COUNTERS_MAX == 512 && TOOL_CELLS == 8, "as gate.S has it");

/* Near translated code, and behind one another; the copy of tool_count is in front of them. */
static struct {
    u8 *all, *first, *next;
    u32 wanting_count;
    u64 wanting[GATES_WANTING]; /* those to functions that want the whole state */
} gates;

/* NULL: there is no room. */
static u8 *add(const u8 *code, const u8 *end) {
    u8 *at = gates.next;
    u64 size = (u64)(end - code);
    if (at + size + GATE_ALIGN > gates.all + GATES_BYTES)
        return NULL;
    memcpy(at, code, size);
    gates.next += (size + GATE_ALIGN - 1) & ~(u64)(GATE_ALIGN - 1);
    return at;
}

static void begin(void) {
    gates.all = gates.next = arena_data(GATES_BYTES, PAGE);
    add(tool_count, tool_count_end);
    gates.first = gates.next;
}

u64 gate_new(const char *name, u64 function) {
    if (!gates.all)
        begin();
    if (!strcmp(name, TOOL_COUNT_NAME))
        return (u64)gates.all;
    u8 *at = add(tool_gate, tool_gate_end);
    if (at)
        memcpy(at + (tool_gate_end - tool_gate) - sizeof(function), &function, sizeof(function));
    if (tool_is_state_function(name)) {
        CHECK(gates.wanting_count < GATES_WANTING, "few functions want the whole state");
        gates.wanting[gates.wanting_count++] = (u64)at;
    }
    return (u64)at;
}

bool gates_close(void) {
    return !gates.all || !sys_mprotect((u64)gates.all, GATES_BYTES, PROT_READ | PROT_EXEC);
}

bool gate_is(u64 address) {
    return address - (u64)gates.first < (u64)(gates.next - gates.first);
}

bool gate_wants_state(u64 address) {
    for (u32 i = 0; i < gates.wanting_count; i++)
        if (gates.wanting[i] == address)
            return true;
    return false;
}

bool gates_want_state(void) {
    return gates.wanting_count;
}

u64 gate_last_return(const Thread *t) {
    u64 depth = t->tool.kept_depth / (8 * GATE_WORDS);
    return depth && depth <= TOOL_KEPT / GATE_WORDS ? t->tool.kept[depth * GATE_WORDS - 2] : 0;
}
