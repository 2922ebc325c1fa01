/* runtime.c: the functions of lathe/tool.h. */
#include "isa/helper.h"
#include "run/client/code/arena/arena.h"
#include "run/client/tool/tool.h"

/* Optimised code may have the first cell in a register while it calls a function of the tool's. */
enum { CELL_OF_C = 1 };

static const char no_counter[] = "a LatheCounter is no global variable of the tool's: it is on the stack, in memory "
                                 "of lathe_alloc, or was overwritten";

/* What is zero has not got a number when the tool was built. */
static u32 check_counter(const LatheCounter *counter) {
    if (!counter->number || counter->number >= TOOL_COUNTERS_MAX)
        lathe_fail_of(0, "%s", no_counter);
    return (u32)counter->number;
}

void lathe_count(LatheCounter *counter, long amount) {
    thread_self()->tool.cell[check_counter(counter)][CELL_OF_C] += (u64)amount;
}

static u64 total_of(u32 number) {
    arena_lock(); /* threads do not end meanwhile */
    u64 sum = tool_ended(number);
    for (const Thread *t = the.threads; t; t = t->next)
        for (u32 i = 0; i < TOOL_CELLS; i++)
            sum += __atomic_load_n(&t->tool.cell[number][i], __ATOMIC_RELAXED);
    arena_unlock();
    return sum;
}

/* Code that counts without a call of lathe_count looks at no number. */
void tool_check_counts(void) {
    if (total_of(0))
        lathe_fail_of(0, "%s", no_counter);
}

unsigned long lathe_total(const LatheCounter *counter) {
    return total_of(check_counter(counter));
}

void lathe_set_argument(unsigned index, uint64_t value) {
    const ToolEvent *about = thread_self()->tool.event;
    if (about && about->arguments && index < 6)
        about->arguments[index] = value;
}

void lathe_set_result(long result) {
    ToolEvent *about = thread_self()->tool.event;
    if (about)
        about->result = result;
}

bool lathe_optimise(uint64_t from, uint64_t bytes) {
    u32 index = __atomic_fetch_add(&the.tier.whole_count, 1, __ATOMIC_RELAXED);
    if (index < TIER_WHOLE) {
        the.tier.whole[index] = (LatheRange){from, from + bytes};
        return true;
    }
    __atomic_store_n(&the.tier.whole_count, TIER_WHOLE, __ATOMIC_RELAXED);
    return false;
}

uint64_t lathe_nanoseconds(void) {
    struct timespec now;
    sys_clock_gettime(CLOCK_MONOTONIC, &now);
    return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

bool tool_resolve(const char *name, u64 *address) {
#define FUNCTION(name) {#name, (void *)name},
    static const Helper functions[] = {
#include "tool/functions.def"
    };
#undef FUNCTION
    for (u32 i = 0; i < ARRAY_LEN(functions); i++)
        if (!strcmp(functions[i].name, name)) {
            *address = (u64)functions[i].address;
            return true;
        }
    return false;
}
