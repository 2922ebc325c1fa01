/* segment.h: what the loaded file tells about an address, which takes much less time than reading /proc/self/maps. */
#ifndef BINOPT_SEGMENT_H
#define BINOPT_SEGMENT_H

#include "base/base.h"

typedef enum SegmentKind {
    SEGMENT_NONE, /* it is in no loaded file, or the system does not tell */
    SEGMENT_CODE,
    SEGMENT_CONSTANT, /* it cannot be written to */
    SEGMENT_DATA,
} SegmentKind;

typedef struct LoadedSegment {
    u64 start, end; /* the range that this is true for */
    SegmentKind kind;
} LoadedSegment;

LoadedSegment segment_find(u64 addr);

/* True if all of this memory is mapped and cannot be written to. */
bool segment_is_read_only(u64 addr, u64 size);

#endif
