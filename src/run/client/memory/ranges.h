/* ranges.h: a sorted table of address ranges that do not overlap, each with a value; neighbours with equal values
 * are one. */
#ifndef RUN_CLIENT_RANGES_H
#define RUN_CLIENT_RANGES_H

#include "base/base.h"

typedef struct Range {
    u64 start, end;
    u32 value;
} Range;

typedef struct Ranges {
    Range *at; /* the owner's memory, with room for `max` */
    u32 count, max;
} Ranges;

/* The index of the first range that ends behind addr, or `count` if there is none. */
u32 ranges_find(const Ranges *t, u64 addr);
/* The range that holds addr, or NULL. */
const Range *ranges_at(const Ranges *t, u64 addr);
bool ranges_touch(const Ranges *t, u64 start, u64 end);
bool ranges_cover(const Ranges *t, u64 start, u64 end);
/* True if a range in [start, end) has one of these bits in its value. */
bool ranges_any(const Ranges *t, u64 start, u64 end, u32 bits);
void ranges_set(Ranges *t, u64 start, u64 end, u32 value);
void ranges_clear(Ranges *t, u64 start, u64 end);

#endif
