/* view_generate.c: view-generate FILE: writes the tables of view_tables.h. Each opcode is tried with each key, and what is known of it is
 * read off the facts; which field of an instruction a register comes from is seen when the field is changed. */
#include <stdio.h>

#include <Zydis/Zydis.h>

#include "isa/x86_64/facts.h"
#include "isa/x86_64/view_tables.h"

enum { BYTES = 24, MAX_NODES = 0x8000, MAX_ROWS = 0x4000, MAX_IMPLIED = 250, HASH = 1 << 16, NOT_USED = 0xffff };

typedef struct Tables {
    u16 root[SPACE_COUNT][256], name_root[SPACE_COUNT][256];
    ViewNode node[MAX_NODES];
    ViewRow row[MAX_ROWS];
    ViewAccess implied[MAX_IMPLIED];
    u16 name[ZYDIS_MNEMONIC_MAX_VALUE + 1]; /* by mnemonic: its number + 1 */
    u16 mnemonic[INSN_OPCODES];             /* by number */
    u32 nodes, rows, implieds, names;
    u16 node_hash[HASH], row_hash[HASH]; /* number + 1 */
} Tables;

/* An opcode, and whether it has ModRM. */
typedef struct Opcode {
    u8 space, opcode;
    bool has_modrm;
} Opcode;

/* What is different from the key's plain instruction. */
typedef struct Probe {
    bool r, b;    /* the highest bit of ModRM.reg; of ModRM.rm, or the opcode's register */
    u8 vvvv;      /* as a register's number */
    bool fs, a32; /* prefixes */
    bool lock, no_immediate;
} Probe;

static bool key_bit(u32 key, u32 bit) {
    return key >> bit & 1;
}

static u32 key_bits(u32 key, u32 bit, u32 count) {
    return key >> bit & ((1u << count) - 1);
}

/* ------------------------------------------------------------------------------------------------------------- encoding */

static u32 put_legacy(u8 *bytes, u32 n, const Opcode *o, u32 key, const Probe *p) {
    static const u8 rep[] = {0, 0, 0xf3, 0xf2};
    u32 pp = key_bits(key, KEY_PP, 2);
    bool b = p->b || key_bit(key, KEY_REX_B);
    if (pp == 1 || key_bit(key, KEY_OPERAND16))
        bytes[n++] = 0x66;
    if (rep[pp])
        bytes[n++] = rep[pp];
    if (p->lock)
        bytes[n++] = 0xf0;
    bytes[n++] = (u8)(0x40 | key_bit(key, KEY_W) << 3 | p->r << 2 | b);
    if (o->space != SPACE_ONE)
        bytes[n++] = 0x0f;
    if (o->space == SPACE_0F38 || o->space == SPACE_0F3A)
        bytes[n++] = o->space == SPACE_0F38 ? 0x38 : 0x3a;
    return n;
}

static u32 put_vector(u8 *bytes, u32 n, const Opcode *o, u32 key, const Probe *p) {
    bool evex = space_is_evex(o->space);
    u32 map = o->space >= SPACE_XOP ? o->space - SPACE_XOP + 8u : o->space - (evex ? SPACE_EVEX : SPACE_VEX) + 1u;
    u32 length = key_bits(key, KEY_LENGTH, 2);
    bytes[n++] = evex ? 0x62 : o->space >= SPACE_XOP ? 0x8f : 0xc4;
    bytes[n++] = (u8)(!p->r << 7 | 0x40 | !p->b << 5 | (evex ? 0x10 : 0) | map);
    bytes[n++] =
        (u8)(key_bit(key, KEY_W) << 7 | (15 - p->vvvv) << 3 | (evex ? 4 : length << 2) | key_bits(key, KEY_PP, 2));
    if (evex)
        bytes[n++] = (u8)(key_bit(key, KEY_ZEROING) << 7 | length << 5 | key_bit(key, KEY_B) << 4 | 8 |
                          key_bit(key, KEY_MASKED));
    return n;
}

/* ModRM.rm. Where a register there is not told apart by the key, it is another one than that of ModRM.reg, which some instructions want. */
static u32 rm_of(const Opcode *o, u32 key) {
    bool any = o->space >= SPACE_EVEX && key_bit(key, KEY_REGISTER);
    return any ? (key_bits(key, KEY_REG, 3) + 1) & 7 : key_bits(key, KEY_RM, 3);
}

/* Memory is at rax + 1 (times what EVEX makes of it), or relative to rip. The vector register that may be the index in SIB must not be that of
 * ModRM.reg. */
static void put_modrm(u8 *bytes, u32 n, const Opcode *o, u32 key) {
    u32 reg = key_bits(key, KEY_REG, 3), rm = rm_of(o, key);
    u32 mod = key_bit(key, KEY_REGISTER) ? 3 : rm == 5 ? 0 : 1;
    bytes[n++] = (u8)(mod << 6 | reg << 3 | rm);
    if (mod != 3 && rm == 4)
        bytes[n++] = (u8)(((reg + 1) & 7) << 3);
}

static bool look(const Opcode *o, u32 key, const Probe *p, X86Facts *f) {
    u8 bytes[BYTES];
    u32 n = 0;
    u16 own = o->space >= SPACE_XOP    ? PREFIX_XOP
              : o->space >= SPACE_EVEX ? PREFIX_EVEX
              : o->space >= SPACE_VEX  ? PREFIX_VEX
                                       : 0;
    memset(bytes, !p->no_immediate, sizeof(bytes));
    if (p->fs)
        bytes[n++] = 0x64;
    if (p->a32 || key_bit(key, KEY_ADDRESS32))
        bytes[n++] = 0x67;
    n = own ? put_vector(bytes, n, o, key, p) : put_legacy(bytes, n, o, key, p);
    bytes[n++] = o->opcode;
    if (o->has_modrm)
        put_modrm(bytes, n, o, key);
    return x86_facts(bytes, sizeof(bytes), 0, f) && (f->prefixes & (PREFIX_VEX | PREFIX_EVEX | PREFIX_XOP)) == own;
}

/* The same instruction with one thing changed; false: it is another one, or none. */
static bool look_again(const Opcode *o, u32 key, Probe p, const X86Facts *plain, X86Facts *f) {
    return look(o, key, &p, f) && f->mnemonic == plain->mnemonic && f->access_count == plain->access_count;
}

/* Is one of the registers in ModRM and SIB number 0, as vvvv is if it is not used? */
static bool has_register_0(const Opcode *o, u32 key) {
    u32 reg = key_bits(key, KEY_REG, 3);
    return !reg || (key_bit(key, KEY_REGISTER) ? !rm_of(o, key) : reg == 7);
}

/* The plain instruction of a key. Some want the registers of all fields to be different: gathers, products of tiles and of complex numbers. */
static bool look_plain(const Opcode *o, u32 key, Probe *p, X86Facts *f) {
    u32 count = o->space >= SPACE_VEX && has_register_0(o, key) ? 4 : 1;
    for (u32 i = 0; i < count; i++) {
        *p = (Probe){.vvvv = (u8)(2 * i)};
        if (look(o, key, p, f))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------- registers */

static u16 general(const RegSet *s) {
    return (u16)s->word[0];
}

static u8 role_of(const X86Facts *f, Reg r, bool is_byte) {
    return (u8)((regset_has(&f->reads, r) ? ROLE_READ : 0) | (regset_has(&f->writes, r) ? ROLE_WRITE : 0) |
                (regset_has(&f->kills, r) ? ROLE_KILL : 0) | (is_byte ? ROLE_BYTE : 0));
}

static bool is_byte_operand(const X86Facts *f, Reg r) {
    for (u32 i = 0; i < f->operand_count; i++)
        if (x86_operand_register(&f->op[i]) == r && f->op[i].cls == CLS_GP)
            return f->op[i].bits == 8;
    return false;
}

/* What becomes of the register in a field. The probe makes it r, and in the plain instruction it is `from`. 0: the field is not a general
 * register's. */
static u8 field_role(const Opcode *o, u32 key, Probe p, const X86Facts *plain, Reg from, Reg r) {
    X86Facts f;
    if (!look_again(o, key, p, plain, &f))
        return 0;
    u8 role = role_of(&f, r, false);
    bool moved = !role_of(plain, r, false) && !(role & ~role_of(plain, from, false));
    return role && moved ? role_of(&f, r, is_byte_operand(&f, r)) : 0;
}

/* Is vvvv used? Then it may have some other value, though not each: mask registers are eight, and some registers must be different. */
static bool has_vvvv(const Opcode *o, u32 key, Probe p, const X86Facts *plain) {
    X86Facts f;
    u8 first = p.vvvv;
    for (p.vvvv = 1; p.vvvv < 16; p.vvvv++)
        if (p.vvvv != first && look_again(o, key, p, plain, &f))
            return true;
    return first;
}

/* The registers of all fields become some of r8 to r15, and those that are always the same stay. */
static void set_registers(const Opcode *o, u32 key, const Probe *at_first, const X86Facts *plain, ViewRow *row) {
    Reg reg = (Reg)(8 + key_bits(key, KEY_REG, 3));
    Reg rm = (Reg)(8 + (o->has_modrm ? rm_of(o, key) : o->opcode & 7u));
    Reg vvvv = 8 + ((reg + 2) & 7); /* another one than reg, which some instructions want */
    Probe with_r = *at_first, with_b = *at_first, with_vvvv = *at_first, all = *at_first;
    X86Facts f;
    with_r.r = with_b.b = true;
    with_vvvv.vvvv = vvvv;
    row->role[FIELD_REG] = field_role(o, key, with_r, plain, reg - 8, reg);
    if (!o->has_modrm || key_bit(key, KEY_REGISTER))
        row->role[FIELD_RM] = field_role(o, key, with_b, plain, rm - 8, rm);
    if (o->space >= SPACE_VEX)
        row->role[FIELD_VVVV] = field_role(o, key, with_vvvv, plain, at_first->vvvv, vvvv);
    all.r = row->role[FIELD_REG];
    all.b = row->role[FIELD_RM];
    all.vvvv = row->role[FIELD_VVVV] ? vvvv : at_first->vvvv;
    u16 fields = (u16)((all.r ? 1u << reg : 0) | (all.b ? 1u << rm : 0) | (row->role[FIELD_VVVV] ? 1u << vvvv : 0));
    CHECK(look_again(o, key, all, plain, &f), "fields that can be changed one by one can be changed together");
    row->reads = general(&f.reads) & ~fields;
    row->writes = general(&f.writes) & ~fields;
    row->kills = general(&f.kills) & ~fields;
}

/* ---------------------------------------------------------------------------------------------------------------- memory */

/* The base of an implied access that is in a field is there with another number when all fields have changed. */
static u8 base_of(const Opcode *o, u32 key, const X86Facts *plain, u32 access) {
    Reg base = plain->access[access].at.base;
    X86Facts f;
    if (look_again(o, key, (Probe){.r = true}, plain, &f) && f.access[access].at.base != base)
        return BASE_FIELD + FIELD_REG;
    if (look_again(o, key, (Probe){.b = true}, plain, &f) && f.access[access].at.base != base)
        return BASE_FIELD + FIELD_RM;
    CHECK(base < BASE_FIELD, "an implied access has a general register as its base");
    return base;
}

static ViewAccess implied_access(const Opcode *o, u32 key, const X86Facts *plain, u32 access) {
    const InsnAccess *a = &plain->access[access];
    X86Facts f;
    ViewAccess v;
    memset(&v, 0, sizeof(v));
    v.how = a->how;
    v.bytes = a->bytes;
    v.base = base_of(o, key, plain, access);
    v.index = a->at.index;
    v.disp = (i8)a->at.disp;
    CHECK(v.disp == a->at.disp && a->at.scale == 1, "an implied access is near its base");
    v.takes_segment = look_again(o, key, (Probe){.fs = true}, plain, &f) && f.access[access].at.seg == SEG_FS;
    v.takes_size = look_again(o, key, (Probe){.a32 = true}, plain, &f) && f.access[access].at.addr_bits == 32;
    return v;
}

/* The place in the table of implied accesses that has these. */
static u8 place_implied(Tables *t, const ViewAccess *a, u32 count) {
    u32 at = 0;
    while (at + count <= t->implieds && memcmp(t->implied + at, a, count * sizeof(*a)))
        at++;
    if (at + count <= t->implieds)
        return (u8)at;
    CHECK(t->implieds + count <= MAX_IMPLIED, "there are more implied accesses than was thought");
    memcpy(t->implied + t->implieds, a, count * sizeof(*a));
    t->implieds += count;
    return (u8)(t->implieds - count);
}

/* Loads come before stores. */
static void set_implied(Tables *t, const Opcode *o, u32 key, const X86Facts *f, ViewRow *row) {
    ViewAccess list[INSN_ACCESSES];
    u32 count = 0;
    for (u32 stores = 0; stores < 2; stores++)
        for (u32 i = 0; i < f->access_count; i++)
            if (f->access[i].how & ACCESS_IMPLIED && stores == !(f->access[i].how & ACCESS_READ))
                list[count++] = implied_access(o, key, f, i);
    row->implied_count = (u8)count;
    row->implied = count ? place_implied(t, list, count) : 0;
    if (row->how && !(row->how & ACCESS_READ) && count && list[0].how & ACCESS_READ)
        row->flags |= ROW_LAST;
}

static void set_operand(const X86Facts *f, u32 key, ViewRow *row) {
    const InsnAccess *a = &f->access[0];
    if (!f->access_count || a->how & ACCESS_IMPLIED)
        return;
    row->how = a->how;
    row->bytes = a->at.bits / 8;
    if (!a->bytes)
        row->flags |= ROW_OPEN;
    bool scaled = f->prefixes & PREFIX_EVEX && key_bits(key, KEY_RM, 3) != 5;
    CHECK(!scaled || a->at.disp > 0, "the displacement of the instructions looked at is 1, in some unit");
    while (scaled && a->at.disp >> row->disp_shift != 1)
        row->disp_shift++;
    if (f->mnemonic == ZYDIS_MNEMONIC_POP)
        row->flags |= ROW_POPS;
}

/* ------------------------------------------------------------------------------------------------------------------ rows */

static u16 flags_of(const Opcode *o, u32 key, const X86Facts *f) {
    u64 status = (u64)0x3f << CF;
    X86Facts other;
    bool kills = (f->kills.word[0] & status) == status;
    bool shifts =
        kills && look_again(o, key, (Probe){.no_immediate = true}, f, &other) && !(other.kills.word[0] & status);
    bool lockable = o->space < SPACE_VEX && look_again(o, key, (Probe){.lock = true}, f, &other);
    return (u16)((f->reads.word[0] & status ? ROW_READS_FLAGS : 0) |
                 (f->writes.word[0] & status ? ROW_WRITES_FLAGS : 0) | (kills ? ROW_KILLS_FLAGS : 0) |
                 (shifts ? f->op[0].bits == 64 ? ROW_SHIFTS | ROW_WIDE : ROW_SHIFTS : 0) |
                 (lockable ? ROW_LOCKABLE : 0) | (f->indirect ? ROW_INDIRECT : 0));
}

static u32 hash_of(const void *data, size_t size) {
    const u8 *bytes = data;
    u32 h = 2166136261u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * 16777619u;
    return h % HASH;
}

static u16 place_row(Tables *t, const ViewRow *row) {
    u32 h = hash_of(row, sizeof(*row));
    for (; t->row_hash[h]; h = (h + 1) % HASH)
        if (!memcmp(&t->row[t->row_hash[h] - 1], row, sizeof(*row)))
            return t->row_hash[h] - 1;
    CHECK(t->rows < MAX_ROWS, "there are more kinds of instructions than was thought");
    t->row[t->rows] = *row;
    t->row_hash[h] = (u16)(t->rows + 1);
    return (u16)t->rows++;
}

static u16 place_name(Tables *t, u16 mnemonic) {
    if (!t->name[mnemonic]) {
        CHECK(t->names < INSN_OPCODES, "there are more opcodes than INSN_OPCODES");
        t->mnemonic[t->names] = mnemonic;
        t->name[mnemonic] = (u16)++t->names;
    }
    return t->name[mnemonic] - 1;
}

/* What is at the ends of the two diagrams. */
typedef struct Pair {
    u16 row, name;
} Pair;

static bool has_as_many(const X86Facts *a, const X86Facts *b) {
    return __builtin_popcount(general(&a->reads)) == __builtin_popcount(general(&b->reads)) &&
           __builtin_popcount(general(&a->writes)) == __builtin_popcount(general(&b->writes));
}

static Pair leaf(Tables *t, const Opcode *o, u32 key) {
    X86Facts f, other;
    Probe plain;
    ViewRow row;
    u32 low = key & ~(1u << KEY_REX_B);
    if (!look_plain(o, key, &plain, &f))
        return (Pair){0, NOT_USED};
    if (low != key && look_again(o, low, plain, &f, &other) && has_as_many(&f, &other))
        return leaf(t, o, low); /* REX.B is the highest bit of a register's number, and no more */
    memset(&row, 0, sizeof(row));
    row.classes = f.classes;
    row.flow = f.flow;
    row.flags = flags_of(o, key, &f);
    if (o->space >= SPACE_VEX && has_vvvv(o, key, plain, &f))
        row.flags |= ROW_HAS_VVVV;
    set_registers(o, key, &plain, &f, &row);
    set_operand(&f, key, &row);
    set_implied(t, o, key, &f, &row);
    return (Pair){place_row(t, &row), place_name(t, f.mnemonic)};
}

/* -------------------------------------------------------------------------------------------------------------- diagrams */

/* Can the bit be 0 and 1, given what the lower bits are? */
static bool varies(const Opcode *o, u32 key, u32 bit) {
    bool legacy = o->space < SPACE_VEX, evex = space_is_evex(o->space);
    bool is_register = key_bit(key, KEY_REGISTER);
    switch (bit) {
    case KEY_OPERAND16:
        return legacy && key_bits(key, KEY_PP, 2) != 1;
    case KEY_ADDRESS32:
    case KEY_REX_B:
        return legacy && !o->has_modrm;
    case KEY_LENGTH:
        return !legacy;
    case KEY_LENGTH_HIGH:
    case KEY_B:
    case KEY_MASKED:
        return evex;
    case KEY_ZEROING:
        return evex && key_bit(key, KEY_MASKED);
    case KEY_RM:
    case KEY_RM + 1:
        return o->has_modrm && is_register && o->space < SPACE_EVEX;
    case KEY_RM + 2:
        return o->has_modrm && (!is_register || o->space < SPACE_EVEX);
    case KEY_REGISTER:
    case KEY_REG:
    case KEY_REG + 1:
    case KEY_REG + 2:
        return o->has_modrm;
    default:
        return true;
    }
}

static u16 node(Tables *t, u32 bit, u16 low, u16 high) {
    ViewNode n;
    if (low == high || high == NOT_USED)
        return low;
    if (low == NOT_USED)
        return high;
    memset(&n, 0, sizeof(n));
    n = (ViewNode){(u8)bit, {low, high}};
    u32 h = hash_of(n.next, sizeof(n.next)) ^ bit;
    for (; t->node_hash[h]; h = (h + 1) % HASH) {
        const ViewNode *other = &t->node[t->node_hash[h] - 1];
        if (other->bit == bit && other->next[0] == low && other->next[1] == high)
            return (u16)(VIEW_NODE + t->node_hash[h] - 1);
    }
    CHECK(t->nodes < MAX_NODES - 1, "there are more nodes than can be numbered");
    t->node[t->nodes] = n;
    t->node_hash[h] = (u16)(t->nodes + 1);
    return (u16)(VIEW_NODE + t->nodes++);
}

static Pair diagram(Tables *t, const Opcode *o, u32 key, u32 bit) {
    if (bit == KEY_BITS)
        return leaf(t, o, key);
    Pair low = diagram(t, o, key, bit + 1), high;
    if (bit == KEY_RM + 2 && !key_bit(key, KEY_REGISTER) && o->has_modrm) {
        Pair sib = diagram(t, o, key | 4u << KEY_RM, bit + 1), rip = diagram(t, o, key | 5u << KEY_RM, bit + 1);
        high = (Pair){node(t, KEY_RM, sib.row, rip.row), node(t, KEY_RM, sib.name, rip.name)};
    } else if (varies(o, key, bit)) {
        high = diagram(t, o, key | 1u << bit, bit + 1);
    } else {
        return low;
    }
    return (Pair){node(t, bit, low.row, high.row), node(t, bit, low.name, high.name)};
}

/* Prefixes, first bytes of longer opcodes, and 3DNow!, which scan.c refuses. */
static bool is_no_opcode(const Opcode *o) {
    static const u8 one[] = {0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x62, 0x64, 0x65, 0x66, 0x67, 0xc4, 0xc5, 0xf0, 0xf2, 0xf3};
    static const u8 two[] = {0x0f, 0x38, 0x3a};
    if (o->space == SPACE_ONE)
        return (o->opcode & 0xf0) == 0x40 || memchr(one, o->opcode, sizeof(one));
    return o->space == SPACE_0F && memchr(two, o->opcode, sizeof(two));
}

/* mov of control and debug registers, whose ModRM byte counts as an immediate: see scan.h. They trap. */
static Pair moves_of_control(Tables *t, u16 mnemonic) {
    ViewRow row;
    memset(&row, 0, sizeof(row));
    row.classes = CLASS_SYSTEM;
    row.flow = FLOW_STOP;
    return (Pair){place_row(t, &row), place_name(t, mnemonic)};
}

/* Only some values of ModRM make an instruction of some opcodes. */
static bool has_modrm(Opcode o) {
    X86Facts f;
    o.has_modrm = true;
    for (u32 i = 0; i < 4 << 7; i++) {
        u32 pp = i & 3, is_register = i >> 2 & 1, reg_and_rm = i >> 3;
        if (look(&o, pp << KEY_PP | is_register << KEY_REGISTER | reg_and_rm << KEY_REG, &(Probe){0}, &f) && f.modrm_at)
            return true;
    }
    return false;
}

static Pair find_opcode(Tables *t, Opcode *o) {
    if (is_no_opcode(o))
        return (Pair){0, 0};
    if (o->space == SPACE_0F && o->opcode >= 0x20 && o->opcode <= 0x23)
        return moves_of_control(t, ZYDIS_MNEMONIC_MOV);
    o->has_modrm = o->space > SPACE_0F || has_modrm(*o);
    Pair p = diagram(t, o, 0, 0);
    return (Pair){p.row, p.name == NOT_USED ? 0 : p.name};
}

/* ---------------------------------------------------------------------------------------------------------------- output */

static void put_roots(FILE *out, const char *name, const u16 root[][256]) {
    fprintf(out, "const u16 %s[SPACE_COUNT][256] = {", name);
    for (u32 i = 0; i < SPACE_COUNT * 256; i++) {
        const char *before = i % 256 ? i % 16 ? " " : "\n     " : "\n    {";
        fprintf(out, "%s%u%s", before, root[i / 256][i % 256], i % 256 == 255 ? "}," : ",");
    }
    fprintf(out, "\n};\n\n");
}

static void put_row(FILE *out, const ViewRow *r) {
    fprintf(out, "    {%u, %u, %u, %u, %u, %u, %u, %u, {%u, %u, %u}, %u, %u, %u},\n", r->classes, r->flags, r->reads,
            r->writes, r->kills, r->bytes, r->how, r->disp_shift, r->role[0], r->role[1], r->role[2], r->flow,
            r->implied, r->implied_count);
}

static void put_names(FILE *out, const Tables *t) {
    u32 at = 0;
    fprintf(out, "const char view_names[] =");
    for (u32 i = 0; i < t->names; i++)
        fprintf(out, "\n    \"%s\\0\"", ZydisMnemonicGetString(t->mnemonic[i]));
    fprintf(out, ";\n\nconst u16 view_name_at[] = {\n");
    for (u32 i = 0; i < t->names; i++) {
        fprintf(out, "    %u,\n", at);
        at += (u32)strlen(ZydisMnemonicGetString(t->mnemonic[i])) + 1;
    }
    CHECK(at < 0x10000, "the names are too long for their places' numbers");
    fprintf(out, "};\n\nconst u32 view_name_count = %u;\n", t->names);
}

static void put_tables(FILE *out, const Tables *t) {
    fprintf(out, "/* Made by view_generate.c. */\n#include \"isa/x86_64/view_tables.h\"\n\n");
    put_roots(out, "view_root", t->root);
    put_roots(out, "view_name_root", t->name_root);
    fprintf(out, "const ViewNode view_node[] = {\n");
    for (u32 i = 0; i < t->nodes; i++)
        fprintf(out, "    {%u, {%u, %u}},\n", t->node[i].bit, t->node[i].next[0], t->node[i].next[1]);
    fprintf(out, "};\n\nconst ViewRow view_row[] = {\n");
    for (u32 i = 0; i < t->rows; i++)
        put_row(out, &t->row[i]);
    fprintf(out, "};\n\nconst ViewAccess view_implied[] = {\n");
    for (u32 i = 0; i < t->implieds; i++) {
        const ViewAccess *a = &t->implied[i];
        fprintf(out, "    {%u, %u, %u, %d, %u, %d, %d},\n", a->how, a->base, a->index, a->disp, a->bytes,
                a->takes_segment, a->takes_size);
    }
    fprintf(out, "};\n\n");
    put_names(out, t);
}

int main(int argc, char **argv) {
    static Tables t;
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!out) {
        fprintf(stderr, "Usage: view-generate FILE\n");
        return 2;
    }
    t.rows = 1; /* that of no instruction */
    for (u32 space = 0; space < SPACE_COUNT; space++)
        for (u32 opcode = 0; opcode < 256; opcode++) {
            Opcode o = {.space = (u8)space, .opcode = (u8)opcode};
            Pair p = find_opcode(&t, &o);
            t.root[space][opcode] = p.row;
            t.name_root[space][opcode] = p.name;
        }
    put_tables(out, &t);
    return fclose(out) ? 1 : 0;
}
