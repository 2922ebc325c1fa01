/* table.c: the aarch64 ISA: its registers, its rows, and what binds a row to an instruction. */
#include <elf.h>

#include "isa/aarch64/encoding.h"
#include "isa/aarch64/families.h"
#include "isa/aarch64/helpers.h"
#include "isa/aarch64/system.h"

/* ---------------------------------------------------------------------------------------------------------- registers */

#define OFF(field) offsetof(LatheAarch64Cpu, field)
#define X4(n) X1(n), X1(n + 1), X1(n + 2), X1(n + 3)
#define X1(n) [A64_X0 + (n)] = {OFF(x) + 8 * (n), 64, REG_INT}, [A64_V0 + (n)] = {OFF(vec) + 16 * (n), 128, REG_VECTOR}

static const RegInfo regs[A64_REG_COUNT] = {
    X4(0),
    X4(4),
    X4(8),
    X4(12),
    X4(16),
    X4(20),
    X4(24),
    X4(28), /* the stack pointer is behind x30 */
    [A64_N] = {OFF(n), 8, REG_FLAG},
    [A64_Z] = {OFF(z), 8, REG_FLAG},
    [A64_C] = {OFF(c), 8, REG_FLAG},
    [A64_V] = {OFF(v), 8, REG_FLAG},
    [A64_RESERVED_ADDRESS] = {OFF(reserved_address), 64, REG_INT},
    [A64_RESERVED_VALUE] = {OFF(reserved_value), 64, REG_INT},
    [A64_RESERVED_HIGH] = {OFF(reserved_high), 64, REG_INT},
    [A64_THREAD] = {OFF(tpidr), 64, REG_INT},
};
_Static_assert(OFF(sp) == OFF(x) + 8 * 31, "the registers' places go by their numbers");

/* --------------------------------------------------------------------------------------------------------------- rows */

#define INSN(name, bits, fields, meaning)                                                                              \
    static void lift_##name(Lifter *l, const Insn *in) {                                                               \
        meaning;                                                                                                       \
    }
#define DEVIATES(name, bits, fields, meaning, text) INSN(name, bits, fields, meaning)
#include "isa/aarch64/rows.def"
#undef INSN
#undef DEVIATES

typedef struct Meaning {
    void (*lift)(Lifter *l, const Insn *in);
    const char *deviation;
} Meaning;

static const Meaning meanings[A64_ROW_COUNT] = {
#define INSN(name, bits, fields, meaning) {lift_##name, NULL},
#define DEVIATES(name, bits, fields, meaning, text) {lift_##name, text},
    {NULL, NULL},
#include "isa/aarch64/rows.def"
#undef INSN
#undef DEVIATES
};

static void lift(Lifter *l, const Insn *in) {
    meanings[in->row].lift(l, in);
}

static bool sets_rounding(const Insn *in) {
    bool writes = in->row == A64_ROW_msr;
    u64 no = writes || in->row == A64_ROW_mrs ? a64_imm(in, writes ? 0 : 1) : 0;
    return no == A64_FPCR || no == A64_FPSR;
}

static bool support(const Host *host, size_t index, LatheSupport *out) {
    (void)host;
    u32 row = (u32)index + 1;
    if (row >= A64_ROW_COUNT)
        return false;
    *out = (LatheSupport){a64_names[row], NULL, meanings[row].deviation};
    return true;
}

static const char *deviation(const Host *host, const Insn *in) {
    (void)host;
    return meanings[in->row].deviation;
}

static const char *row_name(u32 row) {
    return a64_names[row];
}

/* ---------------------------------------------------------------------------------------------------------------- Isa */

static const Reg int_args[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const Reg memory_result = 8;
static const Reg float_args[] = {A64_V0,     A64_V0 + 1, A64_V0 + 2, A64_V0 + 3,
                                 A64_V0 + 4, A64_V0 + 5, A64_V0 + 6, A64_V0 + 7};

/* By how compiled code uses them: arguments and results, the stack and return address, then what is saved first. x5 is where x86-64 has rbp, which stencils cannot have as an
 * address without a displacement. */
static const Reg hot_ints[] = {0, 1, 5, 3, 4, 2, A64_SP, A64_LR, 19, 20};
static const Reg hot_vectors[] = {A64_V0,     A64_V0 + 1, A64_V0 + 2, A64_V0 + 3, A64_V0 + 4,  A64_V0 + 5,
                                  A64_V0 + 6, A64_V0 + 7, A64_V0 + 8, A64_V0 + 9, A64_V0 + 16, A64_V0 + 17};

static const Helper *const helpers[] = {a64_bits_helpers,
                                        a64_float_helpers,
                                        a64_fma_helpers,
                                        a64_simd_helpers,
                                        a64_crypto_helpers,
                                        a64_stencil_helpers,
                                        NULL};

/* x19–x29, and the low halves of v8–v15, of which the upper ones are not kept: to be safe, none is. */
#define SAVED ((u64)0x7ff << 19)

static const StateField initial[] = {
    {OFF(fpcr), 32, 0},
    {OFF(fpsr), 32, 0},
    {0, 0, 0},
};

// clang-format off
static const u8 sample[] = {
    0x03, 0x00, 0x80, 0x52, /* mov w3, #0 */
    0x04, 0x00, 0x40, 0xb9, /* ldr w4, [x0] */
    0x63, 0x00, 0x04, 0x0b, /* add w3, w3, w4 */
    0x00, 0x28, 0x61, 0x1e, /* fadd d0, d0, d1 */
    0x00, 0x10, 0x00, 0x91, /* add x0, x0, #4 */
    0x1f, 0x00, 0x01, 0xeb, /* cmp x0, x1 */
    0x63, 0xff, 0xff, 0x54, /* b.lo, to the load */
    0xf3, 0x03, 0x1e, 0xaa, /* mov x19, x30 */
    0x40, 0x00, 0x3f, 0xd6, /* blr x2 */
    0xfe, 0x03, 0x13, 0xaa, /* mov x30, x19 */
    0xc0, 0x03, 0x5f, 0xd6, /* ret */
};
// clang-format on

static RelocationKind relocation_kind(u32 type) {
    switch (type) {
    case R_AARCH64_RELATIVE:
        return RELOCATION_RELATIVE;
    case R_AARCH64_IRELATIVE:
        return RELOCATION_CHOSEN;
    case R_AARCH64_ABS64:
    case R_AARCH64_GLOB_DAT:
    case R_AARCH64_JUMP_SLOT:
        return RELOCATION_ADDRESS;
    case R_AARCH64_COPY:
        return RELOCATION_COPY;
    case R_AARCH64_TLS_TPREL:
        return RELOCATION_THREAD;
    }
    return RELOCATION_OTHER;
}

const Isa isa_aarch64 = {
    .arch = LATHE_ARCH_AARCH64,
    .elf_relative = R_AARCH64_RELATIVE,
    .elf_chosen = R_AARCH64_IRELATIVE,
    .elf_symbolic = R_AARCH64_ABS64,
    .relocation_kind = relocation_kind,
    .regs = regs,
    .initial = initial,
    .reg_count = A64_REG_COUNT,
    .state_bytes = sizeof(LatheAarch64Cpu),
    .pc_off = OFF(pc),
    .trap_off = OFF(trap),
    .trap_info_off = OFF(trap_info),
    .dead_at_calls = {{0, (u64)15 << (A64_N - 64)}},
    .abi = {.int_args = int_args,
            .float_args = float_args,
            .int_arg_count = ARRAY_LEN(int_args),
            .float_arg_count = ARRAY_LEN(float_args),
            .int_result = A64_X0,
            .memory_result = &memory_result,
            .float_result = A64_V0,
            .stack = A64_SP,
            /* The thread pointer is set when a thread begins. */
            .kept = {{(u64)1 << A64_SP | SAVED, (u64)1 << (A64_THREAD - 64)}},
            .results = {{3 | (u64)15 << A64_V0}},
            /* x8: where a structure goes; the thread pointer is whatever it is. */
            .passed = {{0x1ff | (u64)1 << A64_SP | (u64)0xff << A64_V0, (u64)1 << (A64_THREAD - 64)}},
            .choosers_are_told = true,
            .thread_gap = 16},
    .hot_ints = hot_ints,
    .hot_vectors = hot_vectors,
    .hot_int_count = ARRAY_LEN(hot_ints),
    .hot_vector_count = ARRAY_LEN(hot_vectors),
    .decode = a64_decode,
    .lift = lift,
    .sets_rounding = sets_rounding,
    .effect = a64_effect,
    .view = a64_view,
    .address = a64_plain_address,
    .opcode_name = a64_opcode_name,
    .condition = a64_branch_condition,
    .format = a64_format,
    .support = support,
    .deviation = deviation,
    .row_name = row_name,
    .helpers = helpers,
    .sample = sample,
};
