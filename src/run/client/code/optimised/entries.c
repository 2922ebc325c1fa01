/* entries.c: see entries.h. */
#include "run/client/code/optimised/entries.h"

#include "host_stubs.h"
#include "run/client/code/arena/arena.h"
#include "run/client/memory/own.h"

CodeEntry *entry_slot(CodeEntry *map, u64 cap, u64 pc) {
    u64 i = (pc * 0x9e3779b97f4a7c15u) >> 24 & (cap - 1);
    while (map[i].used && map[i].pc != pc)
        i = (i + 1) & (cap - 1);
    return &map[i];
}

static void grow_map(Code *c) {
    u64 cap = c->map_cap * 2;
    CodeEntry *bigger = sys_pages(cap * sizeof(CodeEntry));
    if (!bigger)
        die("no memory for the table of translated code");
    for (u64 i = 0; i < c->map_cap; i++)
        if (c->map[i].used)
            *entry_slot(bigger, cap, c->map[i].pc) = c->map[i];
    sys_pages_free(c->map, c->map_cap * sizeof(CodeEntry));
    c->map = bigger;
    c->map_cap = cap;
}

const CodeEntry *entry_known(const Code *c, u64 pc) {
    return entry_slot(c->map, c->map_cap, pc);
}

CodeEntry *entry_for(Code *c, u64 pc) {
    if (c->map_len * 2 >= c->map_cap)
        grow_map(c);
    CodeEntry *e = entry_slot(c->map, c->map_cap, pc);
    if (!e->used) {
        *e = (CodeEntry){.pc = pc, .used = true};
        c->map_len++;
    }
    return e;
}

TableEntry *entry_row(Thread *t, u64 pc) {
    return &t->table[TABLE_INDEX(pc)];
}

void entry_prepare_rows(Thread *t) {
    t->table[0].pc = 1; /* an address that is never looked for in this row */
}

void entry_empty_rows(void) {
    for (Thread *t = the.threads; t; t = t->next) {
        sys_madvise((u64)t->table, sizeof(t->table), MADV_DONTNEED);
        entry_prepare_rows(t);
    }
}

u8 *stub_new(const Code *c, u64 pc) {
    u8 *stub = arena_code(STUB_BYTES, STUB_BYTES);
    stub_write_lazy(arena_writable(stub), stub, pc, c->lazy);
    arena_written(stub, STUB_BYTES);
    return stub;
}

u8 *trampoline_new(const void *to) {
    u8 *at = arena_code(STUB_BYTES, STUB_BYTES);
    stub_write_far(arena_writable(at), (u64)to);
    arena_written(at, STUB_BYTES);
    return at;
}

static void put_word(u8 *at, u64 word) {
    __atomic_store_n((u64 *)arena_writable(at), word, __ATOMIC_RELEASE);
    arena_written(at, sizeof(word));
}

/* One aligned store turns a stub into a jump, or changes where it leads to, so that a thread that is just there sees the one or the other. */
void stub_redirect(void *stub, const void *target) {
    put_word((u8 *)stub + STUB_LEADS_AT, STUB_LEADS_AT ? (u64)target : stub_jump(stub, target));
}

/* Makes a function a jump, while other threads may be in it: in front of each function there is room for a jump (PATCH_BYTES), and its first
 * bytes become a jump to that. */
static void redirect_function(u8 *code, const void *target) {
    put_word(code - PATCH_BYTES, stub_jump(code - PATCH_BYTES, target));
    __atomic_store_n((StubBack *)arena_writable(code), stub_back(PATCH_BYTES), __ATOMIC_RELEASE);
    arena_written(code, sizeof(StubBack));
}

void entry_to_lazy(const Code *c, CodeEntry *e) {
    u8 *stub = stub_new(c, e->pc);
    if (e->code)
        redirect_function(e->code, stub);
    if (e->leave)
        stub_redirect(e->leave, stub);
    if (e->stub)
        stub_redirect(e->stub, stub);
    e->stub = stub;
}
