/* shape_generate.c: shape-generate FILE: writes the tables of shape_tables.h, which the client, where there is no Zydis, finds the ends of
 * instructions by. Each opcode is tried with each mandatory prefix and each ModRM byte, and what is known of it is read off the facts.
 *
 * An opcode that no instruction has is refused. A form that no instruction has, of an opcode that others have, counts as plain: copied,
 * it faults as it would have, or is what a processor of tomorrow does. */
#include <stdio.h>

#include <Zydis/Zydis.h>

#include "isa/x86_64/facts.h"
#include "isa/x86_64/shape_tables.h"

enum { BYTES = 24, FORMS = 256, MAX_ROWS = 64 };

static const u8 mandatory[SHAPE_PREFIXES] = {0, 0x66, 0xf2, 0xf3};

typedef struct Tables {
    u8 group_row[SHAPE_LEGACY_MAPS][SHAPE_GROUPS][SHAPE_PREFIXES];
    u8 row[MAX_ROWS][SHAPE_FORMS];
    u32 rows, groups[SHAPE_LEGACY_MAPS];
    u8 map[SHAPE_MAPS][256];
    u16 flags[SHAPE_LEGACY_MAPS][256];
    u8 keeps[SHAPE_LEGACY_MAPS][256];
} Tables;

/* -------------------------------------------------------------------------------------------------------- one instruction */

/* The facts of an opcode behind a prefix (0: none). */
static bool look(u32 map, u8 prefix, u8 opcode, u8 modrm, X86Facts *f) {
    u8 bytes[BYTES] = {0};
    u32 n = 0;
    if (prefix)
        bytes[n++] = prefix;
    if (map == SHAPE_MAP_0F)
        bytes[n++] = 0x0f;
    bytes[n++] = opcode;
    bytes[n++] = modrm;
    return x86_facts(bytes, sizeof(bytes), 0, f) && !(f->prefixes & (PREFIX_VEX | PREFIX_EVEX | PREFIX_XOP));
}

/* How many bytes are behind opcode, ModRM and what belongs to it, of an instruction with so many prefixes. */
static u32 tail_bytes(u32 map, u32 prefixes, const X86Facts *f) {
    return f->length - (f->tail_at ? f->tail_at : prefixes + (map == SHAPE_MAP_0F) + 1u);
}

/* Does it set gs or its base, or read the base? Both are the client's. */
static bool uses_gs(const X86Facts *f) {
    enum { GS = 5 };
    switch (f->mnemonic) {
    case ZYDIS_MNEMONIC_RDGSBASE:
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_LGS:
        return true;
    default:
        return f->operand_count && f->op[0].kind == OPERAND_REG && f->op[0].cls == CLS_SEG && f->op[0].no == GS &&
               f->how[0] & ACCESS_WRITE;
    }
}

static ShapeKind kind_of(const X86Facts *f) {
    if (f->state & STATE_TRAP)
        return SHAPE_TRAP;
    if (f->far || uses_gs(f))
        return SHAPE_OTHER;
    switch ((Flow)f->flow) {
    case FLOW_NEXT:
        return f->mnemonic == ZYDIS_MNEMONIC_CPUID ? SHAPE_CPUID : SHAPE_PLAIN;
    case FLOW_JUMP:
        return SHAPE_JMP;
    case FLOW_BRANCH:
        return f->cond == COND_NONE ? SHAPE_COUNTED : SHAPE_JCC;
    case FLOW_CALL:
        return f->indirect ? SHAPE_CALL_INDIRECT : SHAPE_CALL;
    case FLOW_INDIRECT:
        return SHAPE_JMP_INDIRECT;
    case FLOW_RETURN:
        return SHAPE_RET;
    case FLOW_SYSCALL:
        return SHAPE_SYSCALL;
    case FLOW_STOP:
        break;
    }
    return SHAPE_OTHER;
}

/* The class of an immediate, by its bytes as it is, with the prefix 66, with REX.W and with the prefix 67. */
static u8 class_of(u32 map, u8 opcode, u8 modrm) {
    static const struct {
        u8 bytes[4], class;
    } classes[] = {
        {{0, 0, 0, 0}, 0},  {{1, 1, 1, 1}, I8}, {{2, 2, 2, 2}, I16},   {{4, 4, 4, 4}, I32},
        {{4, 2, 4, 4}, IZ}, {{4, 2, 8, 4}, IV}, {{8, 8, 8, 4}, MOFFS}, {{3, 3, 3, 3}, ENTER},
    };
    static const u8 prefixes[] = {0, 0x66, 0x48, 0x67};
    u8 bytes[4];
    X86Facts f = {0}, bare;
    CHECK(look(map, 0, opcode, modrm, &bare), "only an instruction that there is without prefixes has a class by them");
    for (u32 i = 0; i < ARRAY_LEN(prefixes); i++) {
        bool same = look(map, prefixes[i], opcode, modrm, &f) && f.mnemonic == bare.mnemonic;
        bytes[i] = (u8)(same ? tail_bytes(map, prefixes[i] != 0, &f) : tail_bytes(map, false, &bare));
    }
    for (u32 i = 0; i < ARRAY_LEN(classes); i++)
        if (!memcmp(bytes, classes[i].bytes, sizeof(bytes)))
            return classes[i].class;
    CHECK(false, "an immediate has one of these sizes");
    return BAD;
}

/* The same of an instruction that there is only with a mandatory prefix, or that is another one without. */
static u8 class_behind(u32 map, u32 prefix, const X86Facts *f) {
    static const u8 classes[] = {0, I8, I16, ENTER, I32};
    u32 bytes = tail_bytes(map, prefix != 0, f);
    CHECK(bytes < ARRAY_LEN(classes), "an immediate behind a mandatory prefix has at most four bytes");
    return classes[bytes];
}

/* -------------------------------------------------------------------------------------------------------------- one opcode */

/* What is known of each form of an opcode; BAD: there is no such instruction. */
typedef struct Opcode {
    u8 form[SHAPE_PREFIXES * FORMS]; /* by prefix, then by ModRM */
    bool has_modrm;
    bool ignores_mod; /* a ModRM byte that says memory means registers all the same: mov of control registers */
} Opcode;

static void note_flags(Tables *t, u32 map, u8 opcode, u8 modrm, const X86Facts *f) {
    u64 status = ((u64)0x3f << CF);
    u16 bits = (u16)((f->reads.word[0] & status ? SHAPE_READS_FLAGS : 0) |
                     (f->writes.word[0] & status ? SHAPE_WRITES_FLAGS : 0));
    u32 reg = f->modrm_at ? modrm >> 3 & 7 : 0;
    t->flags[map][opcode] |= (u16)(bits << 2 * reg);
    if ((f->kills.word[0] & status) != status)
        t->keeps[map][opcode] |= (u8)(1 << reg);
}

static void try_forms(Tables *t, u32 map, u8 opcode, Opcode *o) {
    for (u32 p = 0; p < SHAPE_PREFIXES; p++)
        for (u32 modrm = 0; modrm < FORMS; modrm++) {
            X86Facts f, bare;
            u8 *form = &o->form[p * FORMS + modrm];
            *form = BAD;
            if (!look(map, mandatory[p], opcode, (u8)modrm, &f))
                continue;
            bool same = look(map, 0, opcode, (u8)modrm, &bare) && bare.mnemonic == f.mnemonic;
            u8 class = same || !p ? class_of(map, opcode, (u8)modrm) : class_behind(map, p, &f);
            *form = class | (u8)kind_of(&f);
            o->has_modrm |= f.modrm_at != 0;
            o->ignores_mod |= f.modrm_at && modrm < 0xc0 && !f.has_memory_operand;
            note_flags(t, map, opcode, (u8)modrm, &f);
        }
}

/* The first form that an instruction has, of `count`; BAD: none has. */
static u8 first_known(const u8 *forms, size_t count) {
    u8 known = BAD;
    for (size_t i = 0; i < count && known == BAD; i++)
        known = forms[i];
    return known;
}

/* The forms that no instruction has are as long as those that one has, with the same prefix if there is one, and plain. Where no ModRM
 * byte, or no memory, tells forms apart, they are like the others. False: no instruction has the opcode. */
static bool settle(Opcode *o) {
    u8 any = first_known(o->form, sizeof(o->form));
    for (u32 p = 0; p < SHAPE_PREFIXES; p++) {
        u8 *forms = o->form + p * FORMS, own = first_known(forms, FORMS), known = own == BAD ? any : own;
        for (u32 i = 0; i < FORMS; i++)
            if (forms[i] == BAD)
                forms[i] = o->ignores_mod || !o->has_modrm ? known : known & IMMEDIATE;
    }
    return any != BAD;
}

static bool is_uniform(const Opcode *o) {
    for (u32 i = 1; i < sizeof(o->form); i++)
        if (o->form[i] != o->form[0])
            return false;
    return true;
}

static u8 row_for(Tables *t, const u8 *forms) {
    u8 row[SHAPE_FORMS];
    for (u32 modrm = 0; modrm < FORMS;
         modrm++) /* of all forms in memory the first counts: those of one reg are alike */
        row[shape_form((u8)(FORMS - 1 - modrm))] = forms[FORMS - 1 - modrm];
    for (u32 i = 0; i < t->rows; i++)
        if (!memcmp(t->row[i], row, sizeof(row)))
            return (u8)i;
    CHECK(t->rows < MAX_ROWS, "there are more kinds of groups than was thought");
    memcpy(t->row[t->rows], row, sizeof(row));
    return (u8)t->rows++;
}

static u8 add_group(Tables *t, u32 map, const Opcode *o) {
    u32 group = t->groups[map]++;
    CHECK(o->has_modrm, "a group is told apart by ModRM");
    CHECK(group < SHAPE_GROUPS, "a map has more groups than there are numbers for them");
    for (u32 p = 0; p < SHAPE_PREFIXES; p++)
        t->group_row[map][group][p] = row_for(t, o->form + p * FORMS);
    return (u8)(M | group << 4 | GROUP);
}

/* SDM 2A, 2.1.1, and the first bytes of longer opcodes, of VEX, EVEX and XOP (or pop). */
static u8 fixed(u32 map, u8 opcode) {
    static const u8 prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};
    static const u8 escapes[SHAPE_LEGACY_MAPS][5] = {{0x0f, 0x62, 0x8f, 0xc4, 0xc5}, {0x38, 0x3a}};
    if (map == SHAPE_MAP_ONE && ((opcode & 0xf0) == 0x40 || memchr(prefixes, opcode, sizeof(prefixes))))
        return PREFIX;
    return opcode && memchr(escapes[map], opcode, sizeof(escapes[map])) ? ESCAPE : 0;
}

static u8 find_opcode(Tables *t, u32 map, u8 opcode) {
    static Opcode o;
    o = (Opcode){0};
    if (fixed(map, opcode))
        return fixed(map, opcode);
    try_forms(t, map, opcode, &o);
    if (!settle(&o))
        return BAD;
    CHECK(!o.ignores_mod || (is_uniform(&o) && !(o.form[0] & IMMEDIATE)), "such a ModRM byte is like an immediate");
    if (o.ignores_mod)
        return I8 | o.form[0];
    return is_uniform(&o) ? (o.has_modrm ? M : 0) | o.form[0] : add_group(t, map, &o);
}

/* Of an opcode of the map 0F in VEX or EVEX form: a ModRM byte, and an immediate; of one that is not known, those of its legacy
 * namesake. Jumps are the Xeon Phi's of 2012. */
static u8 find_vector_opcode(const Tables *t, u8 opcode) {
    u8 legacy = t->map[SHAPE_MAP_0F][opcode], group = (legacy & KIND) == GROUP;
    for (u32 i = 0; i < 2 * 2 * 4 * 4 * 2; i++) {
        u8 evex = i & 1, wide = i >> 1 & 1, pp = i >> 2 & 3, length = i >> 4 & 3, modrm = i >> 6 & 1 ? 0xc0 : 0;
        const u8 vex_bytes[BYTES] = {0xc4, 0xe1, (u8)(wide << 7 | 0x78 | (length & 1) << 2 | pp), opcode, modrm};
        const u8 evex_bytes[BYTES] = {0x62, 0xf1, (u8)(wide << 7 | 0x7c | pp), (u8)(length << 5 | 0x08), opcode, modrm};
        X86Facts f;
        if (!x86_facts(evex ? evex_bytes : vex_bytes, BYTES, 0, &f) || f.flow != FLOW_NEXT)
            continue;
        u32 tail = f.length - (f.tail_at ? f.tail_at : evex ? 5u : 4u);
        CHECK(tail < 2, "an immediate in such a form has one byte");
        return (f.modrm_at ? M : 0) | (tail ? I8 : 0);
    }
    return !(legacy & M) ? BAD : group ? M : legacy & (M | IMMEDIATE);
}

/* ------------------------------------------------------------------------------------------------------------------ output */

static void put_bytes(FILE *out, const u8 *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s0x%02x,", i ? i % 16 ? " " : "\n     " : "    {", bytes[i]);
    fprintf(out, "},\n");
}

static void put_tables(FILE *out, const Tables *t) {
    fprintf(out, "/* Made by shape_generate.c. */\n#include \"isa/x86_64/shape_tables.h\"\n\n");
    fprintf(out, "const u8 shape_map[SHAPE_MAPS][256] = {\n");
    for (u32 i = 0; i < SHAPE_MAPS; i++)
        put_bytes(out, t->map[i], sizeof(t->map[i]));
    fprintf(out, "};\n\nconst u8 shape_group_row[SHAPE_LEGACY_MAPS][SHAPE_GROUPS][SHAPE_PREFIXES] = {\n");
    for (u32 i = 0; i < SHAPE_LEGACY_MAPS * SHAPE_GROUPS; i++) {
        fprintf(out, "%s", i % SHAPE_GROUPS ? "" : "{");
        put_bytes(out, t->group_row[i / SHAPE_GROUPS][i % SHAPE_GROUPS], SHAPE_PREFIXES);
        fprintf(out, "%s", (i + 1) % SHAPE_GROUPS ? "" : "},");
    }
    fprintf(out, "};\n\nconst u8 shape_row[][SHAPE_FORMS] = {\n");
    for (u32 i = 0; i < t->rows; i++)
        put_bytes(out, t->row[i], SHAPE_FORMS);
    fprintf(out, "};\n\nconst u16 shape_flags[SHAPE_LEGACY_MAPS][256] = {\n");
    for (u32 i = 0; i < SHAPE_LEGACY_MAPS * 256; i++)
        fprintf(out, "%s%u,%s", i % 256 ? " " : "{", t->flags[i / 256][i % 256], (i + 1) % 256 ? "" : "},\n");
    fprintf(out, "};\n\nconst u8 shape_keeps[SHAPE_LEGACY_MAPS][256] = {\n");
    for (u32 i = 0; i < SHAPE_LEGACY_MAPS; i++)
        put_bytes(out, t->keeps[i], sizeof(t->keeps[i]));
    fprintf(out, "};\n");
}

int main(int argc, char **argv) {
    static Tables t;
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!out) {
        fprintf(stderr, "Usage: shape-generate FILE\n");
        return 2;
    }
    for (u32 map = 0; map < SHAPE_LEGACY_MAPS; map++)
        for (u32 opcode = 0; opcode < 256; opcode++)
            t.map[map][opcode] = find_opcode(&t, map, (u8)opcode);
    for (u32 opcode = 0; opcode < 256; opcode++)
        t.map[SHAPE_MAP_VEX][opcode] = find_vector_opcode(&t, (u8)opcode);
    put_tables(out, &t);
    return fclose(out) ? 1 : 0;
}
