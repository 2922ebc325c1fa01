/* function.c: see function.h.
 *
 * r15 has the buffer, r14 and r13 count loops; all other registers and the frame are set up from parameters and the buffer, then
 * random instructions of all forms work on them, with branches, loops and calls around them. Flags that the manual leaves undefined are
 * not read. In the end all registers go into the buffer. */
#include "function.h"

#include <Zydis/Zydis.h>

#include "lathe/lift.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };
enum { FRAME_BYTES = 0x88, FRAME_SLOTS = 12, ATTEMPTS = 40, MAX_DEPTH = 2, MAX_BODY = 30, ROOM = 400 };

static const u8 int_regs[MAX_INTS] = {RSI, RDX, RCX, R8, R9};
static const u8 saved[] = {RBX, RBP, R12, R13, R14, R15};
static const u8 loop_reg[MAX_DEPTH] = {R14, R13};

typedef struct Draft {
    Rng *r;
    const FunctionOptions *o;
    ZydisDecoder decoder;
    u64 pc;
    u8 *code;
    size_t size;
    u32 undefined; /* flags */
    u32 depth;     /* of loops */
} Draft;

static void put(Draft *d, const void *bytes, size_t size) {
    memcpy(d->code + d->size, bytes, size);
    d->size += size;
}
#define PUT(d, ...) put(d, (const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}))

static void put32(Draft *d, u32 v) {
    put(d, &v, sizeof(v));
}

/* An instruction with a general register and [base + disp32]; the opcode is one of a 64-bit operand. */
static void put_memory(Draft *d, u8 opcode, u8 reg, u8 base, i32 disp) {
    PUT(d, (u8)(0x48 | (reg >> 3) << 2 | base >> 3), opcode, (u8)(0x80 | (reg & 7) << 3 | (base & 7)));
    if ((base & 7) == RSP)
        PUT(d, 0x24);
    put32(d, (u32)disp);
}

/* movdqu or vmovdqu ymm between a vector register and [r15 + disp32]. */
static void put_vector(Draft *d, bool store, u8 reg, i32 disp) {
    u8 opcode = store ? 0x7f : 0x6f, modrm = (u8)(0x87 | (reg & 7) << 3);
    if (d->o->avx)
        PUT(d, 0xc4, (u8)(0x41 | (reg < 8 ? 0x80 : 0)), 0x7e, opcode, modrm);
    else
        PUT(d, 0xf3, (u8)(0x41 | (reg >> 3) << 2), 0x0f, opcode, modrm);
    put32(d, (u32)disp);
}

/* ----------------------------------------------------------------------------------------------------------- beginning and end */

/* SDM 2B: MOVSX, MOVSXD, MOVZX; a 32-bit move clears what is above. */
static void extend_int(Draft *d, u8 reg, u8 bytes, bool is_signed) {
    u8 rex = (u8)(0x48 | (reg >> 3) * 5), modrm = (u8)(0xc0 | (reg & 7) * 9);
    if (bytes == 1)
        PUT(d, rex, 0x0f, is_signed ? 0xbe : 0xb6, modrm);
    else if (bytes == 2)
        PUT(d, rex, 0x0f, is_signed ? 0xbf : 0xb7, modrm);
    else if (bytes == 4 && is_signed)
        PUT(d, rex, 0x63, modrm);
    else if (bytes == 4)
        PUT(d, (u8)(0x40 | (reg >> 3) * 5), 0x8b, modrm);
}

/* Through memory: movd or movq to the frame, and back, which clears what is above. */
static void extend_float(Draft *d, u8 reg, u8 bytes) {
    u8 w = bytes == 8 ? 0x48 : 0x40;
    PUT(d, 0x66, w, 0x0f, 0x7e, (u8)(0x44 | reg << 3), 0x24, 0);
    if (d->o->avx)
        PUT(d, 0xc4, 0xe1, bytes == 8 ? 0xf9 : 0x79, 0x6e, (u8)(0x44 | reg << 3), 0x24, 0);
    else
        PUT(d, 0x66, w, 0x0f, 0x6e, (u8)(0x44 | reg << 3), 0x24, 0);
}

static void load_general(Draft *d, u8 reg) {
    put_memory(d, 0x8b, reg, R15, (i32)(8 + 8 * rng_below(d->r, CONST_BYTES / 8 - 1)));
}

static void load_vector(Draft *d, u8 reg) {
    put_vector(d, false, reg, (i32)rng_below(d->r, CONST_BYTES - 32));
}

static void begin(Draft *d, const Signature *s) {
    if (rng_once_in(d->r, 2))
        PUT(d, 0xf3, 0x0f, 0x1e, 0xfa);
    for (size_t i = 0; i < ARRAY_LEN(saved); i++)
        PUT(d, 0x41 - (saved[i] < 8), 0x50 | (saved[i] & 7));
    PUT(d, 0x48, 0x81, 0xec);
    put32(d, FRAME_BYTES);
    put_memory(d, 0x8d, R15, RDI, 0);
    u32 set = 1u << RSP | 1u << R15, index = 1;
    for (u32 i = 0; i < s->ints; i++, index++) {
        extend_int(d, int_regs[i], s->bytes[index], s->is_signed[index]);
        set |= 1u << int_regs[i];
    }
    for (u32 i = 0; i < s->floats; i++, index++)
        extend_float(d, (u8)i, s->bytes[index]);
    for (u32 i = 0; i < s->on_stack; i++, index++) {
        u8 reg = (u8)(R10 + i);
        put_memory(d, 0x8b, reg, RSP, (i32)(FRAME_BYTES + 8 * (ARRAY_LEN(saved) + 1 + i)));
        extend_int(d, reg, s->bytes[index], s->is_signed[index]);
        set |= 1u << reg;
    }
    for (u8 reg = 0; reg < 16; reg++)
        if (!(set >> reg & 1))
            load_general(d, reg);
    for (u8 reg = (u8)s->floats; reg < 16; reg++)
        load_vector(d, reg);
    for (u32 i = 0; i < FRAME_SLOTS; i++)
        put_memory(d, 0x89, (u8)(i == RSP ? RBP : i), RSP, (i32)(8 * i));
}

static void end(Draft *d) {
    const i32 results = CONST_BYTES + DYNAMIC_BYTES;
    for (u8 reg = 0; reg < 13; reg++)
        if (reg != RSP)
            put_memory(d, 0x89, reg, R15, results + 8 * reg);
    for (u8 reg = 0; reg < 16; reg++)
        put_vector(d, true, reg, results + 128 + 32 * reg);
    if (d->o->avx)
        PUT(d, 0xc5, 0xf8, 0x77);
    PUT(d, 0x48, 0x81, 0xc4);
    put32(d, FRAME_BYTES);
    for (size_t i = ARRAY_LEN(saved); i-- > 0;)
        PUT(d, 0x41 - (saved[i] < 8), 0x58 | (saved[i] & 7));
    PUT(d, 0xc3);
}

/* --------------------------------------------------------------------------------------------------------- single instructions */

typedef struct Decoded {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
} Decoded;

static ZydisRegister whole(ZydisRegister reg) {
    return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
}

static bool is_fixed(ZydisRegister reg) {
    return reg == ZYDIS_REGISTER_RSP || reg == ZYDIS_REGISTER_R13 || reg == ZYDIS_REGISTER_R14 ||
           reg == ZYDIS_REGISTER_R15;
}

static bool may_use(const Draft *d, const Decoded *in, const ZydisDecodedOperand *op) {
    ZydisRegister reg = whole(op->reg.value);
    ZydisRegisterClass cls = ZydisRegisterGetClass(op->reg.value);
    if (cls == ZYDIS_REGCLASS_FLAGS)
        return true;
    bool general = reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15;
    bool vector = cls == ZYDIS_REGCLASS_XMM || cls == ZYDIS_REGCLASS_YMM;
    if (vector && in->i.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && !d->o->avx)
        return false;
    return (general || vector) && reg != ZYDIS_REGISTER_RSP &&
           !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && is_fixed(reg));
}

/* Its address was chosen here; a bit's number in a register would move it. */
static bool may_access(const ZydisDecodedOperand *op, bool computes_only) {
    if (op->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT || op->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        return false;
    return !(computes_only && op->mem.base == ZYDIS_REGISTER_RSP);
}

static bool moves_bits(const Decoded *in) {
    ZydisMnemonic m = in->i.mnemonic;
    bool bits = m == ZYDIS_MNEMONIC_BT || m == ZYDIS_MNEMONIC_BTS || m == ZYDIS_MNEMONIC_BTR || m == ZYDIS_MNEMONIC_BTC;
    return bits && in->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY && in->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

/* SDM 2: BSWAP of 16 bits, SHLD and SHRD by more than that, BSF and BSR of zero. */
static bool is_undefined(const Decoded *in) {
    switch (in->i.mnemonic) {
    case ZYDIS_MNEMONIC_BSWAP:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD:
        return in->op[0].size == 16;
    case ZYDIS_MNEMONIC_BSF:
    case ZYDIS_MNEMONIC_BSR:
        return true;
    default:
        return false;
    }
}

static bool may_have_flags(const Draft *d, const Decoded *in) {
    const ZydisAccessedFlags *f = in->i.cpu_flags;
    u32 others = ZYDIS_CPUFLAG_DF | ZYDIS_CPUFLAG_IF | ZYDIS_CPUFLAG_TF | ZYDIS_CPUFLAG_AC | ZYDIS_CPUFLAG_ID;
    return !f || !((f->tested & d->undefined) | ((f->modified | f->set_0 | f->set_1) & others));
}

/* A shift by zero changes no flags: what was undefined stays so, and what the others leave is taken as undefined. */
static void note_flags(Draft *d, const Decoded *in) {
    const ZydisAccessedFlags *f = in->i.cpu_flags;
    if (!f)
        return;
    bool shifts = in->i.meta.category == ZYDIS_CATEGORY_SHIFT || in->i.meta.category == ZYDIS_CATEGORY_ROTATE;
    u32 sets = f->modified | f->set_0 | f->set_1;
    if (shifts)
        d->undefined |= sets | f->undefined;
    else
        d->undefined = (d->undefined & ~sets) | f->undefined;
}

static bool may_run(const Draft *d, const Decoded *in, const Insn *lifted) {
    if (d->o->exact && d->o->choice->deviates.at[lifted->row])
        return false;
    if (lifted->special || lifted->flow != FLOW_NEXT || is_undefined(in) || moves_bits(in) || !may_have_flags(d, in))
        return false;
    for (u32 i = 0; i < in->i.operand_count; i++) {
        const ZydisDecodedOperand *op = &in->op[i];
        bool computes = op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_AGEN;
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && !may_use(d, in, op))
            return false;
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && !may_access(op, computes))
            return false;
    }
    return true;
}

/* Somewhere in the buffer or the frame, or the constants before the function. */
static void draw_place(Draft *d, Encoding *e) {
    u32 offset = rng_below(d->r, CONST_BYTES + DYNAMIC_BYTES - 192);
    u8 reg = e->modrm & 0x38;
    e->rxb &= REX_R;
    e->disp = (i32)offset;
    if (!rng_once_in(d->r, 3)) { /* [r15 + disp], or with the counter of a loop */
        bool indexed = d->depth && rng_next(d->r) & 1;
        e->rxb |= REX_B;
        e->modrm = (u8)(0x80 | reg | (indexed ? 4 : 7));
        if (indexed) {
            e->rxb |= REX_X;
            e->sib = (u8)((rng_next(d->r) & 0xc0) | (loop_reg[d->depth - 1] & 7) << 3 | 7);
        }
    } else if (rng_next(d->r) & 1) { /* [rsp + disp] */
        e->modrm = (u8)(0x80 | reg | 4);
        e->sib = 0x24;
        e->disp = (i32)(rng_below(d->r, 5) * 16);
    } else { /* [rip + disp]: mended when the length is known */
        e->modrm = (u8)(reg | 5);
        e->disp = (i32)(rng_below(d->r, FUNCTION_POOL_BYTES / 32) * 32);
    }
}

static const ZydisDecodedOperand *memory_of(const Decoded *in) {
    for (u32 i = 0; i < in->i.operand_count; i++)
        if (in->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && in->op[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN)
            return &in->op[i];
    return NULL;
}

/* What is written goes into the part of the buffer that may be, or the frame, of which 16 bytes are aligned and not more. */
static bool mend_place(const Draft *d, Encoding *e, const Decoded *in) {
    const ZydisDecodedOperand *op = memory_of(in);
    bool by_pc = (e->modrm & 0xc7) == 5, in_frame = !by_pc && !(e->rxb & REX_B);
    bool writes = op && op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE, large = op && op->size >= 128;
    if ((by_pc && writes) || (in_frame && op && op->size > 128) || (large && e->rxb & REX_X && !e->vex))
        return false;
    if (by_pc)
        e->disp -= (i32)(d->size + in->i.length + FUNCTION_POOL_BYTES);
    else if (!in_frame && large)
        e->disp &= ~31;
    if (!by_pc && !in_frame && writes && e->disp < CONST_BYTES)
        e->disp += CONST_BYTES;
    return true;
}

static bool decode(const Draft *d, const Encoding *e, u8 *bytes, Decoded *in, Insn *lifted) {
    size_t size = encoding_put(e, bytes);
    lifted->pc = d->pc + d->size;
    return isa_find(LATHE_ARCH_X86_64)->decode(bytes, size, lifted->pc, lifted) == LATHE_OK &&
           ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d->decoder, bytes, size, &in->i, in->op));
}

static const Form *draw_form(Draft *d) {
    const Forms *f = &d->o->choice->forms;
    u32 row = rng_next(d->r) & 1 ? f->flag_rows.at[rng_below(d->r, (u32)f->flag_rows.len)]
                                 : rng_below(d->r, (u32)f->row_count);
    u32 first = f->first.at[row], count = f->first.at[row + 1] - first;
    return &f->found.at[first + rng_below(d->r, count)];
}

static void draw_encoding(Draft *d, Encoding *e) {
    u64 bits = rng_next(d->r);
    *e = draw_form(d)->e;
    e->rxb = (u8)(bits & 7);
    e->vvvv = (u8)(bits >> 3 & 15);
    if (bits >> 7 & 1) { /* few registers, so that they have to do with each other */
        e->rxb = 0;
        e->vvvv &= 3;
    }
    u8 free = e->modrm >> 6 == 3 ? 0x3f : 0x38;
    if (rng_next(d->r) & 3)
        e->modrm = (u8)((e->modrm & ~free) | (bits >> 8 & free));
    if (e->has_modrm && e->modrm >> 6 != 3)
        draw_place(d, e);
    bits = rng_next(d->r) >> rng_below(d->r, 64);
    memcpy(e->imm, &bits, sizeof(e->imm));
}

static void put_instruction(Draft *d) {
    for (u32 i = 0; i < ATTEMPTS; i++) {
        Encoding e;
        Decoded in;
        Insn lifted = {0};
        u8 bytes[ENCODING_BYTES];
        draw_encoding(d, &e);
        bool memory = e.has_modrm && e.modrm >> 6 != 3;
        if (!decode(d, &e, bytes, &in, &lifted))
            continue;
        if (memory && !mend_place(d, &e, &in))
            continue;
        if (!decode(d, &e, bytes, &in, &lifted) || !may_run(d, &in, &lifted))
            continue;
        put(d, bytes, in.i.length);
        note_flags(d, &in);
        return;
    }
}

/* -------------------------------------------------------------------------------------------------------------------- flow */

/* SDM 2A, appendix B.1.4.7: what each condition reads; its lowest bit turns it round. */
static u32 flags_of(u8 condition) {
    enum {
        C = ZYDIS_CPUFLAG_CF,
        P = ZYDIS_CPUFLAG_PF,
        Z = ZYDIS_CPUFLAG_ZF,
        S = ZYDIS_CPUFLAG_SF,
        O = ZYDIS_CPUFLAG_OF
    };
    static const u32 reads[] = {O, C, Z, C | Z, S, P, S | O, S | O | Z};
    return reads[condition >> 1];
}

static const u32 all_flags =
    ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;

static void put_straight(Draft *d, u32 count) {
    while (count-- && d->size < FUNCTION_BYTES - ROOM)
        put_instruction(d);
}

/* jcc around a few instructions; without flags, test first. */
static void put_branch(Draft *d) {
    u8 condition = (u8)rng_below(d->r, 16), reg = (u8)rng_below(d->r, 4);
    if (flags_of(condition) & d->undefined) {
        PUT(d, 0x85, (u8)(0xc0 | reg * 9)); /* test */
        d->undefined = ZYDIS_CPUFLAG_AF;
    }
    PUT(d, 0x0f, (u8)(0x80 | condition));
    size_t at = d->size;
    put32(d, 0);
    u32 before = d->undefined;
    put_straight(d, 1 + rng_below(d->r, 4));
    i32 distance = (i32)(d->size - at - 4);
    memcpy(d->code + at, &distance, 4);
    d->undefined |= before;
}

/* The number of rounds is in the code, or one of the first general registers and below 8. Returns where the loop begins. */
static size_t open_loop(Draft *d) {
    u8 counter = loop_reg[d->depth++] & 7;
    if (rng_next(d->r) & 1) {
        PUT(d, 0x41, 0xb8 | counter); /* mov counter, number */
        put32(d, 1 + rng_below(d->r, 12));
    } else {
        PUT(d, 0x41, 0x89, (u8)(0xc0 | rng_below(d->r, 4) << 3 | counter)); /* mov counter, reg */
        PUT(d, 0x41, 0x83, 0xe0 | counter, 7);                              /* and counter, 7 */
        PUT(d, 0x41, 0xff, 0xc0 | counter);                                 /* inc counter */
    }
    d->undefined = all_flags;
    return d->size;
}

static void close_loop(Draft *d, size_t top) {
    u8 counter = loop_reg[--d->depth] & 7;
    PUT(d, 0x41, 0xff, 0xc8 | counter, 0x0f, 0x85); /* dec counter; jnz */
    put32(d, (u32)(top - (d->size + 4)));
    d->undefined &= ZYDIS_CPUFLAG_CF;
}

/* What the callee need not keep is set again, its result aside. */
static void put_call(Draft *d) {
    put_memory(d, 0x8d, RDI, R15, 0);
    if (rng_next(d->r) & 1) {
        PUT(d, 0xe8);
        put32(d, (u32)(d->o->callee - (d->pc + d->size + 4)));
    } else { /* call *CALLEE_OFFSET(%r15) */
        PUT(d, 0x41, 0xff, 0x97);
        put32(d, CALLEE_OFFSET);
    }
    static const u8 lost[] = {RCX, RDX, RSI, RDI, R8, R9, R10, R11};
    for (size_t i = 0; i < ARRAY_LEN(lost); i++)
        load_general(d, lost[i]);
    for (u8 reg = 0; reg < 16; reg++)
        load_vector(d, reg);
    d->undefined = all_flags;
}

static void put_items(Draft *d, u32 count) {
    while (count-- && d->size < FUNCTION_BYTES - 2 * ROOM) {
        u32 what = rng_below(d->r, 12);
        if (what == 0 && d->depth < MAX_DEPTH) {
            size_t top = open_loop(d);
            put_items(d, 1 + rng_below(d->r, 5));
            close_loop(d, top);
        } else if (what == 1)
            put_branch(d);
        else if (what == 2 && d->o->callee && rng_next(d->r) & 1)
            put_call(d);
        else
            put_instruction(d);
    }
}

/* ------------------------------------------------------------------------------------------------------------------- public */

static bool deviates(const char *name) {
    LatheSupport row;
    for (size_t i = 0; lathe_support(LATHE_ARCH_X86_64, LATHE_HOST_OWN, i, &row); i++)
        if (!strcmp(row.mnemonic, name))
            return row.deviation;
    return true;
}

void choice_init(Choice *c) {
    forms_find(&c->forms, NULL);
    for (size_t i = 0; i < c->forms.row_count; i++) {
        u32 row = c->forms.found.at[c->forms.first.at[i]].row;
        while (c->deviates.len <= row)
            VEC_PUSH(&c->deviates, true);
        c->deviates.at[row] = deviates(isa_find(LATHE_ARCH_X86_64)->row_name(row));
    }
}

void signature_draw(Rng *r, Signature *s) {
    *s = (Signature){.ints = rng_below(r, MAX_INTS + 1),
                     .floats = rng_below(r, 4) ? rng_below(r, 4) : rng_below(r, MAX_FLOATS + 1)};
    if (s->ints == MAX_INTS)
        s->on_stack = rng_below(r, MAX_ON_STACK + 1);
    s->bytes[0] = 8;
    for (u32 i = 1; i < signature_count(s); i++) {
        bool is_float = i > s->ints && i <= s->ints + s->floats;
        s->bytes[i] = (u8)(is_float ? 4 << rng_below(r, 2) : 1 << rng_below(r, 4));
        s->is_signed[i] = rng_next(r) & 1;
    }
}

size_t function_draw(Rng *r, const FunctionOptions *o, const Signature *s, u64 pc, u8 *code) {
    Draft d = {.r = r, .o = o, .pc = pc, .code = code, .undefined = all_flags};
    ZydisDecoderInit(&d.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    rng_fill(r, code - FUNCTION_POOL_BYTES, FUNCTION_POOL_BYTES);
    begin(&d, s);
    put_items(&d, rng_below(r, MAX_BODY));
    end(&d);
    return d.size;
}
