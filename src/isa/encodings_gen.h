/* encodings_gen.h: what the programs of the build have in common that make tables of a guest's encodings. Rows are numbered from 1. */
#ifndef ISA_ENCODINGS_GEN_H
#define ISA_ENCODINGS_GEN_H

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

typedef struct Source {
    const char *name, *bits;
} Source;

static inline _Noreturn void fail(const char *name, const char *what) {
    fprintf(stderr, "rows.def: %s: %s\n", name, what);
    exit(1);
}

/* The letters that all guests have: 0 and 1 as they are, `.` for any bit, `n` for bits that are not all zero. False: it is another one. */
static inline bool take_plain_bit(char c, u32 bit, u32 *mask, u32 *match, u32 *not_zero) {
    *mask |= c == '0' || c == '1' ? bit : 0;
    *match |= c == '1' ? bit : 0;
    *not_zero |= c == 'n' ? bit : 0;
    return c == '0' || c == '1' || c == 'n' || c == '.';
}

/* Is a field of the one, which must not be all zero, just that in the other? */
static inline bool zero_excludes(u32 not_zero, u32 other_mask, u32 other_match) {
    return not_zero && (other_mask & not_zero) == not_zero && !(other_match & not_zero);
}

static inline void refuse_overlaps(const Source *rows, u32 count, bool (*overlap)(u32 row, u32 other)) {
    bool any = false;
    for (u32 i = 1; i < count; i++)
        for (u32 k = 1; k < i; k++)
            if (overlap(i, k)) {
                fprintf(stderr, "rows.def: %s overlaps with %s\n", rows[i].name, rows[k].name);
                any = true;
            }
    if (any)
        exit(1);
}

/* The rows that words of a bucket can be of, one bucket after the other, and where each begins. */
static inline void print_buckets(FILE *out, const char *prefix, u32 buckets, u32 rows,
                                 bool (*is_in_bucket)(u32 row, u32 bucket)) {
    u32 *start = calloc(buckets + 1, sizeof(*start)), count = 0;
    if (!start)
        fail("buckets", "no memory");
    fprintf(out, "\nconst u16 %s_bucket_rows[] = {", prefix);
    for (u32 b = 0; b < buckets; b++) {
        start[b] = count;
        for (u32 i = 1; i < rows; i++)
            if (is_in_bucket(i, b))
                fprintf(out, "%s%u,", count++ % 20 ? " " : "\n    ", i);
    }
    start[buckets] = count;
    fprintf(out, "\n};\n\nconst u32 %s_bucket_start[] = {", prefix);
    for (u32 b = 0; b <= buckets; b++)
        fprintf(out, "%s%u,", b % 20 ? " " : "\n    ", start[b]);
    fprintf(out, "\n};\n");
    free(start);
}

/* The file that the program was called for; `header` declares what it has. */
static inline FILE *begin_file(int argc, char **argv, const char *header) {
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!out)
        fail("usage", "encodings_gen FILE");
    fprintf(out, "/* Made of rows.def by encodings_gen.c. */\n#include \"%s\"\n\n", header);
    return out;
}

#endif
