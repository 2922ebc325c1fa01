/* encoding.h: which instruction a word is. The tables are made from rows.def when Lathe is built, by encodings_gen.c, which
 * refuses rows that overlap. */
#ifndef ISA_RISCV64_ENCODING_H
#define ISA_RISCV64_ENCODING_H

#include "base/base.h"

/* A word w is of the row if (w & mask) == match, w & not_zero != 0 where not_zero is not 0, and bits 11–7 are not 2 where
 * not_sp is set. */
typedef struct RvEncoding {
    u32 mask, match, not_zero;
    bool not_sp;
} RvEncoding;

extern const RvEncoding rv_encodings[]; /* by row */
extern const char *const rv_names[];    /* by row */

/* Rows by what words have in common: those of bucket b are rv_bucket_rows[rv_bucket_start[b]] up to the next one's start. */
enum { RV_BUCKETS = 256 + 32 };
extern const u32 rv_bucket_start[RV_BUCKETS + 1];
extern const u16 rv_bucket_rows[];

/* Instructions of 16 bits have other low bits than 11. */
static inline bool rv_is_short(u32 word) {
    return (word & 3) != 3;
}

static inline u32 rv_bucket(u32 word) {
    return rv_is_short(word) ? 256 + ((word >> 13 & 7) << 2 | (word & 3)) : (word >> 2 & 31) << 3 | (word >> 12 & 7);
}

static inline bool rv_matches(const RvEncoding *e, u32 word) {
    return (word & e->mask) == e->match && (!e->not_zero || word & e->not_zero) &&
           (!e->not_sp || (word >> 7 & 31) != 2);
}

/* The row of a word, of its low half if that is an instruction of 16 bits; 0: there is none. */
static inline u32 rv_find_row(u32 word) {
    word = rv_is_short(word) ? word & 0xffff : word;
    u32 b = rv_bucket(word);
    for (u32 i = rv_bucket_start[b]; i < rv_bucket_start[b + 1]; i++)
        if (rv_matches(&rv_encodings[rv_bucket_rows[i]], word))
            return rv_bucket_rows[i];
    return 0;
}

#endif
