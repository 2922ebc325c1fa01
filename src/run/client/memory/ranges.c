/* ranges.c: see ranges.h. The caller sees to it that a table is never full; a full one is our bug. */
#include "run/client/memory/ranges.h"

u32 ranges_find(const Ranges *t, u64 addr) {
    u32 low = 0, high = t->count;
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (t->at[mid].end > addr)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

const Range *ranges_at(const Ranges *t, u64 addr) {
    u32 i = ranges_find(t, addr);
    return i < t->count && t->at[i].start <= addr ? &t->at[i] : NULL;
}

bool ranges_touch(const Ranges *t, u64 start, u64 end) {
    u32 i = ranges_find(t, start);
    return i < t->count && t->at[i].start < end;
}

bool ranges_cover(const Ranges *t, u64 start, u64 end) {
    for (u32 i = ranges_find(t, start); start < end; start = t->at[i++].end) {
        if (i == t->count || t->at[i].start > start)
            return false;
    }
    return true;
}

bool ranges_any(const Ranges *t, u64 start, u64 end, u32 bits) {
    for (u32 i = ranges_find(t, start); i < t->count && t->at[i].start < end; i++) {
        if (t->at[i].value & bits)
            return true;
    }
    return false;
}

/* Replaces `gone` ranges at index i by `come` ranges, which the caller fills in. */
static void resize(Ranges *t, u32 i, u32 gone, u32 come) {
    CHECK(t->count - gone + come <= t->max, "the table of address ranges has room for all mappings");
    memmove(&t->at[i + come], &t->at[i + gone], (t->count - i - gone) * sizeof(Range));
    t->count += come - gone;
}

/* Makes a range begin at addr, by cutting the range that contains addr in two. Returns the index of the first range at
 * or behind addr. */
static u32 cut(Ranges *t, u64 addr) {
    u32 i = ranges_find(t, addr);
    if (i == t->count || t->at[i].start >= addr)
        return i;
    resize(t, i, 0, 1);
    t->at[i] = t->at[i + 1];
    t->at[i].end = t->at[i + 1].start = addr;
    return i + 1;
}

void ranges_clear(Ranges *t, u64 start, u64 end) {
    if (start >= end)
        return;
    u32 first = cut(t, start), last = cut(t, end);
    resize(t, first, last - first, 0);
}

void ranges_set(Ranges *t, u64 start, u64 end, u32 value) {
    if (start >= end)
        return;
    ranges_clear(t, start, end);
    u32 i = ranges_find(t, start);
    bool joins_left = i > 0 && t->at[i - 1].end == start && t->at[i - 1].value == value;
    bool joins_right = i < t->count && t->at[i].start == end && t->at[i].value == value;
    if (joins_left && joins_right) {
        t->at[i - 1].end = t->at[i].end;
        resize(t, i, 1, 0);
    } else if (joins_left) {
        t->at[i - 1].end = end;
    } else if (joins_right) {
        t->at[i].start = start;
    } else {
        resize(t, i, 0, 1);
        t->at[i] = (Range){start, end, value};
    }
}
