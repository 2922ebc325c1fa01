/* encodings_gen.c: a program of the build: makes encodings.c of the encodings in rows.def, or says which rows overlap.
 *
 * An encoding is written from its highest bit down: 0 and 1 as they are, `.` for any bit, `n` for bits that are not all
 * zero, `p` for bits 11–7 that are any register but sp; spaces do not count.
 */
#include <stdio.h>
#include <stdlib.h>

#include "isa/riscv64/encoding.h"

typedef struct Source {
    const char *name, *bits;
} Source;

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

static _Noreturn void fail(const char *name, const char *what, const char *other) {
    fprintf(stderr, "rows.def: %s: %s%s\n", name, what, other);
    exit(1);
}

static void take_bit(RvEncoding *e, char c, u32 bit, const char *name) {
    switch (c) {
    case '1':
        e->match |= bit; /* fall through */
    case '0':
        e->mask |= bit;
        return;
    case 'n':
        e->not_zero |= bit;
        return;
    case 'p':
        e->not_sp = true;
        return;
    case '.':
        return;
    }
    fail(name, "an encoding is made of 0, 1, ., n and p", "");
}

static RvEncoding parse(const Source *s) {
    RvEncoding e = {0};
    u32 len = 0, at = 0;
    if (!s->bits)
        return (RvEncoding){.mask = 0, .match = ~(u32)0};
    for (const char *c = s->bits; *c; c++)
        len += *c != ' ';
    if (len != 16 && len != 32)
        fail(s->name, "an encoding has 16 or 32 bits", "");
    for (const char *c = s->bits; *c; c++)
        if (*c != ' ')
            take_bit(&e, *c, (u32)1 << (len - ++at), s->name);
    if (rv_is_short(e.match) != (len == 16) || (e.mask & 3) != 3)
        fail(s->name, "the two lowest bits do not fit the length", "");
    return e;
}

/* Is a field of the one, which must not be zero, zero in the other? */
static bool zero_excludes(const RvEncoding *a, const RvEncoding *b) {
    return a->not_zero && (b->mask & a->not_zero) == a->not_zero && !(b->match & a->not_zero);
}

static bool sp_excludes(const RvEncoding *a, const RvEncoding *b) {
    return a->not_sp && (b->mask >> 7 & 31) == 31 && (b->match >> 7 & 31) == 2;
}

static bool overlap(const RvEncoding *a, const RvEncoding *b) {
    if (!a->mask || !b->mask || rv_is_short(a->match) != rv_is_short(b->match) ||
        (a->match ^ b->match) & a->mask & b->mask)
        return false;
    return !zero_excludes(a, b) && !zero_excludes(b, a) && !sp_excludes(a, b) && !sp_excludes(b, a);
}

static void refuse_overlaps(const RvEncoding *e) {
    for (u32 i = 1; i < COUNT; i++)
        for (u32 k = 1; k < i; k++)
            if (overlap(&e[i], &e[k]))
                fail(sources[i].name, "overlaps with ", sources[k].name);
}

/* Can a word of bucket b be of the row? */
static bool is_in_bucket(const RvEncoding *e, u32 b) {
    u32 word = b >= 256 ? (b & 0x1c) << 11 | (b & 3) : b >> 3 << 2 | 3 | (b & 7) << 12;
    u32 known = b >= 256 ? 0xe003 : 0x707f;
    bool is_short = b >= 256;
    return e->mask && rv_is_short(e->match) == is_short && !((word ^ e->match) & e->mask & known);
}

static void print_buckets(FILE *out, const RvEncoding *e) {
    u16 start[RV_BUCKETS + 1];
    u32 count = 0;
    fprintf(out, "\nconst u16 rv_bucket_rows[] = {");
    for (u32 b = 0; b < RV_BUCKETS; b++) {
        start[b] = (u16)count;
        for (u32 i = 1; i < COUNT; i++)
            if (is_in_bucket(&e[i], b))
                fprintf(out, "%s%u,", count++ % 20 ? " " : "\n    ", i);
    }
    start[RV_BUCKETS] = (u16)count;
    fprintf(out, "\n};\n\nconst u16 rv_bucket_start[RV_BUCKETS + 1] = {");
    for (u32 b = 0; b <= RV_BUCKETS; b++)
        fprintf(out, "%s%u,", b % 20 ? " " : "\n    ", start[b]);
    fprintf(out, "\n};\n");
}

/* As the manual writes it: a dot for each underline. */
static void print_name(FILE *out, const char *name) {
    fputs("    \"", out);
    for (; *name; name++)
        fputc(*name == '_' ? '.' : *name, out);
    fputs("\",\n", out);
}

static void print_encodings(FILE *out, const RvEncoding *e) {
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
    static RvEncoding e[COUNT];
    for (u32 i = 1; i < COUNT; i++)
        e[i] = parse(&sources[i]);
    refuse_overlaps(e);
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!out)
        fail("usage", "encodings_gen FILE", "");
    fprintf(out, "/* Made of rows.def by encodings_gen.c. */\n#include \"isa/riscv64/encoding.h\"\n\n");
    print_encodings(out, e);
    print_buckets(out, e);
    return fclose(out) ? 1 : 0;
}
