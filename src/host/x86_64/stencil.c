/* stencil.c: which registers of x86-64 hold guest registers in stencils, and the fields of instructions that name them.
 *
 * The convention of GHC passes rbp, r12, rbx, r14, rsi, rdi, r8, r9 and r15 beside the state in r13; r10 is held, too, so that rax, rcx, rdx
 * and r11 are left for the stencils themselves. With one less, divisions and atomic instructions had to put held registers aside. For floating point,
 * xmm0 to xmm11 are held, as optimised code has them, and four are left.
 *
 * Operands are compiled to be in r8, r9 and r14, and in xmm8 to xmm11: an instruction that names one of these has a prefix, which has room for any other
 * register. Each field is tried with every register, and decoded again: what does not become the same instruction of the other register is not allowed
 * (r12 as a base wants a byte more, rbp a displacement). */
#include "host/stencil.h"

#include <Zydis/Zydis.h>
#include <elf.h>

#include "host/x86_64/parts.h"

enum { CC_GHC = 10, RBX = 3, RSP = 4, RBP = 5, RSI = 6, RDI = 7, R8 = 8, R9, R10, R11, R12, R13, R14, R15 };
enum { FIRST_FLOAT = 16, XMM0 = FIRST_FLOAT, XMM8 = XMM0 + 8 };
enum {
    HELD = 1 << RBX | 1 << RBP | 1 << RSI | 1 << RDI | 1 << R8 | 1 << R9 | 1 << R10 | 1 << R12 | 1 << R14 | 1 << R15 |
           0xfff << XMM0
};

/* One instruction. */
typedef struct Decoded {
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
} Decoded;

static bool decode(const u8 *code, size_t size, Decoded *d) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &d->in, d->ops));
}

/* The number of a register, of any width; -1 for those that are neither general nor for floating point. */
static int number_of(ZydisRegister r) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
    switch (ZydisRegisterGetClass(whole)) {
    case ZYDIS_REGCLASS_GPR64:
        return ZydisRegisterGetId(whole);
    case ZYDIS_REGCLASS_ZMM:
        return ZydisRegisterGetId(whole) < 16 ? XMM0 + ZydisRegisterGetId(whole) : -1;
    default:
        return -1;
    }
}

/* ------------------------------------------------------------------------------------------------------------- meanings */

static u32 mask_of(ZydisRegister r) {
    int number = number_of(r);
    return number < 0 ? 0 : 1u << number;
}

/* All registers that an instruction has to do with, and those that it changes, whether it names them or not. */
static u32 registers_of(const Decoded *d, bool changed) {
    u32 all = 0;
    for (u32 i = 0; i < d->in.operand_count; i++) {
        const ZydisDecodedOperand *op = &d->ops[i];
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && (!changed || op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            all |= mask_of(op->reg.value);
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && !changed)
            all |= mask_of(op->mem.base) | mask_of(op->mem.index);
    }
    return all;
}

/* Does it access memory that is not the state, the host's stack or a constant? */
static bool may_fault(const Decoded *d) {
    for (u32 i = 0; i < d->in.operand_count; i++) {
        const ZydisDecodedOperand *op = &d->ops[i];
        bool ours = op->mem.base == ZYDIS_REGISTER_R13 || op->mem.base == ZYDIS_REGISTER_RSP ||
                    op->mem.base == ZYDIS_REGISTER_RIP;
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type != ZYDIS_MEMOP_TYPE_AGEN && !ours)
            return true;
    }
    return false;
}

static bool jumps_back(const Decoded *d) {
    return d->in.raw.imm[0].is_relative && d->in.raw.imm[0].value.s < 0;
}

/* Registers that an instruction reads: what it writes as a whole is none of them. */
static u32 read_by(const Decoded *d) {
    u32 all = 0;
    for (u32 i = 0; i < d->in.operand_count; i++) {
        const ZydisDecodedOperand *op = &d->ops[i];
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
            all |= mask_of(op->reg.value);
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
            all |= mask_of(op->mem.base) | mask_of(op->mem.index);
    }
    return all;
}

enum { WALK_BYTES = 512 };
static const u32 visited = 1u << 31; /* no operand */

typedef struct Walk {
    const u8 *code;
    u32 size, operands;
    u32 changed[WALK_BYTES]; /* by place: operands that are changed on some way there, and `visited` */
    bool good;
} Walk;

/* Everything that can be reached from `at` on. The ways from one place to another are few, and each place is walked again only if more has been changed. */
static void walk(Walk *w, u32 at, u32 changed) {
    while (at < w->size && ~w->changed[at] & (changed | visited)) {
        Decoded d;
        bool good = decode(w->code + at, w->size - at, &d);
        CHECK(good, "LLVM's instructions can be decoded");
        w->changed[at] |= changed | visited;
        w->good &= !changed || !(w->operands & read_by(&d) & ~changed);
        changed |= w->operands & registers_of(&d, true);
        at += d.in.length;
        if (!d.in.raw.imm[0].is_relative || d.in.meta.category == ZYDIS_CATEGORY_CALL)
            continue;
        u32 target = at + (u32)d.in.raw.imm[0].value.s;
        if (d.in.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
            at = target;
        else
            walk(w, target, changed);
    }
}

/* Is no operand read on any way behind where another one was changed? */
static bool reads_first(const u8 *code, u32 size, u32 operands) {
    CHECK(size <= WALK_BYTES, "stencils are short");
    Walk w = {.code = code, .size = size, .operands = operands, .good = true};
    walk(&w, 0, 0);
    return w.good;
}

/* -------------------------------------------------------------------------------------------------------------- fields */

static HostField field_at(const Decoded *d, u32 at, u32 shift, u32 high_shift) {
    u32 high_at = d->in.attributes & ZYDIS_ATTRIB_HAS_VEX ? d->in.raw.vex.offset + 1u : d->in.raw.rex.offset;
    return (HostField){.at = (u8)at, .shift = (u8)shift, .high_at = (u8)high_at, .high_shift = (u8)high_shift};
}

enum { VEX_R = 7, VEX_X = 6, VEX_B = 5, REX_R = 2, REX_X = 1, REX_B = 0 };

static HostField reg_field(const Decoded *d, bool vex) {
    return field_at(d, d->in.raw.modrm.offset, 3, vex ? VEX_R : REX_R);
}

static HostField rm_field(const Decoded *d, bool vex) {
    return field_at(d, d->in.raw.modrm.offset, 0, vex ? VEX_B : REX_B);
}

static HostField base_field(const Decoded *d, bool vex) {
    bool sib = d->in.attributes & ZYDIS_ATTRIB_HAS_SIB;
    return sib ? field_at(d, d->in.raw.sib.offset, 0, vex ? VEX_B : REX_B) : rm_field(d, vex);
}

static HostField index_field(const Decoded *d, bool vex) {
    return field_at(d, d->in.raw.sib.offset, 3, vex ? VEX_X : REX_X);
}

/* The second source of an instruction with VEX: four bits of the prefix's last byte. */
static HostField vex_field(const Decoded *d) {
    u32 at = d->in.raw.vex.offset + d->in.raw.vex.size - 1u;
    return (HostField){.at = (u8)at, .shift = 3, .high_at = (u8)at, .high_shift = 6};
}

/* In the upper half of the last byte. */
static HostField last_field(const Decoded *d) {
    return (HostField){.at = (u8)(d->in.length - 1), .shift = 4, .high_at = (u8)(d->in.length - 1), .high_shift = 7};
}

/* In the opcode, which is behind the prefixes. */
static HostField opcode_field(const Decoded *d) {
    return field_at(d, d->in.raw.rex.offset + 1u + (d->in.opcode_map == ZYDIS_OPCODE_MAP_0F), 0, REX_B);
}

static bool register_field(const Decoded *d, const ZydisDecodedOperand *op, bool vex, HostField *f) {
    switch (op->encoding) {
    case ZYDIS_OPERAND_ENCODING_MODRM_REG:
        *f = reg_field(d, vex);
        return true;
    case ZYDIS_OPERAND_ENCODING_MODRM_RM:
        *f = rm_field(d, vex);
        return true;
    case ZYDIS_OPERAND_ENCODING_NDSNDD:
        *f = vex_field(d);
        return true;
    case ZYDIS_OPERAND_ENCODING_IS4:
        *f = last_field(d);
        return true;
    case ZYDIS_OPERAND_ENCODING_OPCODE:
        *f = opcode_field(d);
        return true;
    default:
        return false;
    }
}

/* -------------------------------------------------------------------------------------------------------------- trials */

static ZydisRegister renamed(ZydisRegister r, int from, int to) {
    ZydisRegisterClass class = ZydisRegisterGetClass(r);
    if (number_of(r) != from)
        return r;
    return ZydisRegisterEncode(class, (ZyanU8)(class == ZYDIS_REGCLASS_GPR8 && to >= 4 ? to + 4 : to % FIRST_FLOAT));
}

/* By rsp and rbp, addresses are in the stack's segment, which has all memory as the others have (SDM 1, 3.3.4). */
static ZydisRegister flat(ZydisRegister segment) {
    return segment == ZYDIS_REGISTER_SS ? ZYDIS_REGISTER_DS : segment;
}

/* Is `b` the operand `a` with register `to` in the place of register `from`? */
static bool same_operand(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b, int from, int to) {
    if (a->type != b->type || a->size != b->size)
        return false;
    if (a->type == ZYDIS_OPERAND_TYPE_REGISTER)
        return b->reg.value == renamed(a->reg.value, from, to);
    if (a->type == ZYDIS_OPERAND_TYPE_MEMORY)
        return b->mem.base == renamed(a->mem.base, from, to) && b->mem.index == renamed(a->mem.index, from, to) &&
               a->mem.scale == b->mem.scale && a->mem.disp.value == b->mem.disp.value &&
               flat(a->mem.segment) == flat(b->mem.segment);
    return true;
}

static bool same_but_renamed(const Decoded *a, const Decoded *b, int from, int to) {
    if (a->in.mnemonic != b->in.mnemonic || a->in.length != b->in.length ||
        a->in.operand_count != b->in.operand_count || a->in.raw.disp.size != b->in.raw.disp.size)
        return false;
    for (u32 i = 0; i < a->in.operand_count; i++)
        if (!same_operand(&a->ops[i], &b->ops[i], from, to))
            return false;
    return true;
}

static void set_field(u8 *code, const HostField *f, int difference) {
    code[f->at] ^= (u8)((difference & 7) << f->shift);
    code[f->high_at] ^= (u8)((difference >> 3) << f->high_shift);
}

/* Tries the fields of one instruction that name operand `operand`, which is register `from`, with each held register of its kind. */
static u32 allowed(const u8 *code, const Decoded *d, const HostField *fields, u32 count, u32 operand, int from) {
    u32 result = 0;
    for (int k = 0; k < FIRST_FLOAT; k++) {
        u8 copy[ZYDIS_MAX_INSTRUCTION_LENGTH] = {0};
        Decoded other;
        int to = k + from / FIRST_FLOAT * FIRST_FLOAT;
        if (!(HELD >> to & 1))
            continue;
        memcpy(copy, code, d->in.length);
        for (u32 i = 0; i < count; i++)
            if (fields[i].operand == operand)
                set_field(copy, &fields[i], from ^ to);
        if (decode(copy, sizeof(copy), &other) && same_but_renamed(d, &other, from, to))
            result |= 1u << to;
    }
    return result;
}

/* -------------------------------------------------------------------------------------------------------- instructions */

/* Registers that operands are in. */
typedef struct Operands {
    const u8 *number;
    u32 count;
} Operands;

typedef struct Search {
    HostField field[8];
    u32 count;
    const Operands *operands;
    bool failed;
} Search;

static void note(Search *s, ZydisRegister r, bool found, HostField f) {
    for (u32 i = 0; i < s->operands->count; i++)
        if (number_of(r) == s->operands->number[i]) {
            if (!found || s->count == ARRAY_LEN(s->field)) {
                s->failed = true;
                return;
            }
            f.operand = (u8)i;
            s->field[s->count++] = f;
        }
}

static void search(const Decoded *d, Search *s) {
    bool vex = d->in.attributes & ZYDIS_ATTRIB_HAS_VEX;
    for (u32 i = 0; i < d->in.operand_count; i++) {
        const ZydisDecodedOperand *op = &d->ops[i];
        HostField f = {0};
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
            bool found = register_field(d, op, vex, &f);
            note(s, op->reg.value, found, f);
        } else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            note(s, op->mem.base, true, base_field(d, vex));
            note(s, op->mem.index, true, index_field(d, vex));
        }
    }
}

static bool same_field(const HostField *a, const HostField *b) {
    return a->at == b->at && a->shift == b->shift;
}

/* An operand that is read and written by one field is listed twice by the decoder. */
static void drop_doubles(Search *s) {
    u32 kept = 0;
    for (u32 i = 0; i < s->count; i++) {
        bool known = false;
        for (u32 k = 0; k < kept; k++)
            known |= same_field(&s->field[k], &s->field[i]);
        if (!known)
            s->field[kept++] = s->field[i];
    }
    s->count = kept;
}

/* The fields of the instruction at `at`. */
static bool add_fields(const u8 *code, u32 at, const Decoded *d, const Operands *operands, HostFields *f) {
    Search s = {.operands = operands};
    search(d, &s);
    drop_doubles(&s);
    for (u32 i = 0; i < s.count; i++)
        s.field[i].allowed =
            allowed(code + at, d, s.field, s.count, s.field[i].operand, operands->number[s.field[i].operand]);
    for (u32 i = 0; i < s.count; i++) {
        HostField *field = &s.field[i];
        field->at += (u8)at, field->high_at += (u8)at;
        VEC_PUSH(&f->list, *field);
    }
    return !s.failed;
}

/* Registers for floating point that are on the host's stack, unchanged, and where. */
typedef struct Spills {
    u32 spilled;
    i64 at[FIRST_FLOAT];
} Spills;

static bool is_on_stack(const ZydisDecodedOperand *op) {
    return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RSP;
}

/* A move of 128 bits between a register and the host's stack. */
static bool moves_whole(const Decoded *d) {
    switch (d->in.mnemonic) {
    case ZYDIS_MNEMONIC_VMOVUPS:
    case ZYDIS_MNEMONIC_VMOVUPD:
    case ZYDIS_MNEMONIC_VMOVDQU:
        return d->ops[0].size == 128 && is_on_stack(&d->ops[0]) != is_on_stack(&d->ops[1]);
    default:
        return false;
    }
}

/* What lies where this instruction writes to the stack is no spilled register any more. */
static void forget_overwritten(Spills *s, const Decoded *d) {
    enum { BYTES = 16 };
    for (u32 i = 0; i < d->in.operand_count; i++) {
        const ZydisDecodedOperand *op = &d->ops[i];
        if (!is_on_stack(op) || !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        for (u32 k = 0; k < FIRST_FLOAT; k++)
            if (op->mem.index != ZYDIS_REGISTER_NONE ||
                (op->mem.disp.value < s->at[k] + BYTES && op->mem.disp.value + op->size / 8 > s->at[k]))
                s->spilled &= ~(1u << (XMM0 + k));
    }
}

/* The registers that are as they were at the beginning again behind this instruction: LLVM has put them on the stack, and takes them from there. */
static u32 restored_by(Spills *s, const Decoded *d, u32 changed) {
    if (d->in.raw.imm[0].is_relative ||
        number_of(d->ops[0].reg.value) == RSP) /* there may be another way here, or another place at a distance */
        s->spilled = 0;
    forget_overwritten(s, d);
    if (!moves_whole(d))
        return 0;
    bool stores = is_on_stack(&d->ops[0]);
    u32 reg = mask_of(d->ops[stores].reg.value), k = (u32)number_of(d->ops[stores].reg.value) - XMM0;
    i64 at = d->ops[!stores].mem.disp.value;
    if (stores && !(changed & reg)) {
        s->spilled |= reg;
        s->at[k] = at;
    }
    return !stores && s->spilled & reg && s->at[k] == at ? reg : 0;
}

static void find_fields(const u8 *code, u32 size, const u8 *numbers, u32 count, HostFields *f) {
    u32 ours = 0, changed = 0, ever = 0, changed_before = 0;
    bool back = false, faults = false;
    Spills spills = {0};
    const Operands operands = {numbers, count};
    for (u32 i = 0; i < count; i++)
        ours |= 1u << numbers[i];
    Decoded d;
    f->renamable = true;
    for (u32 at = 0; at < size; at += d.in.length) {
        bool good = decode(code + at, size - at, &d);
        CHECK(good, "LLVM's instructions can be decoded");
        if (may_fault(&d))
            faults = true, changed_before |= changed;
        back |= jumps_back(&d);
        f->named |= registers_of(&d, false);
        f->renamable &= !(registers_of(&d, false) & HELD & ~ours) && add_fields(code, at, &d, &operands, f);
        u32 restored = restored_by(&spills, &d, changed);
        ever |= registers_of(&d, true);
        changed = (changed | registers_of(&d, true)) & ~restored;
    }
    if (faults && back) /* each access may come after each change */
        changed_before = ever;
    f->renamable &= !(changed_before & ours);
    f->exact = !(changed_before & HELD & ~ours);
    f->reads_first = !count || reads_first(code, size, ours);
}

/* ------------------------------------------------------------------------------------------------------------ objects */

static bool patch(u32 type, HostPatch *p) {
    switch (type) {
    case R_X86_64_64:
        *p = (HostPatch){8, false, true};
        return true;
    case R_X86_64_32:
    case R_X86_64_32S:
        *p = (HostPatch){4, false, false};
        return true;
    case R_X86_64_8:
        *p = (HostPatch){1, false, false};
        return true;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        *p = (HostPatch){4, true, false};
        return true;
    default:
        return false;
    }
}

enum { DISTANCE_BYTES = 4 };

static void write_patch(u8 *w, u64 at, u32 how, bool is_near, u64 value) {
    u64 v = is_near ? value - at - DISTANCE_BYTES : value;
    memcpy(w, &v, how);
}

enum { JUMP = 0xe9, JUMP_BYTES = 5, BRANCH = 0x0f, BRANCH_BYTES = 6 };

static void put_jump(u8 *w, u64 at, u64 to) {
    w[0] = JUMP;
    write_patch(w + 1, at + 1, DISTANCE_BYTES, true, to);
}

static bool ends_with_jump(const u8 *code, u32 size) {
    return size >= JUMP_BYTES && code[size - JUMP_BYTES] == JUMP;
}

static bool invert_branch(u8 *code, u32 size) {
    if (size < BRANCH_BYTES || code[size - BRANCH_BYTES] != BRANCH)
        return false;
    code[size - BRANCH_BYTES + 1] ^= 1;
    return true;
}

static const char *const taken[] = {"r10", NULL};
static const char *const floats[] = {"xmm0", "xmm1", "xmm2", "xmm3",  "xmm4",  "xmm5", "xmm6",
                                     "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", NULL};
static const char *const options[] = {NULL};
static const char *const arguments[] = {"rcx", "rdx", "r11", "rax", NULL};

const HostStencil x86_64_stencil = {
    .cc = CC_GHC,
    .passed = 9,
    .taken = taken,
    .floats = floats,
    .free_floats = "~{xmm12},~{xmm13},~{xmm14},~{xmm15}",
    .state = "r13",
    .address = "rax",
    .call = "callq ${1:P}",
    .arguments = arguments,
    .call_clobbers = "~{memory},~{flags}",
    .result = "rax",
    /* Any locked instruction is a fence for memory that is cached as usual, and takes an eighth of mfence's time. */
    .fence = "lock orl $$0, -64(%rsp)",
    .fence_clobbers = "~{memory},~{flags}",
    .copy = "movq $1, $0",
    .held = HELD,
    .first_float = FIRST_FLOAT,
    .general = {R8, R9, R14},
    .passed_as = {6, 7, 3},
    .general_name = {"r8", "r9", "r14"},
    .float_count = STENCIL_FLOATS,
    .flt = {XMM8, XMM8 + 1, XMM8 + 2, XMM8 + 3},
    .float_as = {8, 9, 10, 11},
    .stack_align = 8, /* guest calls push one word each */
    .options = options,
    .patch = patch,
    .distance_bias = DISTANCE_BYTES,
    .write = write_patch,
    .jump_bytes = JUMP_BYTES,
    .put_jump = put_jump,
    .ends_with_jump = ends_with_jump,
    .invert_branch = invert_branch,
    .fields = find_fields,
};
