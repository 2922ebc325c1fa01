/* block.c: the block of addresses that is reserved before the guest has any memory: the tables of space.c, the window for modules, the code arena, and the map.
 * docs/address-space.md has a picture. */
#include <elf.h>

#include "run/client/memory/own.h"
#include "run/client/memory/space_table.h"

enum { BLOCK_ALIGN = 2 << 20, HOST_STACK_MAX = 8 << 20 };

static u64 auxiliary(u64 type) {
    for (const u64 *a = the.auxv; a && a[0] != AT_NULL; a += 2) {
        if (a[0] == type)
            return a[1];
    }
    return 0;
}

/* Marks the stack that the kernel made for this process as the client's. It grows down; the arguments are above it. */
static void own_first_stack(void) {
    u64 here = page_down((u64)__builtin_frame_address(0)), top = page_up(auxiliary(AT_EXECFN)) + PAGE;
    the.memory.first_stack = here - HOST_STACK_MAX;
    ranges_set(&space_table()->own, the.memory.first_stack, top > here ? top : here + PAGE, 0);
}

static i64 reserve_block(u64 at, u64 size) {
    return sys_mmap(at, size, PROT_NONE, NO_ACCESS_FLAGS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* Reserves the block at low addresses, with the map behind it. */
static bool reserve_low(void) {
    u64 start = LOW_TABLES - PAGE; /* the first page stays without access */
    if (reserve_block(start, LOW_MAP_END - start) != (i64)start)
        return false;
    the.memory.window = LOW_WINDOW, the.code_base = LOW_CODE, the.code_end = LOW_MAP;
    the.memory.block_start = LOW_TABLES, the.memory.block_end = LOW_MAP_END;
    the.map = LOW_MAP;
    the.memory.window_as_wished = true;
    return true;
}

/* Reserves the block at the address that image.c wishes for, or anywhere, and without a map. */
static bool reserve_high(u64 wish) {
    u64 size = TABLES_SIZE + limits_scaled(WINDOW_BYTES) + limits_scaled(ARENA_BYTES);
    i64 block = wish ? reserve_block(wish, size + BLOCK_ALIGN) : -1;
    the.memory.window_as_wished = wish && block == (i64)wish;
    if (!the.memory.window_as_wished)
        block = sys_mmap(0, size + BLOCK_ALIGN, PROT_NONE, NO_ACCESS_FLAGS, -1, 0);
    if (sys_failed(block))
        return false;
    /* There is a page without access in front of the tables. */
    u64 tables = ((u64)block + PAGE + BLOCK_ALIGN - 1) & -(u64)BLOCK_ALIGN;
    the.memory.block_start = tables, the.memory.block_end = tables + size;
    the.memory.window = tables + TABLES_SIZE;
    the.code_base = the.memory.window + limits_scaled(WINDOW_BYTES);
    the.code_end = the.memory.block_end;
    return true;
}

bool space_init(u64 wish, bool low) {
    extern const u8 __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));
    limits_init();
    if (!(low && !the.memory.limited && reserve_low()) && !reserve_high(wish))
        return false;
    u64 tables = the.memory.window - TABLES_SIZE;
    if (sys_mprotect(tables, TABLES_SIZE, PROT_READ | PROT_WRITE))
        return false;
    Space *s = space_table();
    s->guest = (Ranges){s->guest_ranges, 0, GUEST_RANGES};
    s->own = (Ranges){s->own_ranges, 0, OWN_RANGES};
    space_own(tables, TABLES_SIZE);
    space_own(the.code_base, the.memory.block_end - the.code_base);
    the.memory.image_start = page_down((u64)__ehdr_start);
    the.memory.image_end = page_up((u64)_end);
    ranges_set(&s->own, the.memory.image_start, the.memory.image_end, 0);
    own_first_stack();
    return own_init();
}
