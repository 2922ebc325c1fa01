/* words.c: the words that a hook has for an instruction (LATHE_SITE). They stay where they are whatever becomes of the code, which has their address in it. */
#include "run/client/code/arena/arena.h"
#include "run/client/memory/own.h"
#include "run/client/tool/sites.h"

enum { FIRST_SLOTS = 1024, CHUNK_BYTES = 64 << 10, WORDS_BYTES = LATHE_SITE_WORDS * sizeof(u64) };

typedef struct Slot {
    u64 pc;
    u64 *words; /* NULL: the slot is free */
    u32 hook;
} Slot;

/* A table with open addressing, at most half full; protected by the arena's lock. */
static struct {
    Slot *slots;
    u64 cap, count;
    u8 *fresh, *end; /* memory for the next words */
} all;

static void *new_pages(u64 bytes) {
    void *pages = sys_pages(bytes);
    if (!pages)
        die("no memory for the words of a tool's sites");
    return pages;
}

static bool are_wanted(void) {
    for (u32 i = 0; i < tool_hook_count(); i++)
        for (u32 k = 0; k < LATHE_VALUES; k++)
            if (tool_hook(i)->value[k].what == LATHE_SITE)
                return true;
    return false;
}

void site_words_reserve(void) {
    enum { LOW_BYTES = 8 << 20 };
    if (!are_wanted())
        return;
    all.fresh = arena_data(LOW_BYTES, WORDS_BYTES);
    all.end = all.fresh + LOW_BYTES;
}

static u64 *new_words(void) {
    if (all.fresh == all.end) {
        all.fresh = new_pages(CHUNK_BYTES);
        all.end = all.fresh + CHUNK_BYTES;
    }
    all.fresh += WORDS_BYTES;
    return (u64 *)(all.fresh - WORDS_BYTES);
}

/* The slot of a hook and an instruction, or the free one for them. */
static Slot *slot_for(u32 hook, u64 pc) {
    u64 i = (pc + hook * 0x9e3779b9u) * 0x9e3779b97f4a7c15u >> 20;
    while (all.slots[i & (all.cap - 1)].words &&
           (all.slots[i & (all.cap - 1)].pc != pc || all.slots[i & (all.cap - 1)].hook != hook))
        i++;
    return &all.slots[i & (all.cap - 1)];
}

static void grow(void) {
    Slot *old = all.slots;
    u64 old_cap = all.cap;
    all.cap = old_cap ? 2 * old_cap : FIRST_SLOTS;
    all.slots = new_pages(page_up(all.cap * sizeof(Slot)));
    for (u64 i = 0; i < old_cap; i++)
        if (old[i].words)
            *slot_for(old[i].hook, old[i].pc) = old[i];
    if (old)
        sys_pages_free(old, page_up(old_cap * sizeof(Slot)));
}

u64 *site_words(u32 hook, u64 pc) {
    if (all.count * 2 >= all.cap)
        grow();
    Slot *s = slot_for(hook, pc);
    if (!s->words) {
        *s = (Slot){pc, new_words(), hook};
        all.count++;
    }
    return s->words;
}
