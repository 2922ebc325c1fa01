/* memory.c: see memory.h.
 *
 * A breakpoint is the guest's own instruction for breakpoints, written into its memory as debuggers do to native programs: translations of what was
 * there are forgotten, and the new code traps. Mappings of files with code are private, so the write, by way of /proc/self/mem, makes a copy of the
 * page and does not change the file. */
#include "run/client/debug/memory.h"

#include "run/client/core/debug_guest.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"
#include "run/client/memory/watch.h"

enum { BREAKPOINTS = 512, WATCHES = 16, WATCH_BYTES = 64 };

typedef struct Breakpoint {
    u64 addr;
    u32 size;    /* 0: not in use */
    bool lifted; /* taken out of the memory for a process that shares it (breakpoint_lift) */
    u8 was[DEBUG_BREAK_MOST];
} Breakpoint;

static Breakpoint breakpoints[BREAKPOINTS];

typedef struct Watch {
    u64 addr;
    u32 size; /* 0: not in use */
    u8 was[WATCH_BYTES];
} Watch;

static Watch watches[WATCHES];
static u32 watch_count;

/* ------------------------------------------------------------------------------------------------------------------ memory */

/* Calls `copy` for each of the bytes at addr in whose place a breakpoint is, with the byte that was there before. */
static void each_hidden(u64 addr, size_t size, void (*copy)(u8 *was, u8 *byte), u8 *bytes) {
    for (Breakpoint *b = breakpoints; b < breakpoints + BREAKPOINTS; b++)
        for (u32 i = 0; i < b->size; i++)
            if (b->addr + i - addr < size)
                copy(&b->was[i], &bytes[b->addr + i - addr]);
}

static void show(u8 *was, u8 *byte) {
    *byte = *was;
}

static void keep(u8 *was, u8 *byte) {
    *was = *byte;
}

size_t memory_read(u64 addr, u8 *bytes, size_t size) {
    size_t n = guest_read(addr, bytes, size);
    each_hidden(addr, n, show, bytes);
    return n;
}

/* Writes to the guest's memory, whatever its protection. No guarded page notices such a write, so translations are forgotten here. */
static bool write_through(u64 addr, const u8 *bytes, size_t size) {
    i64 fd = sys_open("/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool ok = sys_pwrite((int)fd, bytes, size, addr) == (i64)size;
    sys_close((int)fd);
    if (ok)
        code_forget(addr, addr + size);
    return ok;
}

static bool is_guests(u64 addr, size_t size) {
    u8 byte;
    for (u64 at = addr; at < addr + size; at = (at & -(u64)4096) + 4096)
        if (guest_read(at, &byte, 1) != 1)
            return false;
    return true;
}

static void put_breakpoints(u64 addr, size_t size) {
    u8 bytes[DEBUG_BREAK_MOST];
    for (const Breakpoint *b = breakpoints; b < breakpoints + BREAKPOINTS; b++)
        if (b->size && b->addr < addr + size && addr < b->addr + b->size)
            write_through(b->addr, bytes, debug_guest_breakpoint(b->size, bytes));
}

bool memory_write(u64 addr, const u8 *bytes, size_t size) {
    if (!is_guests(addr, size) || !write_through(addr, bytes, size))
        return false;
    each_hidden(addr, size, keep, (u8 *)bytes);
    put_breakpoints(addr, size);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- breakpoints */

static Breakpoint *find(u64 addr, bool used) {
    for (Breakpoint *b = breakpoints; b < breakpoints + BREAKPOINTS; b++)
        if (used ? b->size && b->addr == addr : !b->size)
            return b;
    return NULL;
}

bool breakpoint_is_at(u64 addr) {
    return find(addr, true);
}

bool breakpoint_insert(u64 addr, u32 kind) {
    u8 bytes[DEBUG_BREAK_MOST], was[DEBUG_BREAK_MOST];
    u32 size = debug_guest_breakpoint(kind, bytes);
    Breakpoint *b = find(addr, false);
    if (find(addr, true))
        return true;
    if (!size || !b || memory_read(addr, was, size) != size || !write_through(addr, bytes, size))
        return false;
    *b = (Breakpoint){.addr = addr, .size = size};
    memcpy(b->was, was, size);
    return true;
}

/* Puts the bytes from before back, unless the memory is gone or has other contents by now. */
bool breakpoint_remove(u64 addr) {
    Breakpoint *b = find(addr, true);
    u8 bytes[DEBUG_BREAK_MOST], now[DEBUG_BREAK_MOST];
    if (!b)
        return false;
    u32 size = debug_guest_breakpoint(b->size, bytes);
    if (guest_read(addr, now, size) == size && !memcmp(now, bytes, size))
        write_through(addr, b->was, size);
    b->size = 0;
    return true;
}

void breakpoint_lift(u64 addr) {
    Breakpoint *b = find(addr, true);
    if (b)
        b->lifted = write_through(addr, b->was, b->size);
}

void breakpoint_put_back_all(void) {
    u8 bytes[DEBUG_BREAK_MOST];
    for (Breakpoint *b = breakpoints; b < breakpoints + BREAKPOINTS; b++) {
        if (b->size && b->lifted)
            write_through(b->addr, bytes, debug_guest_breakpoint(b->size, bytes));
        b->lifted = false;
    }
}

void breakpoint_remove_all(void) {
    for (const Breakpoint *b = breakpoints; b < breakpoints + BREAKPOINTS; b++)
        if (b->size)
            breakpoint_remove(b->addr);
}

/* ----------------------------------------------------------------------------------------------------------------- watches */

/* Reads watched memory without a system call, because this is done after each instruction. Memory that cannot be read counts as unchanged.
 * copy_guarded reads whole words. */
static bool read_now(const Watch *w, u8 bytes[WATCH_BYTES]) {
    u8 words[WATCH_BYTES + 16];
    u64 start = w->addr & ~(u64)7, end = (w->addr + w->size + 7) & ~(u64)7;
    if (!copy_guarded(words, (const void *)start, end - start))
        return false;
    memcpy(bytes, words + (w->addr - start), w->size);
    return true;
}

bool watch_add(u64 addr, u32 size) {
    for (Watch *w = watches; w < watches + WATCHES && size && size <= WATCH_BYTES; w++) {
        if (w->size)
            continue;
        *w = (Watch){.addr = addr, .size = size};
        read_now(w, w->was);
        watch_count++;
        return true;
    }
    return false;
}

bool watch_remove(u64 addr, u32 size) {
    for (Watch *w = watches; w < watches + WATCHES && size; w++)
        if (w->size == size && w->addr == addr) {
            w->size = 0;
            watch_count--;
            return true;
        }
    return false;
}

bool watch_is_on(void) {
    return watch_count;
}

void watch_remove_all(void) {
    memset(watches, 0, sizeof(watches));
    watch_count = 0;
}

u64 watch_look(void) {
    u64 found = 0;
    u8 now[WATCH_BYTES];
    for (Watch *w = watches; w < watches + WATCHES && watch_count; w++) {
        if (!w->size || !read_now(w, now) || !memcmp(w->was, now, w->size))
            continue;
        memcpy(w->was, now, w->size);
        found = w->addr;
    }
    return found;
}
