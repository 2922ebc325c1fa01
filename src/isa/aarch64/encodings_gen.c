/* encodings_gen.c: a program of the build: makes encodings.c of the encodings in rows.def, or says which rows overlap.
 *
 * An encoding is written from its highest bit down: 0 and 1 as they are, `.` for any bit, `n` for bits that are not all
 * zero, `m` for bits that are not all one; spaces do not count.
 */
#include "isa/encodings_gen.h"

#include "isa/aarch64/encoding.h"

static const Source sources[] = {
    {NULL, NULL},
#define INSN(name, bits, ...) {#name, bits},
#define DEVIATES(name, bits, ...) {#name, bits},
#include "isa/aarch64/rows.def"
#undef INSN
#undef DEVIATES
};

enum { COUNT = ARRAY_LEN(sources) };

static A64Encoding encodings[COUNT];

static void take_bit(A64Encoding *e, char c, u32 bit, const char *name) {
    if (c == 'm')
        e->not_ones |= bit;
    else if (!take_plain_bit(c, bit, &e->mask, &e->match, &e->not_zero))
        fail(name, "an encoding is made of 0, 1, ., n and m");
}

static A64Encoding parse(const Source *s) {
    A64Encoding e = {0};
    u32 len = 0;
    for (const char *c = s->bits; *c; c++)
        if (*c != ' ') {
            if (len == 32)
                fail(s->name, "an encoding has 32 bits, and not more");
            take_bit(&e, *c, (u32)1 << (31 - len++), s->name);
        }
    if (len != 32)
        fail(s->name, "an encoding has 32 bits, and not fewer");
    return e;
}

/* Is a field of the one, which must not be all zero or all one, just that in the other? */
static bool excludes(const A64Encoding *a, const A64Encoding *b) {
    bool ones = a->not_ones && (b->mask & a->not_ones) == a->not_ones && (b->match & a->not_ones) == a->not_ones;
    return ones || zero_excludes(a->not_zero, b->mask, b->match);
}

static bool overlap(u32 row, u32 other) {
    const A64Encoding *a = &encodings[row], *b = &encodings[other];
    return !((a->match ^ b->match) & a->mask & b->mask) && !excludes(a, b) && !excludes(b, a);
}

/* Can a word of bucket b be of the row? */
static bool is_in_bucket(u32 row, u32 b) {
    const A64Encoding *e = &encodings[row];
    u32 word = b << A64_BUCKET_SHIFT, known = ~(u32)0 << A64_BUCKET_SHIFT;
    return !((word ^ e->match) & e->mask & known);
}

static void print_encodings(FILE *out) {
    const A64Encoding *e = encodings;
    fprintf(out, "const A64Encoding a64_encodings[] = {\n    {0, ~(u32)0, 0, 0},\n");
    for (u32 i = 1; i < COUNT; i++)
        fprintf(out, "    {0x%08x, 0x%08x, 0x%08x, 0x%08x},\n", e[i].mask, e[i].match, e[i].not_zero, e[i].not_ones);
    fprintf(out, "};\n\nconst char *const a64_names[] = {\n    \"?\",\n");
    for (u32 i = 1; i < COUNT; i++)
        fprintf(out, "    \"%s\",\n", sources[i].name);
    fprintf(out, "};\n");
}

int main(int argc, char **argv) {
    for (u32 i = 1; i < COUNT; i++)
        encodings[i] = parse(&sources[i]);
    refuse_overlaps(sources, COUNT, overlap);
    FILE *out = begin_file(argc, argv, "isa/aarch64/encoding.h");
    print_encodings(out);
    print_buckets(out, "a64", A64_BUCKETS, COUNT, is_in_bucket);
    return fclose(out) ? 1 : 0;
}
