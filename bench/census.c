/* census.c: see census.h. Zydis says what an x86-64 instruction is, the lifter's own decoder whether it has a meaning. Of other machines' code there is only the latter: all that it
 * does not know counts as an instruction without a row. */
#include "census.h"

#include <stdlib.h>

#include "isa/isa.h"
#include "isa/x86_64/x86_64.h"

typedef struct Decoded {
    ZydisDecodedInstruction z;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    bool has_row;
} Decoded;

static bool decode(ElfFile *elf, u64 pc, Decoded *d) {
    u8 bytes[16];
    size_t n = elf_read(elf, pc, bytes, sizeof(bytes));
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, &d->z, d->ops)))
        return false;
    Insn in = {.pc = pc};
    d->has_row = x86_decode(bytes, n, pc, &in) == LATHE_OK && in.row;
    return true;
}

static bool is_x86(const ElfFile *elf) {
    return elf_arch(elf) == LATHE_ARCH_X86_64;
}

/* For another machine: has it a row? */
static bool decode_other(ElfFile *elf, u64 pc, Insn *in) {
    u8 bytes[16];
    size_t n = elf_read(elf, pc, bytes, sizeof(bytes));
    *in = (Insn){.pc = pc};
    return isa_find(elf_arch(elf))->decode(bytes, n, pc, in) == LATHE_OK && in->row;
}

/* True once per address. */
static bool first_time(Census *c, u64 pc) {
    u32 index;
    if (!map64_get(&c->pages, pc / 64, &index)) {
        index = (u32)c->bits.len;
        map64_set(&c->pages, pc / 64, index);
        VEC_PUSH(&c->bits, 0);
    }
    u64 bit = (u64)1 << pc % 64, *word = &c->bits.at[index];
    bool first = !(*word & bit);
    *word |= bit;
    return first;
}

static Era era_of(const ZydisDecodedInstruction *z) {
    bool later = z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX || z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ||
                 z->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP;
    bool bmi = z->meta.isa_ext == ZYDIS_ISA_EXT_BMI1 || z->meta.isa_ext == ZYDIS_ISA_EXT_BMI2;
    return later && !bmi ? ERA_AVX : ERA_BELOW_AVX;
}

static void count(Census *c, u64 pc, const Decoded *d) {
    Era era = era_of(&d->z);
    c->insns[era]++;
    if (d->has_row) {
        c->lifted[era]++;
        return;
    }
    c->missing[d->z.mnemonic]++;
    c->missing_at[d->z.mnemonic] = pc;
    c->missing_era[d->z.mnemonic] = era;
}

static void count_other(Census *c, ElfFile *elf, u64 pc) {
    Insn in;
    Decoded unknown = {.z.mnemonic = ZYDIS_MNEMONIC_INVALID, .has_row = decode_other(elf, pc, &in)};
    count(c, pc, &unknown);
}

static bool is_indirect_jump(const Decoded *d) {
    return d->z.meta.category == ZYDIS_CATEGORY_UNCOND_BR && d->ops[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool reads_indexed(const Decoded *d) {
    for (u32 i = 0; i < d->z.operand_count_visible; i++)
        if (d->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY && d->ops[i].mem.index != ZYDIS_REGISTER_NONE)
            return true;
    return false;
}

/* A jump through an indexed word, or through a register that the few instructions before it add up or load so. */
static bool looks_like_table(ElfFile *elf, const LatheBlock *b, const Decoded *jump) {
    if (reads_indexed(jump))
        return true;
    if (jump->ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return false;
    Decoded d;
    for (size_t back = 2; back <= 4 && back <= b->insn_count; back++) {
        if (!decode(elf, b->insns[b->insn_count - back], &d) || d.ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
            d.ops[0].reg.value != jump->ops[0].reg.value)
            continue;
        return d.z.mnemonic == ZYDIS_MNEMONIC_ADD ||
               (reads_indexed(&d) && (d.z.mnemonic == ZYDIS_MNEMONIC_MOV || d.z.mnemonic == ZYDIS_MNEMONIC_MOVSXD));
    }
    return false;
}

/* Whether one that is not known reads a table is not told. */
static JumpKind kind_of(ElfFile *elf, const LatheBlock *b, const Decoded *jump) {
    if (b->successor_count)
        return JUMP_TABLE;
    return jump && looks_like_table(elf, b, jump) ? JUMP_MISSED : JUMP_OTHER;
}

static void note_jump(Census *c, u64 pc, JumpKind kind) {
    u32 old = JUMP_KINDS;
    if (map64_get(&c->jump_kind, pc, &old) && old <= kind)
        return;
    if (old != JUMP_KINDS)
        c->jumps[old]--;
    c->jumps[kind]++;
    map64_set(&c->jump_kind, pc, kind);
}

/* A jump that several functions reach counts as what the most successful of them made of it. */
static void count_jump(Census *c, ElfFile *elf, const LatheBlock *b) {
    u64 pc = b->insns[b->insn_count - 1];
    Decoded d;
    Insn in;
    if (is_x86(elf) && decode(elf, pc, &d) && is_indirect_jump(&d))
        note_jump(c, pc, kind_of(elf, b, &d));
    else if (!is_x86(elf) && decode_other(elf, pc, &in) && in.flow == FLOW_INDIRECT)
        note_jump(c, pc, kind_of(elf, b, NULL));
}

static void count_insn(Census *c, ElfFile *elf, u64 pc) {
    Decoded d;
    if (!first_time(c, pc))
        return;
    if (!is_x86(elf))
        count_other(c, elf, pc);
    else if (decode(elf, pc, &d))
        count(c, pc, &d);
    else
        c->undecodable++;
}

void census_add(Census *c, ElfFile *elf, LatheFunc *fn) {
    for (size_t i = 0; i < lathe_func_block_count(fn); i++) {
        LatheBlock b = lathe_func_block(fn, i);
        for (size_t k = 0; k < b.insn_count; k++)
            count_insn(c, elf, b.insns[k]);
        count_jump(c, elf, &b);
    }
}

void census_merge(Census *into, const Census *c) {
    for (int e = 0; e < ERA_COUNT; e++) {
        into->insns[e] += c->insns[e];
        into->lifted[e] += c->lifted[e];
    }
    for (size_t m = 0; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++) {
        into->missing[m] += c->missing[m];
        if (c->missing[m]) {
            into->missing_at[m] = c->missing_at[m];
            into->missing_era[m] = c->missing_era[m];
        }
    }
    into->undecodable += c->undecodable;
    for (int k = 0; k < JUMP_KINDS; k++)
        into->jumps[k] += c->jumps[k];
}

void census_free(Census *c) {
    map64_free(&c->pages);
    map64_free(&c->jump_kind);
    VEC_FREE(&c->bits);
}

static int by_count(const void *a, const void *b, void *census) {
    const u64 *missing = ((const Census *)census)->missing;
    ZydisMnemonic x = *(const ZydisMnemonic *)a, y = *(const ZydisMnemonic *)b;
    if (missing[x] != missing[y])
        return missing[x] < missing[y] ? 1 : -1;
    return (int)x - (int)y;
}

void census_missing(const Census *c, CensusList *list) {
    list->len = 0;
    for (size_t m = 0; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++)
        if (c->missing[m])
            list->at[list->len++] = (ZydisMnemonic)m;
    qsort_r(list->at, list->len, sizeof(*list->at), by_count, (void *)c);
}
