/* totals.c: the part of accesses.c that runs in the program: a tool without events but the last one. */
#include <lathe/tool.h>

static LatheCounter loads, stores, bytes;

void load(uint32_t size) {
    lathe_count(&loads, 1);
    lathe_count(&bytes, size);
}

void store(uint32_t size) {
    lathe_count(&stores, 1);
    lathe_count(&bytes, size);
}

static void end(void) {
    lathe_print("%lu loads, %lu stores, %lu bytes\n", lathe_total(&loads), lathe_total(&stores), lathe_total(&bytes));
}

LATHE_HOOKS(LATHE_ON(LATHE_END, end));
