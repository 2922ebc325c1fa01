/* decoded.c: see decoded.h and oracle.h. Kept apart from our own table of flag effects, so that a wrong entry there shows up. */
#include "decoded.h"

#include <stdio.h>

#include <Zydis/Zydis.h>

#define FLAG_COUNT 8

/* In the order of "ODISZAPC"; a flag the guest state does not have has no place. */
static const struct Flag {
    u32 bit;
    i32 offset;
} flags[FLAG_COUNT] = {
    {ZYDIS_CPUFLAG_OF, offsetof(LatheX86Cpu, of)},
    {ZYDIS_CPUFLAG_DF, offsetof(LatheX86Cpu, df)},
    {ZYDIS_CPUFLAG_IF, -1},
    {ZYDIS_CPUFLAG_SF, offsetof(LatheX86Cpu, sf)},
    {ZYDIS_CPUFLAG_ZF, offsetof(LatheX86Cpu, zf)},
    {ZYDIS_CPUFLAG_AF, offsetof(LatheX86Cpu, af)},
    {ZYDIS_CPUFLAG_PF, offsetof(LatheX86Cpu, pf)},
    {ZYDIS_CPUFLAG_CF, offsetof(LatheX86Cpu, cf)},
};

typedef struct Insn {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
} Insn;

static bool decode_at(const Case *c, size_t offset, Insn *in) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return offset < c->size &&
           ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, c->code + offset, c->size - offset, &in->i, in->op));
}

static bool decode_nth(const Case *c, size_t index, Insn *in) {
    size_t offset = 0;
    for (size_t n = 0; decode_at(c, offset, in); n++, offset += in->i.length)
        if (n == index)
            return true;
    return false;
}

static bool is_shift(ZydisMnemonic m) {
    return m == ZYDIS_MNEMONIC_SHL || m == ZYDIS_MNEMONIC_SHR || m == ZYDIS_MNEMONIC_SAR || m == ZYDIS_MNEMONIC_SHLD ||
           m == ZYDIS_MNEMONIC_SHRD;
}

static bool is_rotate(ZydisMnemonic m) {
    return m == ZYDIS_MNEMONIC_ROL || m == ZYDIS_MNEMONIC_ROR || m == ZYDIS_MNEMONIC_RCL || m == ZYDIS_MNEMONIC_RCR;
}

/* The masked count of a shift or rotate, given the value of cl. */
static unsigned shift_count(const Insn *in, u8 cl) {
    const ZydisDecodedOperand *count = &in->op[in->i.operand_count_visible - 1];
    unsigned v = count->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? (unsigned)count->imm.value.u : cl;
    return v & (in->op[0].size == 64 ? 63 : 31);
}

/* What is undefined after a shift depends on its count (SDM 2B, SAL/SAR/SHL/SHR, SHLD, RCL/RCR/ROL/ROR). */
static u32 undefined_by_shift(const Insn *in, unsigned count) {
    ZydisMnemonic m = in->i.mnemonic;
    u32 of = count > 1 ? ZYDIS_CPUFLAG_OF : 0;
    if (is_rotate(m))
        return of;
    bool double_shift = m == ZYDIS_MNEMONIC_SHLD || m == ZYDIS_MNEMONIC_SHRD;
    if (double_shift && count > in->op[0].size)
        return ~0u;
    bool lost = m != ZYDIS_MNEMONIC_SAR && !double_shift && count >= in->op[0].size;
    return of | ZYDIS_CPUFLAG_AF | (lost ? ZYDIS_CPUFLAG_CF : 0);
}

/* Zydis calls more of BEXTR undefined than the manual: CF and OF are cleared (SDM 2A, BEXTR). */
static u32 undefined_by(const Insn *in) {
    u32 cleared = in->i.mnemonic == ZYDIS_MNEMONIC_BEXTR ? ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_OF : 0;
    return in->i.cpu_flags ? in->i.cpu_flags->undefined & ~cleared : 0;
}

static bool repeats_zero_times(const Insn *in, u64 rcx) {
    bool repeats = in->i.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    return repeats && !(in->i.address_width == 32 ? (u32)rcx : rcx);
}

/* The flags that are undefined after the instruction, given those that were before it. */
static u32 undefined_after(const Insn *in, u64 rcx, u32 before) {
    const ZydisAccessedFlags *f = in->i.cpu_flags;
    bool shift = is_shift(in->i.mnemonic) || is_rotate(in->i.mnemonic);
    if (!f || (shift && shift_count(in, (u8)rcx) == 0) || repeats_zero_times(in, rcx))
        return before;
    u32 now = shift ? undefined_by_shift(in, shift_count(in, (u8)rcx)) : undefined_by(in);
    return (before & ~(f->modified | f->set_0 | f->set_1)) | now;
}

/* In any case of the instruction; `flag` is an index into "ODISZAPC". */
static bool may_be_undefined(const Case *c, size_t index, unsigned flag) {
    Insn in;
    if (flag >= FLAG_COUNT || !decode_nth(c, index, &in) || !in.i.cpu_flags)
        return false;
    u32 undefined = undefined_by(&in) | (is_shift(in.i.mnemonic) ? ZYDIS_CPUFLAG_CF : 0);
    return undefined & flags[flag].bit;
}

bool decoded_step_flags(const Case *c, const State *before, State *ignore) {
    u32 undefined = 0;
    Insn in;
    if (!decode_at(c, 0, &in))
        return false;
    for (size_t i = 0; i < FLAG_COUNT; i++)
        if (flags[i].offset >= 0 && ((u8 *)&ignore->cpu)[flags[i].offset])
            undefined |= flags[i].bit;
    if (in.i.cpu_flags && in.i.cpu_flags->tested & undefined)
        return false;
    undefined = undefined_after(&in, before->cpu.gp[LATHE_RCX], undefined);
    for (size_t i = 0; i < FLAG_COUNT; i++)
        if (flags[i].offset >= 0)
            ((u8 *)&ignore->cpu)[flags[i].offset] = undefined & flags[i].bit ? 0xff : 0;
    return true;
}

/* SDM 2A, BSWAP: a 16-bit register. */
bool decoded_result_undefined(const Case *c) {
    Insn in;
    return decode_at(c, 0, &in) && in.i.mnemonic == ZYDIS_MNEMONIC_BSWAP && in.op[0].size == 16;
}

void guest_open(const Case *c, const State *initial, State *ignore) {
    u32 undefined = 0;
    Insn in;
    for (size_t offset = 0; decode_at(c, offset, &in); offset += in.i.length)
        undefined = undefined_after(&in, initial->cpu.gp[LATHE_RCX], undefined);
    for (size_t i = 0; i < FLAG_COUNT; i++)
        if (flags[i].offset >= 0 && undefined & flags[i].bit)
            ((u8 *)&ignore->cpu)[flags[i].offset] = 0xff;
}

const char *guest_mnemonic(const Case *c, size_t index) {
    Insn in;
    return decode_nth(c, index, &in) ? ZydisMnemonicGetString(in.i.mnemonic) : NULL;
}

size_t guest_check_row(const Case *c, size_t index, const LatheSupport *row) {
    static const char flag_names[] = "ODISZAPC";
    size_t problems = 0;
    for (unsigned i = 0; flag_names[i] && row->flags && row->flags[i]; i++)
        if (row->flags[i] == 'u' && !may_be_undefined(c, index, i)) {
            printf("the table calls %cF undefined after %s, the manual does not\n", flag_names[i], row->mnemonic);
            problems++;
        }
    return problems;
}
