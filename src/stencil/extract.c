/* extract.c: a function of an object becomes a stencil: its relocations are patches.
 *
 * What is not of the few kinds that holder.c lets LLVM make is our fault, and stops the build. The jump to what follows is left out
 * at the end, and leads there from elsewhere. */
#include "stencil/extract.h"

#include <elf.h>
#include <stdlib.h>

#include "host/host.h"
#include "isa/form.h"
#include "stencil/holder.h"

static const Elf64_Ehdr *header(const Extract *x) {
    return (const Elf64_Ehdr *)x->object;
}

static const Elf64_Shdr *section(const Extract *x, u32 index) {
    return (const Elf64_Shdr *)(x->object + header(x)->e_shoff) + index;
}

static const Elf64_Shdr *find_section(const Extract *x, u32 type, u32 info) {
    for (u32 i = 1; i < header(x)->e_shnum; i++)
        if (section(x, i)->sh_type == type && (type != SHT_RELA || section(x, i)->sh_info == info))
            return section(x, i);
    CHECK(false, "an object without the section that is looked for");
}

static const Elf64_Sym *symbols(const Extract *x) {
    return (const Elf64_Sym *)(x->object + find_section(x, SHT_SYMTAB, 0)->sh_offset);
}

static const char *name_of(const Extract *x, const Elf64_Sym *s) {
    return (const char *)x->object + section(x, find_section(x, SHT_SYMTAB, 0)->sh_link)->sh_offset + s->st_name;
}

static const Elf64_Sym *find_symbol(const Extract *x, const char *name) {
    u64 count = find_section(x, SHT_SYMTAB, 0)->sh_size / sizeof(Elf64_Sym);
    for (u64 i = 0; i < count; i++)
        if (ELF64_ST_TYPE(symbols(x)[i].st_info) == STT_FUNC && !strcmp(name_of(x, &symbols(x)[i]), name))
            return &symbols(x)[i];
    CHECK(false, "an object without a function that was compiled");
}

void extract_begin(Extract *x, const HostStencil *host, const void *object) {
    *x = (Extract){.host = host, .object = object};
    x->constant_off = mem_new(sizeof(u32) * header(x)->e_shnum);
}

/* ------------------------------------------------------------------------------------------------------------- patches */

static bool begins(const char *name, const char *start, u32 *number) {
    size_t len = strlen(start);
    if (strncmp(name, start, len))
        return false;
    *number = (u32)atoi(name + len);
    return true;
}

static bool is_address(const Operand *op) {
    return op->kind == OPERAND_IMM || (op->kind == OPERAND_MEM && op->base == REG_PC);
}

/* Which of the instruction's addresses is it, as a distance from the instruction? */
static StencilPatch address_patch(const Insn *in, i64 distance) {
    if (distance == 0)
        return (StencilPatch){.kind = PATCH_PC};
    if (distance == in->size)
        return (StencilPatch){.kind = PATCH_NEXT};
    if (in->target && distance == (i64)in->target)
        return (StencilPatch){.kind = PATCH_TARGET};
    for (u32 i = 0; i < in->operand_count; i++)
        if (is_address(&in->op[i]) && in->op[i].disp == distance)
            return (StencilPatch){.kind = form_is_absolute(in, i) ? PATCH_IMMEDIATE : PATCH_PC_IMMEDIATE, .arg = i};
    CHECK(false, "an address that is none of the instruction's");
}

static u32 helper_number(Extract *x, const char *name) {
    bool with_state = !strncmp(name, WITH_STATE, strlen(WITH_STATE));
    StencilHelper helper = {with_state ? name + strlen(WITH_STATE) : name, with_state};
    for (size_t i = 0; i < x->helpers.len; i++)
        if (!strcmp(x->helpers.at[i].name, helper.name))
            return (u32)i;
    VEC_PUSH(&x->helpers, helper);
    return (u32)x->helpers.len - 1;
}

static u32 constants_of(Extract *x, u32 index) {
    const Elf64_Shdr *s = section(x, index);
    CHECK(!(s->sh_flags & (SHF_WRITE | SHF_EXECINSTR)) && s->sh_addralign <= STENCIL_CONSTANTS_ALIGN,
          "a stencil refers to constants and symbols only");
    if (!x->constant_off[index]) {
        while (x->constants.len % STENCIL_CONSTANTS_ALIGN)
            VEC_PUSH(&x->constants, 0);
        x->constant_off[index] = (u32)x->constants.len + 1;
        for (u64 i = 0; i < s->sh_size; i++)
            VEC_PUSH(&x->constants, x->object[s->sh_offset + i]);
    }
    return x->constant_off[index] - 1;
}

static bool go_patch(const char *name, StencilPatch *p) {
    static const struct {
        const char *name;
        PatchKind kind;
    } all[] = {{GO_TARGET, PATCH_JUMP},
               {GO_CALL, PATCH_CALL},
               {GO_LOOKUP, PATCH_LOOKUP},
               {GO_LOOKUP_CALL, PATCH_LOOKUP_CALL},
               {GO_LOOKUP_RETURN, PATCH_LOOKUP_RETURN},
               {GO_TRAP, PATCH_TRAP}};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (!strcmp(all[i].name, name)) {
            p->kind = (u8)all[i].kind;
            return true;
        }
    return false;
}

static bool is_immediate(const char *name, u32 *number) {
    return begins(name, HOLE_IMMEDIATE, number) || begins(name, HOLE_LOW, number) || begins(name, HOLE_COUNT, number) ||
           begins(name, HOLE_WIDE, number);
}

static StencilPatch hole_patch(const Insn *in, const char *name, i64 addend) {
    u32 number = 0;
    if (begins(name, HOLE_PC, &number))
        return address_patch(in, addend);
    bool place = begins(name, HOLE_PLACE, &number);
    CHECK(place || is_immediate(name, &number), "a hole of unknown kind");
    CHECK(addend >= INT8_MIN && addend <= INT8_MAX, "parts of registers are near");
    return (StencilPatch){.kind = place ? PATCH_PLACE : PATCH_IMMEDIATE, .addend = (i8)addend, .arg = number};
}

static StencilPatch far_patch(Extract *x, const Elf64_Sym *s, i64 addend) {
    StencilPatch p = {0};
    if (s->st_shndx != SHN_UNDEF) {
        p.kind = PATCH_CONSTANT;
        p.arg = constants_of(x, s->st_shndx) + (u32)((i64)s->st_value + addend + x->host->distance_bias);
        return p;
    }
    CHECK(addend == -(i64)x->host->distance_bias, "a jump leads to a symbol");
    if (!go_patch(name_of(x, s), &p)) {
        p.kind = PATCH_HELPER;
        p.arg = helper_number(x, name_of(x, s));
    }
    return p;
}

enum { NEXT = 0xff /* in place of a PatchKind: to what follows */ };

static StencilPatch patch_of(Extract *x, const Insn *in, const Elf64_Rela *r) {
    const Elf64_Sym *s = &symbols(x)[ELF64_R_SYM(r->r_info)];
    HostPatch host;
    bool known = x->host->patch(ELF64_R_TYPE(r->r_info), &host);
    CHECK(known, "a relocation that stencils are not made for");
    if (!strcmp(name_of(x, s), GO_NEXT))
        return (StencilPatch){.kind = NEXT, .how = host.how};
    StencilPatch p = host.is_near ? far_patch(x, s, r->r_addend) : hole_patch(in, name_of(x, s), r->r_addend);
    p.how = host.how;
    CHECK(host.is_wide || p.kind < PATCH_PC || p.kind > PATCH_PC_IMMEDIATE, "a guest address has 64 bits");
    return p;
}

/* Patches are in the order of the code. What is between the members is 0, as everywhere in a Piece. False: they are too many. */
static bool insert_patch(Piece *p, const StencilPatch *patch) {
    if (p->patches == PIECE_PATCHES)
        return false;
    u32 i = p->patches++;
    for (; i && p->patch[i - 1].at > patch->at; i--)
        p->patch[i] = p->patch[i - 1];
    StencilPatch *to = &p->patch[i];
    memset(to, 0, sizeof(*to));
    to->at = patch->at, to->kind = patch->kind, to->how = patch->how, to->addend = patch->addend, to->arg = patch->arg;
    return true;
}

/* ----------------------------------------------------------------------------------------------------------------- ends */

static bool is_jump(const Piece *p, u32 patch, u32 kind, u32 end) {
    return patch < p->patches && p->patch[patch].kind == kind && p->patch[patch].at + 4u == end;
}

/* The last jump is the one to what follows, if that can be had. */
static void trim(const HostStencil *host, Piece *p) {
    u32 last = p->patches - 1, before = p->size - host->jump_bytes;
    if (is_jump(p, last, NEXT, p->size) && host->ends_with_jump(p->code, p->size)) {
        p->size = before;
        p->patches--;
    } else if (is_jump(p, last, PATCH_JUMP, p->size) && is_jump(p, last - 1, NEXT, before) &&
               host->invert_branch(p->code, before)) {
        p->patch[last - 1].kind = PATCH_JUMP;
        p->size = before;
        p->patches--;
    }
}

static void settle_next(const HostStencil *host, Piece *p) {
    u32 kept = 0;
    for (u32 i = 0; i < p->patches; i++) {
        StencilPatch *q = &p->patch[i];
        if (q->kind == NEXT)
            host->write(p->code + q->at, q->at, q->how, true, p->size);
        else
            p->patch[kept++] = *q;
    }
    p->patches = kept;
}

/* -------------------------------------------------------------------------------------------------------------- places */

/* Places that the host has in its own way. False: they are too many. */
static bool add_places(const HostStencil *host, Piece *p) {
    HostPlace place;
    for (u32 at = 0; host->place_mark && at < p->size; at += 4) {
        if (!host->place(p->code + at, &place))
            continue;
        StencilPatch patch = {(u16)at, PATCH_PLACE, place.how, (i8)place.addend, place.operand};
        if (!insert_patch(p, &patch))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- fields */

/* The operand that comes first of those that are this register. */
static u32 operand_with(const Insn *in, Reg r) {
    u32 i = 0;
    while (form_register(&in->op[i]) != r)
        i++;
    return i;
}

/* Or may it: what writes registers and branches to itself is a step of a copy, whose addresses are plain registers. */
static bool accesses_memory(const Insn *in) {
    bool found = in->flow == FLOW_BRANCH;
    for (u32 i = 0; i < in->operand_count; i++)
        found |= in->op[i].kind == OPERAND_MEM;
    return found;
}

static bool find_fields(const HostStencil *host, const Insn *in, const Held *held, Piece *p) {
    const u64 generals = ((u64)1 << host->first_float) - 1;
    HostFields f = {0};
    if (held->count && p->size > UINT8_MAX)
        return false;
    host->fields(p->code, p->size, held->number, held->count, &f);
    p->distinct = !f.reads_first;
    CHECK(held->floats || !(f.named & host->held & ~generals),
          "code without floating point leaves its registers alone");
    bool fits = f.list.len <= PIECE_FIELDS;
    for (size_t i = 0; fits && i < f.list.len; i++) {
        HostField field = f.list.at[i];
        CHECK(in->flow == FLOW_NEXT || field.allowed == (host->held & generals),
              "what jumps does so with its operands in any registers");
        p->field[p->fields++] =
            (StencilField){field, held->number[field.operand], (u8)operand_with(in, held->reg[field.operand])};
    }
    /* Held registers are as the guest has them wherever an access may fault: LLVM puts some aside where it has too few others. */
    bool good = fits && (f.renamable || !held->count) && (f.exact || !accesses_memory(in));
    VEC_FREE(&f.list);
    return good;
}

static u32 count_sites(const Piece *p) {
    u32 sites = 0;
    for (u32 i = 0; i < p->patches; i++)
        sites += p->patch[i].kind == PATCH_JUMP || p->patch[i].kind == PATCH_CALL;
    return sites;
}

bool extract_piece(Extract *x, const char *name, const Insn *in, const Held *held, Piece *piece) {
    const Elf64_Sym *f = find_symbol(x, name);
    const Elf64_Shdr *text = section(x, f->st_shndx), *rela = find_section(x, SHT_RELA, f->st_shndx);
    if (f->st_size > PIECE_BYTES)
        return false;
    *piece = (Piece){.size = (u32)f->st_size};
    memcpy(piece->code, x->object + text->sh_offset + f->st_value, f->st_size);
    const Elf64_Rela *r = (const Elf64_Rela *)(x->object + rela->sh_offset), *end = r + rela->sh_size / sizeof(*r);
    for (; r < end; r++) {
        if (r->r_offset - f->st_value >= f->st_size)
            continue;
        StencilPatch p = patch_of(x, in, r);
        p.at = (u16)(r->r_offset - f->st_value);
        if (!insert_patch(piece, &p))
            return false;
    }
    trim(x->host, piece);
    settle_next(x->host, piece);
    if (!add_places(x->host, piece))
        return false;
    CHECK(count_sites(piece) <= 1, "a stencil has one jump to the target of its instruction");
    return find_fields(x->host, in, held, piece);
}
