/* encodings_gen.c: a program of the build: makes encodings.c of the encodings in rows.def, or says which rows overlap.
 *
 * An encoding is written from its highest bit down: 0 and 1 as they are, `.` for any bit, `n` for bits that are not all
 * zero, `p` for bits 11–7 that are any register but sp; spaces do not count.
 */
#include "isa/encodings_gen.h"

#include "isa/riscv64/encoding.h"

static const Source sources[] = {
    {NULL, NULL},
#define INSN(name, bits, ...) {#name, bits},
#define DEVIATES(name, bits, ...) {#name, bits},
#define SHORT(name, bits, ...) {#name, bits},
#define FUSED(name, ...) {#name, NULL},
#include "isa/riscv64/rows.def"
#undef INSN
#undef DEVIATES
#undef SHORT
#undef FUSED
};

enum { COUNT = ARRAY_LEN(sources) };

static RvEncoding encodings[COUNT];

static void take_bit(RvEncoding *e, char c, u32 bit, const char *name) {
    if (c == 'p')
        e->not_sp = true;
    else if (!take_plain_bit(c, bit, &e->mask, &e->match, &e->not_zero))
        fail(name, "an encoding is made of 0, 1, ., n and p");
}

static RvEncoding parse(const Source *s) {
    RvEncoding e = {0};
    u32 len = 0, at = 0;
    if (!s->bits)
        return (RvEncoding){.mask = 0, .match = ~(u32)0};
    for (const char *c = s->bits; *c; c++)
        len += *c != ' ';
    if (len != 16 && len != 32)
        fail(s->name, "an encoding has 16 or 32 bits");
    for (const char *c = s->bits; *c; c++)
        if (*c != ' ')
            take_bit(&e, *c, (u32)1 << (len - ++at), s->name);
    if (rv_is_short(e.match) != (len == 16) || (e.mask & 3) != 3)
        fail(s->name, "the two lowest bits do not fit the length");
    return e;
}

static bool sp_excludes(const RvEncoding *a, const RvEncoding *b) {
    return a->not_sp && (b->mask >> 7 & 31) == 31 && (b->match >> 7 & 31) == 2;
}

static bool excludes(const RvEncoding *a, const RvEncoding *b) {
    return zero_excludes(a->not_zero, b->mask, b->match) || sp_excludes(a, b);
}

static bool overlap(u32 row, u32 other) {
    const RvEncoding *a = &encodings[row], *b = &encodings[other];
    if (!a->mask || !b->mask || rv_is_short(a->match) != rv_is_short(b->match) ||
        (a->match ^ b->match) & a->mask & b->mask)
        return false;
    return !excludes(a, b) && !excludes(b, a);
}

/* Can a word of bucket b be of the row? */
static bool is_in_bucket(u32 row, u32 b) {
    const RvEncoding *e = &encodings[row];
    u32 word = b >= 256 ? (b & 0x1c) << 11 | (b & 3) : b >> 3 << 2 | 3 | (b & 7) << 12;
    u32 known = b >= 256 ? 0xe003 : 0x707f;
    bool is_short = b >= 256;
    return e->mask && rv_is_short(e->match) == is_short && !((word ^ e->match) & e->mask & known);
}

/* As the manual writes it: a dot for each underline. */
static void print_name(FILE *out, const char *name) {
    fputs("    \"", out);
    for (; *name; name++)
        fputc(*name == '_' ? '.' : *name, out);
    fputs("\",\n", out);
}

static void print_encodings(FILE *out) {
    const RvEncoding *e = encodings;
    fprintf(out, "const RvEncoding rv_encodings[] = {\n    {0, 0, 0, false},\n");
    for (u32 i = 1; i < COUNT; i++)
        fprintf(out, "    {0x%08x, 0x%08x, 0x%04x, %s},\n", e[i].mask, e[i].match, e[i].not_zero,
                e[i].not_sp ? "true" : "false");
    fprintf(out, "};\n\nconst char *const rv_names[] = {\n    \"?\",\n");
    for (u32 i = 1; i < COUNT; i++)
        print_name(out, sources[i].name);
    fprintf(out, "};\n");
}

int main(int argc, char **argv) {
    for (u32 i = 1; i < COUNT; i++)
        encodings[i] = parse(&sources[i]);
    refuse_overlaps(sources, COUNT, overlap);
    FILE *out = begin_file(argc, argv, "isa/riscv64/encoding.h");
    print_encodings(out);
    print_buckets(out, "rv", RV_BUCKETS, COUNT, is_in_bucket);
    return fclose(out) ? 1 : 0;
}
