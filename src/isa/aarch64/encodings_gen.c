/* encodings_gen.c: a program of the build: makes encodings.c of the encodings in rows.def, or says which rows overlap.
 *
 * An encoding is written from its highest bit down: 0 and 1 as they are, `.` for any bit, `n` for bits that are not all
 * zero, `m` for bits that are not all one; spaces do not count.
 */
#include <stdio.h>
#include <stdlib.h>

#include "isa/aarch64/encoding.h"

typedef struct Source {
    const char *name, *bits;
} Source;

static const Source sources[] = {
    {NULL, NULL},
#define INSN(name, bits, ...) {#name, bits},
#define DEVIATES(name, bits, ...) {#name, bits},
#include "isa/aarch64/rows.def"
#undef INSN
#undef DEVIATES
};

enum { COUNT = ARRAY_LEN(sources) };

static _Noreturn void fail(const char *name, const char *what, const char *other) {
    fprintf(stderr, "rows.def: %s: %s%s\n", name, what, other);
    exit(1);
}

static void take_bit(A64Encoding *e, char c, u32 bit, const char *name) {
    switch (c) {
    case '1':
        e->match |= bit; /* fall through */
    case '0':
        e->mask |= bit;
        return;
    case 'n':
        e->not_zero |= bit;
        return;
    case 'm':
        e->not_ones |= bit;
        return;
    case '.':
        return;
    }
    fail(name, "an encoding is made of 0, 1, ., n and m", "");
}

static A64Encoding parse(const Source *s) {
    A64Encoding e = {0};
    u32 len = 0;
    for (const char *c = s->bits; *c; c++)
        if (*c != ' ') {
            if (len == 32)
                fail(s->name, "an encoding has 32 bits, and not more", "");
            take_bit(&e, *c, (u32)1 << (31 - len++), s->name);
        }
    if (len != 32)
        fail(s->name, "an encoding has 32 bits, and not fewer", "");
    return e;
}

/* Is a field of the one, which must not be all zero or all one, just that in the other? */
static bool excludes(const A64Encoding *a, const A64Encoding *b) {
    bool zero = a->not_zero && (b->mask & a->not_zero) == a->not_zero && !(b->match & a->not_zero);
    bool ones = a->not_ones && (b->mask & a->not_ones) == a->not_ones && (b->match & a->not_ones) == a->not_ones;
    return zero || ones;
}

static bool overlap(const A64Encoding *a, const A64Encoding *b) {
    return !((a->match ^ b->match) & a->mask & b->mask) && !excludes(a, b) && !excludes(b, a);
}

static void refuse_overlaps(const A64Encoding *e) {
    bool any = false;
    for (u32 i = 1; i < COUNT; i++)
        for (u32 k = 1; k < i; k++)
            if (overlap(&e[i], &e[k])) {
                fprintf(stderr, "rows.def: %s overlaps with %s\n", sources[i].name, sources[k].name);
                any = true;
            }
    if (any)
        exit(1);
}

/* Can a word of bucket b be of the row? */
static bool is_in_bucket(const A64Encoding *e, u32 b) {
    u32 word = b << A64_BUCKET_SHIFT, known = ~(u32)0 << A64_BUCKET_SHIFT;
    return !((word ^ e->match) & e->mask & known);
}

static void print_buckets(FILE *out, const A64Encoding *e) {
    static u32 start[A64_BUCKETS + 1];
    u32 count = 0;
    fprintf(out, "\nconst u16 a64_bucket_rows[] = {");
    for (u32 b = 0; b < A64_BUCKETS; b++) {
        start[b] = count;
        for (u32 i = 1; i < COUNT; i++)
            if (is_in_bucket(&e[i], b))
                fprintf(out, "%s%u,", count++ % 20 ? " " : "\n    ", i);
    }
    start[A64_BUCKETS] = count;
    fprintf(out, "\n};\n\nconst u32 a64_bucket_start[A64_BUCKETS + 1] = {");
    for (u32 b = 0; b <= A64_BUCKETS; b++)
        fprintf(out, "%s%u,", b % 20 ? " " : "\n    ", start[b]);
    fprintf(out, "\n};\n");
}

static void print_encodings(FILE *out, const A64Encoding *e) {
    fprintf(out, "const A64Encoding a64_encodings[] = {\n    {0, ~(u32)0, 0, 0},\n");
    for (u32 i = 1; i < COUNT; i++)
        fprintf(out, "    {0x%08x, 0x%08x, 0x%08x, 0x%08x},\n", e[i].mask, e[i].match, e[i].not_zero, e[i].not_ones);
    fprintf(out, "};\n\nconst char *const a64_names[] = {\n    \"?\",\n");
    for (u32 i = 1; i < COUNT; i++)
        fprintf(out, "    \"%s\",\n", sources[i].name);
    fprintf(out, "};\n");
}

int main(int argc, char **argv) {
    static A64Encoding e[COUNT];
    for (u32 i = 1; i < COUNT; i++)
        e[i] = parse(&sources[i]);
    refuse_overlaps(e);
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!out)
        fail("usage", "encodings_gen FILE", "");
    fprintf(out, "/* Made of rows.def by encodings_gen.c. */\n#include \"isa/aarch64/encoding.h\"\n\n");
    print_encodings(out, e);
    print_buckets(out, e);
    return fclose(out) ? 1 : 0;
}
