/* starts.c: where the functions of a module begin, as the index of its unwind table tells (.eh_frame_hdr: Linux Standard Base, Core,
 * 10.6.2). It is read from guest memory, so it needs no file.
 *
 * Code that runs on into another function does so behind a call that does not return, or there is a jump to it: in both cases what
 * follows is better translated by itself. */
#include <elf.h>

#include "run/server/server.h"

enum { INDEX_VERSION = 1, ENCODING_UDATA4 = 0x03, ENCODING_DATAREL_SDATA4 = 0x3b, SEGMENTS_MAX = 64 };

typedef struct IndexHead {
    u8 version, frame_encoding, count_encoding, table_encoding;
    i32 frame;
    u32 count;
} IndexHead;

typedef struct IndexRow {
    i32 start, entry; /* from the index's own address */
} IndexRow;

static bool take(Pages *pages, u64 addr, void *buf, size_t size) {
    return pages_read(pages, addr, buf, size) == size;
}

/* Where the index lies in memory; 0: there is none. */
static u64 find_index(Pages *pages, u64 base) {
    Elf64_Ehdr h;
    u64 first = UINT64_MAX, index = 0;
    if (!take(pages, base, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_phnum > SEGMENTS_MAX)
        return 0;
    for (u32 i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;
        if (!take(pages, base + h.e_phoff + i * sizeof(p), &p, sizeof(p)))
            return 0;
        if (p.p_type == PT_LOAD && p.p_vaddr < first)
            first = p.p_vaddr & ~(u64)0xfff;
        if (p.p_type == PT_GNU_EH_FRAME)
            index = p.p_vaddr;
    }
    return index && first != UINT64_MAX ? base + index - first : 0;
}

void starts_open(Starts *s, Pages *pages, const TranslateMessage *request) {
    IndexHead head;
    if (s->base == request->base && s->end == request->end && !memcmp(&s->pack, &request->pack, sizeof(Key)))
        return;
    *s = (Starts){.base = request->base, .end = request->end, .pack = request->pack};
    s->index = request->base ? find_index(pages, request->base) : 0;
    if (s->index && take(pages, s->index, &head, sizeof(head)) && head.version == INDEX_VERSION &&
        head.count_encoding == ENCODING_UDATA4 && head.table_encoding == ENCODING_DATAREL_SDATA4)
        s->count = head.count;
}

static bool start_of(const Starts *s, Pages *pages, u32 i, u64 *start) {
    IndexRow row;
    bool ok = take(pages, s->index + sizeof(IndexHead) + (u64)i * sizeof(row), &row, sizeof(row));
    *start = s->index + (u64)(i64)row.start;
    return ok;
}

/* Between two starts that were found there is none. */
bool starts_has(Starts *s, Pages *pages, u64 pc) {
    u64 start;
    u32 low = 0, high = s->count;
    if (!high || (pc > s->before && pc < s->after))
        return false;
    s->before = 0;
    s->after = UINT64_MAX;
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (!start_of(s, pages, mid, &start))
            return s->count = 0;
        if (start == pc)
            return true;
        if (start < pc) {
            low = mid + 1;
            s->before = start;
        } else {
            high = mid;
            s->after = start;
        }
    }
    return false;
}
