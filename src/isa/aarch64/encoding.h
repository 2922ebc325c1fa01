/* encoding.h: which instruction a word is. The tables are made from rows.def when Lathe is built, by encodings_gen.c, which
 * refuses rows that overlap. */
#ifndef ISA_AARCH64_ENCODING_H
#define ISA_AARCH64_ENCODING_H

#include "base/base.h"

/* A word w is of the row if (w & mask) == match, w & not_zero != 0 where not_zero is not 0, and w & not_ones is not all of not_ones where
 * that is not 0. */
typedef struct A64Encoding {
    u32 mask, match, not_zero, not_ones;
} A64Encoding;

extern const A64Encoding a64_encodings[]; /* by row */
extern const char *const a64_names[];     /* by row: as in rows.def */

/* Rows by what words have in common: those of bucket b are a64_bucket_rows[a64_bucket_start[b]] up to the next one's start. */
enum { A64_BUCKET_SHIFT = 21, A64_BUCKETS = 1 << (32 - A64_BUCKET_SHIFT) };
extern const u32 a64_bucket_start[A64_BUCKETS + 1];
extern const u16 a64_bucket_rows[];

static inline bool a64_matches(const A64Encoding *e, u32 word) {
    return (word & e->mask) == e->match && (!e->not_zero || word & e->not_zero) &&
           (!e->not_ones || (word & e->not_ones) != e->not_ones);
}

/* 0: there is none. */
static inline u32 a64_find_row(u32 word) {
    u32 b = word >> A64_BUCKET_SHIFT;
    for (u32 i = a64_bucket_start[b]; i < a64_bucket_start[b + 1]; i++)
        if (a64_matches(&a64_encodings[a64_bucket_rows[i]], word))
            return a64_bucket_rows[i];
    return 0;
}

#endif
