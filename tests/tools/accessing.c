/* accessing.c: counts what examples/plugin counts, by events. */
#include <lathe/tool.h>

static LatheCounter loads, stores, bytes;

static void load(uint64_t size) {
    lathe_count(&loads, 1);
    lathe_count(&bytes, (long)size);
}

static void store(uint64_t size) {
    lathe_count(&stores, 1);
    lathe_count(&bytes, (long)size);
}

static void end(void) {
    lathe_print("%lu loads, %lu stores, %lu bytes\n", lathe_total(&loads), lathe_total(&stores), lathe_total(&bytes));
}

LATHE_HOOKS(LATHE_ON(LATHE_LOAD, load, {LATHE_BYTES}), LATHE_ON(LATHE_STORE, store, {LATHE_BYTES}),
            LATHE_ON(LATHE_END, end));
