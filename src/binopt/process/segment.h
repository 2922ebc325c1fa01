/* segment.h: what is known of an address from the loaded file it is in, in much less time than reading /proc/self/maps takes. */
#ifndef BINOPT_SEGMENT_H
#define BINOPT_SEGMENT_H

#include "base/base.h"

typedef enum SegmentKind {
    SEGMENT_NONE, /* in no loaded file, or the system does not tell */
    SEGMENT_CODE,
    SEGMENT_CONSTANT, /* nobody can write to it */
    SEGMENT_DATA,
} SegmentKind;

typedef struct Segment {
    u64 start, end; /* what it holds for */
    SegmentKind kind;
} Segment;

Segment segment_find(u64 addr);

/* Is all of this memory mapped, and not to be written to? */
bool segment_is_read_only(u64 addr, u64 size);

#endif
