/* map.c: see map.h. */
#include "run/client/code/quick/map.h"

#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/quick.h"
#include "run/client/memory/watch.h"

/* The kernel is asked for this much at once. */
enum { PIECE_SHIFT = 21, PIECES = (LOW_MAP_END - LOW_MAP) >> PIECE_SHIFT };

static u64 there[PIECES / 64 + 1]; /* bit n: piece n may be read and written */

static u32 *word_of(u64 pc) {
    return (u32 *)(the.map + 4 * pc);
}

static u64 piece_of(u64 pc) {
    return 4 * pc >> PIECE_SHIFT;
}

static bool is_there(u64 piece) {
    return there[piece / 64] >> piece % 64 & 1;
}

static bool make_piece(u64 piece) {
    if (sys_mprotect(the.map + (piece << PIECE_SHIFT), 1 << PIECE_SHIFT, PROT_READ | PROT_WRITE))
        return false;
    there[piece / 64] |= (u64)1 << piece % 64;
    return true;
}

/* The addresses that were ever put in, for images; some may be there twice, or be empty again. */
static Array noted;

const u32 *map_noted(u64 *count) {
    *count = noted.len / sizeof(u32);
    return (const u32 *)noted.at;
}

u32 map_entry(u64 pc) {
    return map_covers(pc) && is_there(piece_of(pc)) ? *word_of(pc) : 0;
}

/* Without memory the map stays empty there, and every target is asked for. */
void map_set(u64 pc, const u8 *entry) {
    u64 piece = piece_of(pc);
    if (!is_there(piece) && !make_piece(piece))
        return;
    if (!*word_of(pc))
        *(u32 *)array_extend(&noted, sizeof(u32)) = (u32)pc;
    __atomic_store_n(word_of(pc), (u32)(u64)entry, __ATOMIC_RELEASE);
}

void map_clear(u64 pc) {
    if (map_covers(pc) && is_there(piece_of(pc)) && *word_of(pc))
        __atomic_store_n(word_of(pc), 0, __ATOMIC_RELEASE);
}

void map_forget_all(void) {
    noted.len = 0;
    for (u64 piece = 0; the.map && piece < PIECES; piece++)
        if (is_there(piece))
            sys_madvise(the.map + (piece << PIECE_SHIFT), 1 << PIECE_SHIFT, MADV_DONTNEED);
}

/* All code looks into it, so all code goes. */
bool quick_give_up_map(void) {
    arena_lock();
    bool done = quick_renew_without_map(thread_self());
    arena_unlock();
    return done;
}
