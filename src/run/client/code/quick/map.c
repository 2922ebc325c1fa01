/* map.c: see map.h. */
#include "run/client/code/quick/map.h"

#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/quick.h"
#include "run/client/memory/watch.h"

/* Pages of the map are made accessible in pieces of this size. */
enum { PIECE_SHIFT = 21, PIECE_BYTES = 1 << PIECE_SHIFT };
enum { PIECES = (LOW_MAP_END - LOW_MAP) >> PIECE_SHIFT, PAGES = (LOW_MAP_END - LOW_MAP) / PAGE };

static u64 there[PIECES / 64 + 1]; /* bit n: piece n may be read and written */
static u64 used[PAGES / 64 + 1];   /* bit n: page n has had an entry since all was forgotten */
static u64 used_count;             /* of such pages */

static u32 *word_of(u64 pc) {
    return (u32 *)(the.map + 4 * pc);
}

static u64 piece_of(u64 pc) {
    return 4 * pc >> PIECE_SHIFT;
}

static u64 page_of(u64 pc) {
    return 4 * pc / PAGE;
}

static bool has(const u64 *bits, u64 n) {
    return bits[n / 64] >> n % 64 & 1;
}

static void note(u64 *bits, u64 n) {
    bits[n / 64] |= (u64)1 << n % 64;
}

static void note_used(u64 page) {
    used_count += !has(used, page);
    note(used, page);
}

bool map_is_large(void) {
    enum { MOST_BYTES = 256 << 20 };
    return used_count > MOST_BYTES / PAGE;
}

static bool make_piece(u64 piece) {
    if (sys_mprotect(the.map + (piece << PIECE_SHIFT), PIECE_BYTES, PROT_READ | PROT_WRITE))
        return false;
    note(there, piece);
    return true;
}

/* If there is no memory, the map stays empty there, and C looks the targets up each time. */
void map_set(u64 pc, const u8 *entry) {
    u64 piece = piece_of(pc);
    if (!has(there, piece) && !make_piece(piece))
        return;
    note_used(page_of(pc));
    __atomic_store_n(word_of(pc), (u32)(u64)entry, __ATOMIC_RELEASE);
}

void map_clear(u64 pc) {
    if (map_covers(pc) && has(used, page_of(pc)) && *word_of(pc))
        __atomic_store_n(word_of(pc), 0, __ATOMIC_RELEASE);
}

/* Maps empty memory over all pieces, which may show an image's file. */
void map_forget_all(void) {
    enum { FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED };
    for (u64 piece = 0; the.map && piece < PIECES; piece++)
        if (has(there, piece) &&
            sys_failed(sys_mmap(the.map + (piece << PIECE_SHIFT), PIECE_BYTES, PROT_READ | PROT_WRITE, FLAGS, -1, 0)))
            die("no memory to change translated code");
    memset(used, 0, sizeof(used));
    used_count = 0;
}

/* All code that exists looks into the map, so all of it is forgotten. */
bool quick_give_up_map(void) {
    arena_lock();
    bool done = quick_renew_without_map(thread_self());
    arena_unlock();
    return done;
}

/* ------------------------------------------------------------------------------------------------------------- images */

enum { GAP_PAGES = 512 }; /* a hole in a file that has more is not worth its addresses */

static bool is_near(const MapRun *run, u64 page) {
    return page - run->first - run->count <= GAP_PAGES;
}

static u64 end_of(const MapRun *run) {
    return run->off + (u64)run->count * PAGE;
}

/* Continues the last run with a page, or begins another one. */
static void add_page(Array *runs, u64 page) {
    MapRun *last = runs->len ? (MapRun *)(runs->at + runs->len) - 1 : NULL;
    if (last && last->first + last->count == page) {
        last->count++;
        return;
    }
    u64 off = !last ? 0 : end_of(last) + (is_near(last, page) ? (page - last->first - last->count) * PAGE : 0);
    *(MapRun *)array_extend(runs, sizeof(MapRun)) = (MapRun){(u32)page, 1, off};
}

Array map_runs(void) {
    enum { PIECE_PAGES = PIECE_BYTES / PAGE };
    Array runs = {0};
    for (u64 piece = 0; the.map && piece < PIECES; piece++)
        for (u64 i = 0; has(there, piece) && i < PIECE_PAGES; i++)
            if (has(used, piece * PIECE_PAGES + i))
                add_page(&runs, piece * PIECE_PAGES + i);
    return runs;
}

u64 map_runs_size(const MapRun *runs, u64 count) {
    return count ? end_of(&runs[count - 1]) : 0;
}

bool map_runs_fit(const MapRun *runs, u64 count, u64 size) {
    u64 page = 0, off = 0;
    for (u64 i = 0; i < count; i++) {
        const MapRun *r = &runs[i];
        if (r->first < page || !r->count || r->count > PAGES || r->first + (u64)r->count > PAGES || r->off < off ||
            r->off % PAGE || r->off > size)
            return false;
        page = r->first + r->count, off = end_of(r);
    }
    return off <= size;
}

const u8 *map_run_at(const MapRun *run) {
    return (const u8 *)(the.map + (u64)run->first * PAGE);
}

/* The runs from `first` on that lie in the file at the same distances as in the map. */
static u64 count_together(const MapRun *first, const MapRun *end) {
    const MapRun *r = first;
    while (r < end && (u64)r->first * PAGE - r->off == (u64)first->first * PAGE - first->off)
        r++;
    return (u64)(r - first);
}

/* Maps runs that have their distances in the file. MADV_RANDOM, because reading ahead would fill the holes between them with pages. */
static void import_together(const MapRun *first, const MapRun *last, int fd, u64 off) {
    u64 start = (u64)first->first * PAGE, size = end_of(last) - first->off;
    for (u64 piece = start >> PIECE_SHIFT; piece <= (start + size - 1) >> PIECE_SHIFT; piece++)
        if (!has(there, piece) && !make_piece(piece))
            return;
    if (sys_failed(
            sys_mmap(the.map + start, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, off + first->off)))
        die("no memory for translated code");
    sys_madvise(the.map + start, size, MADV_RANDOM);
    for (const MapRun *r = first; r <= last; r++)
        for (u32 i = 0; i < r->count; i++)
            note_used(r->first + i);
}

void map_import(const MapRun *runs, u64 count, int fd, u64 off) {
    for (u64 i = 0, n; i < count; i += n) {
        n = count_together(&runs[i], &runs[count]);
        import_together(&runs[i], &runs[i + n - 1], fd, off);
    }
}
