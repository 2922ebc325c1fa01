/* generate.c: see generate.h.
 *
 * The fields of the encoding are drawn first and redrawn until the decoder finds the wanted form in them; then the
 * state is drawn; then registers or displacements are changed so that every memory operand, explicit or not, is in
 * the scratch page.
 */
#include "generate.h"

#include <Zydis/Zydis.h>

#include "values.h"

#define ATTEMPTS 24
#define COUNTER 0x10      /* offset of a loop's counter in the scratch page */
#define PAGE_MARGIN 0x140 /* room for bit strings, frames and strings on both sides of an operand */

typedef struct Draft {
    Rng *r;
    const Form *form;
    Encoding e;
    u8 bytes[ENCODING_BYTES];
    Insn in;
    ZydisDecodedInstruction z;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    u64 pc;
    bool fixed; /* the state is given: only the encoding can be adapted to it */
    State *s;
    u8 *target;      /* where the explicit memory operand is in s->memory, or NULL */
    bool misaligned; /* as in Sample */
    u32 placed;      /* bit n: general register n holds an address */
} Draft;

/* -------------------------------------------------------------------------------------------------------- encoding */

static i32 draw_displacement(Rng *r) {
    if (rng_once_in(r, 8))
        return (i32)rng_next(r);
    return (i32)rng_below(r, 0x2000) - 0x1000;
}

static void draw_prefix(Draft *d, u8 prefix, u32 once_in) {
    if (rng_once_in(d->r, once_in))
        d->e.prefix[d->e.prefix_count++] = prefix;
}

/* For instructions to work on each other's results: few registers. Memory is addressed relative to rip, or to a
 * register that can be made up for by a large displacement. */
static void share_registers(Draft *d, u8 found_mod) {
    if (!rng_once_in(d->r, 4)) {
        d->e.modrm &= found_mod == 3 ? 0xdb : 0xdf;
        d->e.rxb = d->e.rex = 0;
        d->e.vvvv &= 3;
    }
    if (found_mod != 3)
        d->e.modrm = (u8)((d->e.modrm & 0x38) | (rng_next(d->r) & 1 ? 0x05 : 0x80 | (rng_next(d->r) & 7)));
}

/* The more attempts have failed, the less is changed about the encoding that the form was found with. */
static void draw_encoding(Draft *d, u32 attempt) {
    Rng *r = d->r;
    u8 found = d->form->e.modrm, mod = found >> 6;
    d->e = d->form->e;
    if (attempt < ATTEMPTS - 2) {
        draw_prefix(d, (u8)(0x64 + rng_below(r, 2)), 8);
        draw_prefix(d, 0x67, 12);
        d->e.rxb = (u8)(rng_next(r) & 7);
        d->e.rex = rng_next(r) & 1;
        d->e.vvvv = (u8)(rng_next(r) & 15);
        u8 free = attempt < 10 ? 0x3f : mod == 3 ? 0x07 : 0;
        d->e.modrm = (u8)((found & ~free) | (rng_next(r) & free));
        if (mod != 3)
            d->e.modrm = (u8)((d->e.modrm & 0x38) | rng_below(r, 3) << 6 | (rng_next(r) & 7));
    }
    if (d->fixed)
        share_registers(d, mod);
    d->e.sib = (u8)rng_next(r);
    d->e.disp = draw_displacement(r);
    u64 imm = value_integer(r);
    memcpy(d->e.imm, &imm, 8);
}

/* Zydis 4.0 gives a SIB byte without a base the base r13d if there are REX.B and 32-bit addresses. */
static void mend_base(Draft *d) {
    if (!d->e.has_modrm || d->e.modrm >> 6 || (d->e.modrm & 7) != 4 || (d->e.sib & 7) != 5)
        return;
    for (u32 i = 0; i < d->z.operand_count; i++)
        if (d->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && d->op[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT) {
            d->op[i].mem.base = ZYDIS_REGISTER_NONE;
            d->op[i].mem.disp.value = d->e.disp;
        }
}

static bool decode(Draft *d) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    size_t size = encoding_put(&d->e, d->bytes);
    d->in = (Insn){.pc = d->pc};
    if (isa_find(LATHE_ARCH_X86_64)->decode(d->bytes, size, d->pc, &d->in) != LATHE_OK || d->in.row != d->form->row ||
        forms_key(&d->e, &d->in) != d->form->key ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, d->bytes, size, &d->z, d->op)))
        return false;
    mend_base(d);
    return true;
}

/* A jump back into the sample might never end. */
static bool jumps_into_sample(const Draft *d) {
    bool direct = d->in.flow == FLOW_JUMP || d->in.flow == FLOW_BRANCH || d->in.flow == FLOW_CALL;
    return direct && d->in.target >= STATE_CODE && d->in.target < STATE_CODE + SAMPLE_BYTES;
}

static bool find_encoding(Draft *d) {
    for (u32 i = 0; i < ATTEMPTS; i++) {
        draw_encoding(d, i);
        if (decode(d) && !jumps_into_sample(d))
            return true;
    }
    return false;
}

/* ----------------------------------------------------------------------------------------------------------- state */

static void draw_fpu(Rng *r, LatheX86Cpu *c) {
    bool numbers = rng_next(r) & 1;
    c->fpu_cw = value_fpu_control(r);
    c->fpu_sw = (u16)(rng_next(r) & 0x477f & ~0x0080); /* no pending exception: all are masked */
    c->fpu_top = (u8)rng_below(r, 8);
    c->fpu_tag = rng_once_in(r, 3) ? (u8)rng_next(r) : 0xff;
    for (int i = 0; i < 8; i++) {
        value_extended(r, c->st[i]);
        if (!numbers)
            value_vector(r, c->st[i], 8);
    }
}

static void draw_state(Rng *r, State *s) {
    LatheX86Cpu *c = &s->cpu;
    state_default(s);
    for (int i = 0; i < 16; i++)
        c->gp[i] = value_integer(r);
    u64 bits = rng_next(r);
    c->cf = bits & 1, c->pf = bits >> 1 & 1, c->af = bits >> 2 & 1, c->zf = bits >> 3 & 1;
    c->sf = bits >> 4 & 1, c->of = bits >> 5 & 1, c->df = bits >> 6 & 1, c->id = bits >> 7 & 1;
    c->gp[LATHE_RSP] = STATE_MEMORY + 0x700 + rng_below(r, 0x200);
    c->gp[LATHE_RBP] = rng_next(r) & 1 ? c->gp[LATHE_RBP] : STATE_MEMORY + 0x700 + rng_below(r, 0x200);
    c->fsbase = STATE_MEMORY + rng_below(r, PAGE_MARGIN);
    c->gsbase = STATE_MEMORY + rng_below(r, PAGE_MARGIN);
    c->mxcsr = value_mxcsr(r);
    for (int i = 0; i < 16; i++)
        value_vector(r, c->vec[i], 16);
    draw_fpu(r, c);
}

/* --------------------------------------------------------------------------------------------------------- operands */

static bool is_memory(const ZydisDecodedOperand *op) {
    return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_MEM;
}

static bool is_explicit(const ZydisDecodedOperand *op) {
    return op->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
}

/* The general register that a register is part of, or -1. */
static int general(ZydisRegister r) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
    return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? (int)(whole - ZYDIS_REGISTER_RAX) : -1;
}

static u64 segment_base(const Draft *d, ZydisRegister segment) {
    return segment == ZYDIS_REGISTER_FS ? d->s->cpu.fsbase : segment == ZYDIS_REGISTER_GS ? d->s->cpu.gsbase : 0;
}

/* With 32-bit addresses the upper half of a register does not count, and is anything. */
static void place(Draft *d, int reg, u64 v) {
    if (d->z.address_width == 32)
        v = (u32)v | rng_next(d->r) << 32;
    d->s->cpu.gp[reg] = v;
    d->placed |= 1u << reg;
}

/* Large operands (the save areas) want 64 bytes of alignment, vectors 16, locked ones their own: usually they have
 * it. */
static u64 draw_target(Draft *d, u32 size) {
    bool wants_alignment = size >= 16 || d->in.prefixes || d->in.row == ZYDIS_MNEMONIC_XCHG;
    u32 align = size >= 256 ? 64 : size >= 16 ? 16 : size ? size & (~size + 1) : 1;
    u32 offset = PAGE_MARGIN + rng_below(d->r, size >= 256 ? 0x200u : STATE_MEMORY_BYTES - 3 * PAGE_MARGIN);
    if (wants_alignment ? !rng_once_in(d->r, 8) : rng_next(d->r) & 1)
        offset &= ~(align - 1);
    return STATE_MEMORY + offset;
}

/* Where the registers cannot make up for the displacement, the displacement is chosen to fit the registers. */
static bool solve_for_displacement(Draft *d, const ZydisDecodedOperandMem *m, u64 ea) {
    int base = general(m->base), index = general(m->index);
    u64 v = rng_below(d->r, 32), sum = 0;
    if (base >= 0 && d->e.modrm >> 6 != 2)
        return false;
    if (index >= 0) {
        place(d, index, v);
        sum = v * m->scale + (base >= 0 ? v : 0);
    }
    if (m->base == ZYDIS_REGISTER_RIP || m->base == ZYDIS_REGISTER_EIP)
        sum += d->pc + d->z.length;
    d->e.disp = (i32)(ea - sum);
    if (!d->e.has_modrm)
        memcpy(d->e.imm, &ea, 8);
    return decode(d);
}

static bool solve_for_base(Draft *d, const ZydisDecodedOperandMem *m, u64 ea) {
    int index = general(m->index);
    u64 offset = (u64)m->disp.value + (index >= 0 ? d->s->cpu.gp[index] * m->scale : 0);
    place(d, general(m->base), ea - offset);
    return true;
}

/* All registers have their values; the displacement is what is left. */
static bool solve_in_state(Draft *d, const ZydisDecodedOperandMem *m, u64 ea) {
    int base = general(m->base), index = general(m->index);
    const u64 *gp = d->s->cpu.gp;
    u64 sum = (base >= 0 ? gp[base] : 0) + (index >= 0 ? gp[index] * m->scale : 0);
    if (m->base == ZYDIS_REGISTER_RIP)
        sum += d->pc + d->z.length;
    i64 disp = (i64)(ea - sum);
    bool wide = base < 0 || d->e.modrm >> 6 == 2;
    if (!wide || !d->e.has_modrm || d->z.address_width != 64 || disp != (i32)disp)
        return false;
    d->e.disp = (i32)disp;
    return decode(d);
}

static void fill(Draft *d, u8 *at, u32 size) {
    if (size == 10 && rng_next(d->r) & 1)
        value_extended(d->r, at);
    else
        value_vector(d->r, at, size < 8 ? 8 : size < 64 ? size : 64);
}

static bool place_explicit(Draft *d, const ZydisDecodedOperand *op) {
    ZydisDecodedOperandMem m = op->mem;
    u32 size = op->size / 8;
    u64 target = draw_target(d, size), ea = target - segment_base(d, m.segment);
    d->target = d->s->memory + (target - STATE_MEMORY);
    d->misaligned = size >= 16 && target % 16;
    if (d->fixed)
        return solve_in_state(d, &m, ea);
    fill(d, d->target, size);
    int base = general(m.base);
    if (base < 0 || base == general(m.index))
        return solve_for_displacement(d, &m, ea);
    return solve_for_base(d, &m, ea);
}

/* Strings, the table of xlat. The stack is in the page already, and the address size does not count for it. */
static void place_implicit(Draft *d, const ZydisDecodedOperand *op) {
    int base = general(op->mem.base);
    if (base < 0 || base == LATHE_RSP || d->placed >> base & 1)
        return;
    u64 middle = STATE_MEMORY + 0x700 + rng_below(d->r, 0x200);
    place(d, base, middle - segment_base(d, op->mem.segment));
}

static bool place_operands(Draft *d) {
    for (u32 i = 0; i < d->z.operand_count; i++)
        if (is_memory(&d->op[i]) && is_explicit(&d->op[i]) && !place_explicit(d, &d->op[i]))
            return false;
    for (u32 i = 0; i < d->z.operand_count; i++)
        if (is_memory(&d->op[i]) && !is_explicit(&d->op[i]))
            place_implicit(d, &d->op[i]);
    return true;
}

static bool is_in_middle(u64 addr) {
    return addr >= STATE_MEMORY + PAGE_MARGIN && addr < STATE_MEMORY + STATE_MEMORY_BYTES - PAGE_MARGIN;
}

static bool repeats(const Draft *d) {
    return d->z.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

/* The same in a given state. */
static bool find_operands(Draft *d) {
    const u64 *gp = d->s->cpu.gp;
    for (u32 i = 0; i < d->z.operand_count; i++) {
        const ZydisDecodedOperand *op = &d->op[i];
        if (!is_memory(op))
            continue;
        int base = general(op->mem.base);
        if (is_explicit(op) ? !place_explicit(d, op)
                            : base < 0 || !is_in_middle(gp[base] + segment_base(d, op->mem.segment)))
            return false;
    }
    return !repeats(d) || (d->z.address_width == 64 && gp[LATHE_RCX] < 40);
}

/* ------------------------------------------------------------------------------------- what single instructions
 * need */

/* A bit offset in a register moves the address. */
static bool limit_bit_offset(Draft *d) {
    int reg = general(d->op[1].reg.value);
    if (!d->target || d->op[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return true;
    if (d->placed >> reg & 1)
        return false;
    d->s->cpu.gp[reg] = (u64)(i64)((i32)rng_below(d->r, 0x800) - 0x400);
    return true;
}

/* A random dividend nearly always overflows the quotient. */
static void shorten_dividend(Draft *d) {
    u64 *gp = d->s->cpu.gp;
    if (rng_once_in(d->r, 4))
        return;
    u64 high = rng_once_in(d->r, 3) ? rng_below(d->r, 100) : rng_next(d->r) & 1 ? 0 : ~(u64)0;
    if (!(d->placed >> LATHE_RDX & 1))
        gp[LATHE_RDX] = high;
    if (d->op[0].size == 8 && !(d->placed >> LATHE_RAX & 1))
        gp[LATHE_RAX] = (gp[LATHE_RAX] & 0xff) | (high & 0xff) << 8;
}

/* Half of the compare-and-exchanges are to find what they compare with. */
static void equal_comparand(Draft *d) {
    const u64 *gp = d->s->cpu.gp;
    if (rng_next(d->r) & 1)
        return;
    u32 half = d->op[0].size / 16;
    bool pair = d->in.row != ZYDIS_MNEMONIC_CMPXCHG;
    if (d->target) {
        memcpy(d->target, &gp[LATHE_RAX], pair ? half : 8);
        if (pair)
            memcpy(d->target + half, &gp[LATHE_RDX], half);
    } else if (general(d->op[0].reg.value) >= 0) {
        d->s->cpu.gp[general(d->op[0].reg.value)] = gp[LATHE_RAX];
    }
}

/* Reserved bits set in a floating-point environment fault, and unmasked exceptions come only with a later
 * instruction. */
static void valid_environment(Draft *d) {
    u16 control = value_fpu_control(d->r);
    u32 mxcsr = value_mxcsr(d->r);
    switch (d->in.row) {
    case ZYDIS_MNEMONIC_LDMXCSR:
        memcpy(d->target, &mxcsr, 4);
        return;
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
        memcpy(d->target + 24, &mxcsr, 4);
        memcpy(d->target, &control, 2);
        return;
    default:
        memcpy(d->target, &control, 2);
        return;
    }
}

/* Strings in which some elements are equal. */
static void similar_strings(Draft *d) {
    u8 byte = (u8)rng_next(d->r);
    memset(d->s->memory + 0x400, byte, 0x800);
    for (int i = 0; i < 20; i++)
        d->s->memory[0x600 + rng_below(d->r, 0x400)] = (u8)rng_next(d->r);
    if (!(d->placed >> LATHE_RAX & 1))
        memset(&d->s->cpu.gp[LATHE_RAX], byte, 8);
}

/* popf would turn on single stepping, nested tasks and alignment checks, which are not guest state. */
static void harmless_flags(Draft *d) {
    u64 flags = rng_next(d->r) & ~(u64)(1 << 8 | 1 << 14 | 1 << 18);
    memcpy(d->s->memory + (d->s->cpu.gp[LATHE_RSP] - STATE_MEMORY), &flags, 8);
}

/* Nothing can run in the scratch page: going there ends the run. */
static void going_to_scratch(Draft *d) {
    u64 to = STATE_MEMORY + rng_below(d->r, STATE_MEMORY_BYTES);
    if (d->in.flow == FLOW_RETURN)
        memcpy(d->s->memory + (d->s->cpu.gp[LATHE_RSP] - STATE_MEMORY), &to, 8);
    else if (d->target)
        memcpy(d->target, &to, 8);
    else if (d->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
        d->s->cpu.gp[general(d->op[0].reg.value)] = to;
}

static bool adapt(Draft *d) {
    LatheX86Cpu *c = &d->s->cpu;
    if (repeats(d))
        place(d, LATHE_RCX, rng_below(d->r, 40));
    if (d->in.flow == FLOW_INDIRECT || d->in.flow == FLOW_RETURN || (d->in.flow == FLOW_CALL && !d->in.target))
        going_to_scratch(d);
    switch (d->in.row) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTS:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTC:
        return limit_bit_offset(d);
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_IDIV:
        shorten_dividend(d);
        return true;
    case ZYDIS_MNEMONIC_CMPXCHG:
    case ZYDIS_MNEMONIC_CMPXCHG8B:
    case ZYDIS_MNEMONIC_CMPXCHG16B:
        equal_comparand(d);
        return true;
    case ZYDIS_MNEMONIC_ENTER:
        d->e.imm[1] = 0; /* a frame that fits */
        c->gp[LATHE_RBP] = STATE_MEMORY + 0x700;
        return decode(d);
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
        harmless_flags(d);
        return true;
    case ZYDIS_MNEMONIC_LEAVE:
        c->gp[LATHE_RBP] = STATE_MEMORY + 0x700 + rng_below(d->r, 0x200);
        return true;
    case ZYDIS_MNEMONIC_WRFSBASE:
    case ZYDIS_MNEMONIC_WRGSBASE:
        c->gp[general(d->op[0].reg.value)] &= ~(u64)0 >> 17;
        return true;
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_FLDCW:
    case ZYDIS_MNEMONIC_FLDENV:
    case ZYDIS_MNEMONIC_FRSTOR:
        valid_environment(d);
        return true;
    case ZYDIS_MNEMONIC_FBLD:
        value_decimal(d->r, d->target);
        return true;
    case ZYDIS_MNEMONIC_SCASB:
    case ZYDIS_MNEMONIC_SCASW:
    case ZYDIS_MNEMONIC_SCASD:
    case ZYDIS_MNEMONIC_SCASQ:
    case ZYDIS_MNEMONIC_CMPSB:
    case ZYDIS_MNEMONIC_CMPSW:
    case ZYDIS_MNEMONIC_CMPSQ:
        similar_strings(d);
        return true;
    case ZYDIS_MNEMONIC_CMPSD:
        if (!d->target)
            similar_strings(d);
        return true;
    }
    return true;
}

/* Instructions that need nothing of the state but valid operands. */
static bool needs_nothing(const Draft *d) {
    if (d->in.flow != FLOW_NEXT && d->in.flow != FLOW_JUMP && d->in.flow != FLOW_BRANCH)
        return false;
    switch (d->in.row) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTS:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTC:
        return !d->target || d->op[1].type != ZYDIS_OPERAND_TYPE_REGISTER;
    case ZYDIS_MNEMONIC_ENTER:
    case ZYDIS_MNEMONIC_LEAVE:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
    case ZYDIS_MNEMONIC_WRFSBASE:
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
    case ZYDIS_MNEMONIC_FLDCW:
    case ZYDIS_MNEMONIC_FLDENV:
    case ZYDIS_MNEMONIC_FRSTOR:
        return false;
    case ZYDIS_MNEMONIC_FNSTENV: /* these show where the last x87 instruction was, which is not guest state */
    case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
        return false;
    }
    return true;
}

static void take_code(const Draft *d, Sample *out) {
    memcpy(out->code + out->size, d->bytes, d->in.size);
    out->size += d->in.size;
    out->misaligned |= d->misaligned;
}

bool generate_sample(Rng *r, const Form *form, Sample *out) {
    Draft d = {.r = r, .form = form, .pc = STATE_CODE, .s = &out->initial};
    out->size = 0;
    out->misaligned = out->repeats = false;
    if (!find_encoding(&d))
        return false;
    draw_state(r, &out->initial);
    if (!place_operands(&d) || !adapt(&d))
        return false;
    out->may_repeat = needs_nothing(&d);
    take_code(&d, out);
    return true;
}

bool generate_more(Rng *r, const Form *form, const State *now, Sample *out) {
    State copy = *now;
    size_t start = out->size, jump_bytes = rng_once_in(r, 4) ? 2 : 0;
    Draft d = {.r = r, .form = form, .pc = STATE_CODE + start + jump_bytes, .fixed = true, .s = &copy};
    if (start + 2 * ENCODING_BYTES > SAMPLE_BYTES || !find_encoding(&d) || !find_operands(&d) || !needs_nothing(&d))
        return false;
    if (jump_bytes) {
        out->code[start] = (u8)(0x70 | rng_below(r, 16));
        out->code[start + 1] = d.in.size;
        out->size += jump_bytes;
    }
    take_code(&d, out);
    return true;
}

/* dec byte ptr [counter]; jnz to the start */
void generate_loop(Rng *r, Sample *out) {
    u8 code[8] = {0xfe, 0x0d, 0, 0, 0, 0, 0x75, 0};
    i32 disp = (i32)(STATE_MEMORY + COUNTER - (STATE_CODE + out->size + 6));
    memcpy(code + 2, &disp, 4);
    code[7] = (u8)(0 - (out->size + sizeof(code))); /* fits: samples stay below 120 bytes */
    memcpy(out->code + out->size, code, sizeof(code));
    out->size += sizeof(code);
    out->repeats = true;
    out->initial.memory[COUNTER] = (u8)(2 + rng_below(r, 3));
}
