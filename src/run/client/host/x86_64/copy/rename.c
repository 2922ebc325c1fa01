/* rename.c: instructions of a tool's function with other registers than the compiler has chosen, so that a copy between the program's instructions
 * uses those that the program can spare.
 *
 * An instruction names registers in ModRM, in SIB or in its opcode. Those that it uses without naming them are pinned: they stay. When a function is
 * looked at for the first time, each instruction is checked: after renaming, the decoder has to say the same of it as of the original, with the
 * registers' names exchanged. */
#include "run/client/host/x86_64/copy/encode.h"

enum { ESCAPE = 0x0f, NONE = -1, SIB = 4, NO_BASE = 5, DIRECT = 3 };

/* The parts of an instruction that name registers. */
typedef struct Fields {
    u32 escape_at;   /* where the opcode begins, with its escape byte */
    bool in_opcode;  /* the opcode's lowest three bits are a register, whose number is in rm */
    bool has_reg;    /* the middle field of ModRM is a register, whose number is in reg */
    bool is_source;  /* that register is only read, and a constant could stand in its place */
    bool is_memory;  /* ModRM has an operand in memory: */
    bool relative;   /* relative to the instruction, or */
    i32 base, index; /* by these registers; NONE: there is none */
    u32 scale;       /* as it is encoded */
    i32 disp;
    u32 reg, rm; /* numbers of registers */
    u32 tail_at; /* where the immediate operand begins */
} Fields;

/* ------------------------------------------------------------------------------------------------------------- reading */

static bool is_prefix(u8 byte) {
    return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0xf0;
}

/* True if the middle field of ModRM is a part of the opcode, and no register. */
static bool is_digit(const u8 *text, const Shape *s, const Fields *f) {
    u8 op = s->opcode;
    if (text[f->escape_at] == ESCAPE)
        return op == 0xba || (op & 0xf0) == 0x90;
    return op == 0x80 || op == 0x81 || op == 0x83 || op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7 ||
           (op & 0xfc) == 0xd0 || op == 0xf6 || op == 0xf7 || op >= 0xfe;
}

static void read_memory(const u8 *text, const Shape *s, Fields *f) {
    const u8 *at = text + s->modrm_at;
    u8 mod = *at >> 6, rm = *at & 7, sib = rm == SIB ? at[1] : 0;
    at += rm == SIB ? 2 : 1;
    f->base = rm | (s->rex & REX_B ? 8 : 0);
    if (rm == SIB) {
        u32 index = (sib >> 3 & 7) | (s->rex & REX_X ? 8u : 0);
        f->base = (sib & 7) | (s->rex & REX_B ? 8 : 0);
        f->index = index == SIB ? NONE : (i32)index;
        f->scale = sib >> 6;
    }
    f->relative = !mod && rm == NO_BASE;
    bool bare = !mod && (f->base & 7) == NO_BASE;
    if (bare)
        f->base = NONE;
    u32 bytes = mod == 1 ? 1 : mod == 2 || bare ? 4 : 0;
    if (bytes == 1)
        f->disp = (i8)*at;
    else if (bytes)
        memcpy(&f->disp, at, 4);
    f->tail_at = (u32)(at + bytes - text);
}

enum { MOV = 0x89, MOV_CONSTANT = 0xc7, ADD = 0x01, ADD_CONSTANT = 0x81, ADD_SMALL = 0x83, OPERAND16 = 0x66 };

/* mov, add, or, and, sub, xor and cmp of a register to an operand. */
static bool can_have_constant(const u8 *text, const Shape *s, const Fields *f) {
    for (u32 i = 0; i < f->escape_at; i++)
        if (text[i] == OPERAND16)
            return false;
    bool arithmetic = (s->opcode & 0xc7) == ADD && s->opcode >> 3 != 2 && s->opcode >> 3 != 3;
    return text[f->escape_at] != ESCAPE && (s->opcode == MOV || arithmetic);
}

static void read_modrm(const u8 *text, const Shape *s, Fields *f) {
    u8 modrm = text[s->modrm_at];
    f->has_reg = !is_digit(text, s, f);
    f->is_source = can_have_constant(text, s, f);
    f->reg = (modrm >> 3 & 7) | (f->has_reg && s->rex & REX_R ? 8u : 0);
    f->is_memory = modrm >> 6 != DIRECT;
    f->rm = (modrm & 7) | (s->rex & REX_B ? 8u : 0);
    f->tail_at = s->modrm_at + 1u;
    if (f->is_memory)
        read_memory(text, s, f);
}

static bool names_in_opcode(const u8 *text, const Fields *f, u8 op) {
    return text[f->escape_at] == ESCAPE ? (op & 0xf8) == 0xc8 : (op & 0xf0) == 0xb0;
}

/* The instruction to be renamed. Short forms with a constant that work on rax without naming it are replaced by the long form, which names it. */
typedef struct Long {
    u8 text[SHAPE_BYTES + 1];
    Shape shape;
} Long;

enum { WITH_RAX = 0x05, TEST_RAX = 0xa9, TEST_CONSTANT = 0xf7 };

static void lengthen(const u8 *text, const Shape *s, Long *l) {
    bool arithmetic = !s->modrm_at && (s->opcode & 0xc7) == WITH_RAX, test = !s->modrm_at && s->opcode == TEST_RAX;
    bool escaped = s->opcode_at && text[s->opcode_at - 1] == ESCAPE;
    u32 op = s->opcode_at, rest = s->length - op - 1u;
    memcpy(l->text, text, s->length);
    l->shape = *s;
    if (s->kind != SHAPE_PLAIN || s->vector || escaped || !(arithmetic || test))
        return;
    l->text[op] = test ? TEST_CONSTANT : ADD_CONSTANT;
    l->text[op + 1] = (u8)(DIRECT << 6 | (test ? 0 : s->opcode & 0x38));
    memcpy(l->text + op + 2, text + op + 1, rest);
    CHECK(shape_of(l->text, s->length + 1u, &l->shape), "the long form is an instruction, too");
}

/* Returns false if the instruction's form is not known here. */
static bool read_fields(const u8 *text, const Shape *s, Fields *f) {
    *f = (Fields){.base = NONE, .index = NONE, .tail_at = s->opcode_at + 1u};
    while (is_prefix(text[f->escape_at]))
        f->escape_at++;
    f->escape_at += s->rex ? 1 : 0;
    if (s->kind != SHAPE_PLAIN || s->vector || s->opcode_at - f->escape_at != (text[f->escape_at] == ESCAPE))
        return false;
    if (s->modrm_at)
        read_modrm(text, s, f);
    else if (names_in_opcode(text, f, s->opcode)) {
        f->in_opcode = true;
        f->rm = (s->opcode & 7) | (s->rex & REX_B ? 8u : 0);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- writing */

static u32 rename_one(const Names *n, i32 reg) {
    return n->to[reg & 15];
}

static u8 *write_memory(u8 *at, u32 reg, const Fields *f, const Names *n) {
    u32 index = f->index == NONE ? SIB : rename_one(n, f->index) & 7;
    bool folded = f->base != NONE && n->folded >> f->base & 1;
    i32 disp = f->disp + (folded ? n->at[f->base] : 0);
    if (f->base == NONE || folded) {
        *at++ = (u8)(reg << 3 | (f->relative ? NO_BASE : SIB));
        if (!f->relative)
            *at++ = (u8)(f->scale << 6 | index << 3 | NO_BASE);
        memcpy(at, &disp, 4);
        return at + 4;
    }
    u32 base = rename_one(n, f->base) & 7;
    bool sib = f->index != NONE || base == SIB, none = !disp && base != NO_BASE, small = disp == (i8)disp;
    *at++ = (u8)((none ? 0 : small ? 0x40 : 0x80) | reg << 3 | (sib ? SIB : base));
    if (sib)
        *at++ = (u8)(f->scale << 6 | index << 3 | base);
    u32 bytes = none ? 0 : small ? 1 : 4;
    memcpy(at, &disp, bytes);
    return at + bytes;
}

/* True if the instruction may work on bytes of registers. For registers 4 to 7 it needs a REX prefix then, because it would name ah, ch, dh and bh
 * without one. */
static bool may_name_bytes(const u8 *text, const Shape *s, const Fields *f) {
    bool escaped = text[f->escape_at] == ESCAPE;
    return escaped || !(s->opcode & 1) || (s->opcode & 0xf0) == 0xb0;
}

static u8 rex_of(const u8 *text, const Shape *s, const Fields *f, const Names *n, u32 reg, u32 rm) {
    bool folded = f->base != NONE && n->folded >> f->base & 1;
    u32 base = f->is_memory ? (f->base == NONE || folded ? 0 : rename_one(n, f->base)) : rm;
    u32 index = f->index == NONE ? 0 : rename_one(n, f->index);
    u8 rex =
        (u8)((s->rex & REX_W) | (f->has_reg && reg & 8 ? REX_R : 0) | (index & 8 ? REX_X : 0) | (base & 8 ? REX_B : 0));
    bool low = may_name_bytes(text, s, f) && ((f->has_reg && reg > 3) || (!f->is_memory && rm > 3));
    return rex || low ? REX | rex : 0;
}

/* The same instruction with a constant instead of a register: returns its opcode, and in `f` what else is different. */
static u8 with_constant(const Shape *s, Fields *f, i32 constant) {
    f->has_reg = false;
    f->reg = s->opcode == MOV ? 0 : s->opcode >> 3;
    return s->opcode == MOV ? MOV_CONSTANT : constant == (i8)constant ? ADD_SMALL : ADD_CONSTANT;
}

static u32 write_registers(const u8 *text, const Shape *s, const Fields *f, const Names *n, u8 out[RENAME_BYTES]) {
    u8 *at = out;
    bool uses_rm = (s->modrm_at && !f->is_memory) || f->in_opcode;
    u32 reg = f->has_reg ? rename_one(n, (i32)f->reg) : f->reg, rm = uses_rm ? rename_one(n, (i32)f->rm) : 0;
    if (f->base != NONE && n->folded & n->in_thread & (u32)1 << f->base)
        *at++ = GS;
    for (u32 i = 0; i < f->escape_at; i++)
        if (!s->rex || i + 1 < f->escape_at)
            *at++ = text[i];
    u8 rex = rex_of(text, s, f, n, reg, rm);
    if (rex)
        *at++ = rex;
    for (u32 i = f->escape_at; i <= s->opcode_at; i++)
        *at++ = text[i];
    if (f->in_opcode)
        at[-1] = (u8)((at[-1] & ~7) | (rm & 7));
    if (f->is_memory)
        at = write_memory(at, reg & 7, f, n);
    else if (s->modrm_at)
        *at++ = (u8)(DIRECT << 6 | (reg & 7) << 3 | (rm & 7));
    memcpy(at, text + f->tail_at, s->length - f->tail_at);
    return (u32)(at - out) + s->length - f->tail_at;
}

static u32 write_constant(const u8 *text, const Shape *s, const Fields *f, const Names *n, u8 out[RENAME_BYTES]) {
    u8 other[SHAPE_BYTES];
    Fields fields = *f;
    i32 constant = n->at[f->reg];
    memcpy(other, text, s->length);
    other[s->opcode_at] = with_constant(s, &fields, constant);
    u32 size = write_registers(other, s, &fields, n, out), bytes = other[s->opcode_at] == ADD_SMALL ? 1 : 4;
    memcpy(out + size, &constant, bytes);
    return size + bytes;
}

static u32 write_named(const u8 *text, const Shape *s, const Fields *f, const Names *n, u8 out[RENAME_BYTES]) {
    bool known = f->is_source && n->folded >> f->reg & 1;
    return (known ? write_constant : write_registers)(text, s, f, n, out);
}

bool rename_is_word(const u8 *text, const Shape *s, RenameWord *word) {
    enum { MOV_FROM = 0x8b };
    Fields f;
    if (!(s->rex & REX_W) || !read_fields(text, s, &f) || text[f.escape_at] == ESCAPE || !f.is_memory || f.relative)
        return false;
    if ((s->opcode != MOV && s->opcode != MOV_FROM) || f.base == NONE || f.index != NONE)
        return false;
    *word = (RenameWord){.stores = s->opcode == MOV, .reg = f.reg, .base = (u32)f.base, .disp = f.disp};
    return true;
}

u32 rename_insn(const u8 *text, const Shape *s, const Names *n, u8 out[RENAME_BYTES]) {
    Fields f;
    Long l;
    lengthen(text, s, &l);
    CHECK(read_fields(l.text, &l.shape, &f), "the instruction was looked at before");
    return write_named(l.text, &l.shape, &f, n, out);
}

/* ------------------------------------------------------------------------------------------------------------- looking */

static u32 renamed_set(u32 set, const Names *n) {
    u32 other = 0;
    for (u32 r = 0; r < 16; r++)
        other |= set >> r & 1 ? (u32)1 << n->to[r] : 0;
    return other;
}

/* True if the decoder says the same of both instructions, with the names exchanged. */
static bool is_same(const InsnView *a, const InsnView *b, const Names *n) {
    bool memory = a->access_count == b->access_count;
    for (u32 i = 0; memory && i < a->access_count; i++)
        memory = a->access[i].at.bits == b->access[i].at.bits && a->access[i].at.scale == b->access[i].at.scale &&
                 (a->access[i].at.base == REG_PC || a->access[i].at.disp == b->access[i].at.disp);
    return memory && a->opcode == b->opcode && renamed_set(a->reads, n) == b->reads &&
           renamed_set(a->writes, n) == b->writes && renamed_set(a->kills, n) == b->kills;
}

/* Renames the instruction, by exchanging registers whose numbers differ in one bit (except for the stack pointer and pinned ones), and compares the
 * two as above. */
static bool try_names(const u8 *text, const Shape *s, const Fields *f, const InsnView *v, u32 pinned, u32 differ) {
    Names n = {0};
    u8 out[RENAME_BYTES];
    InsnView other;
    for (u32 r = 0; r < 16; r++)
        n.to[r] =
            (u8)(r == RSP || (r ^ differ) == RSP || (pinned >> r & 1) || (pinned >> (r ^ differ) & 1) ? r : r ^ differ);
    u32 size = write_named(text, s, f, &n, out);
    return insn_view(out, size, (u64)text, &other) && other.size == size && is_same(v, &other, &n);
}

bool rename_look(const u8 *insn, const Shape *shape, const InsnView *v, RenameUses *uses) {
    Fields f;
    Long l;
    lengthen(insn, shape, &l);
    const u8 *text = l.text;
    const Shape *s = &l.shape;
    if (!read_fields(text, s, &f))
        return false;
    u32 reg = f.has_reg ? (u32)1 << f.reg : 0, named = f.is_source ? 0 : reg,
        base = f.base == NONE ? 0 : (u32)1 << f.base;
    named |= (s->modrm_at && !f.is_memory) || f.in_opcode ? (u32)1 << f.rm : 0;
    named |= f.index == NONE ? 0 : (u32)1 << f.index;
    u32 pinned = (v->reads | v->writes) & ~(named | reg | base);
    if ((named | reg | base) & ~(v->reads | v->writes))
        return false;
    uses->pinned |= pinned;
    uses->named |= named;
    uses->indexes |= f.index == NONE ? 0 : (u32)1 << f.index;
    uses->sources |= f.is_source ? reg : 0;
    return try_names(text, s, &f, v, pinned, 8) && try_names(text, s, &f, v, pinned, 1);
}
