/* table.c: the riscv64 ISA: its registers, its rows, and what binds a row to an instruction. */
#include <elf.h>

#include "isa/riscv64/csr.h"
#include "isa/riscv64/encoding.h"
#include "isa/riscv64/families.h"
#include "isa/riscv64/format.h"
#include "isa/riscv64/helpers.h"

/* ---------------------------------------------------------------------------------------------------------- registers */

#define X4(n) X1(n), X1(n + 1), X1(n + 2), X1(n + 3)
#define X1(n)                                                                                                          \
    [n] = {offsetof(LatheRiscv64Cpu, x) + 8 * (n), 64, REG_INT},                                                       \
    [RV_F0 + n] = {offsetof(LatheRiscv64Cpu, f) + 8 * (n), 64, REG_FLOAT}

static const RegInfo regs[RV_REG_COUNT] = {
    X4(0),
    X4(4),
    X4(8),
    X4(12),
    X4(16),
    X4(20),
    X4(24),
    X4(28),
    [RV_RESERVED_ADDRESS] = {offsetof(LatheRiscv64Cpu, reserved_address), 64, REG_INT},
    [RV_RESERVED_VALUE] = {offsetof(LatheRiscv64Cpu, reserved_value), 64, REG_INT},
};

/* --------------------------------------------------------------------------------------------------------------- rows */

#define INSN(name, bits, format, meaning)                                                                              \
    static void lift_##name(Lifter *l, const Insn *in) {                                                               \
        meaning;                                                                                                       \
    }
#define DEVIATES(name, bits, format, meaning, text) INSN(name, bits, format, meaning)
#define SHORT(...)
#define FUSED(name, meaning) INSN(name, , , meaning)
#include "isa/riscv64/rows.def"
#undef INSN
#undef DEVIATES
#undef SHORT
#undef FUSED

typedef struct Meaning {
    void (*lift)(Lifter *l, const Insn *in);
    const char *deviation;
} Meaning;

static const Meaning meanings[RV_ROW_COUNT] = {
#define INSN(name, bits, format, meaning) {lift_##name, NULL},
#define DEVIATES(name, bits, format, meaning, text) {lift_##name, text},
#define SHORT(name, bits, format, meant) {lift_##meant, NULL},
#define FUSED(name, meaning) {lift_##name, NULL},
    {NULL, NULL},
#include "isa/riscv64/rows.def"
#undef INSN
#undef DEVIATES
#undef SHORT
#undef FUSED
};

static void lift(Lifter *l, const Insn *in) {
    meanings[in->row].lift(l, in);
}

static bool sets_rounding(const Insn *in) {
    u8 format = rv_row(in->row)->format;
    bool csr = format == RV_FMT_CSR || format == RV_FMT_CSRI;
    return csr && rv_csr_is_float((u32)rv_imm(in, 1));
}

/* Where code is not exact on a host whose environment is not the guest's. */
static const char *deviation_elsewhere(u32 row) {
    switch (rv_row(row)->format) {
    case RV_FMT_FF_RM:
    case RV_FMT_FFF_RM:
    case RV_FMT_FFFF_RM:
    case RV_FMT_XF_RM:
    case RV_FMT_FX_RM:
        return "fast floating point: exception flags, and modes other than nearest; exact with strict_fp";
    case RV_FMT_XFF:
        return "fast floating point: exception flags; exact with strict_fp";
    }
    bool is_extreme = !strncmp(rv_names[row], "fmin", 4) || !strncmp(rv_names[row], "fmax", 4);
    return is_extreme ? "fast floating point: exception flags; exact with strict_fp" : NULL;
}

static const char *deviation_of(const Host *host, u32 row) {
    const char *own = meanings[rv_row(row)->base].deviation;
    return own || host->riscv64 ? own : deviation_elsewhere(row);
}

static bool support(const Host *host, size_t index, LatheSupport *out) {
    for (u32 row = 1; row < RV_ROW_COUNT; row++) {
        if (!rv_encodings[row].mask || index--) /* what is fused has no encoding */
            continue;
        *out = (LatheSupport){rv_names[row], NULL, deviation_of(host, row)};
        return true;
    }
    return false;
}

static const char *deviation(const Host *host, const Insn *in) {
    return deviation_of(host, in->row);
}

static const char *row_name(u32 row) {
    return rv_names[row];
}

/* ---------------------------------------------------------------------------------------------------------------- Isa */

static const Reg int_args[] = {RV_A0, RV_A0 + 1, RV_A0 + 2, RV_A0 + 3, RV_A0 + 4, RV_A0 + 5, RV_A0 + 6, RV_A0 + 7};
static const Reg float_args[] = {RV_FA0,     RV_FA0 + 1, RV_FA0 + 2, RV_FA0 + 3,
                                 RV_FA0 + 4, RV_FA0 + 5, RV_FA0 + 6, RV_FA0 + 7};

/* By how compiled code uses them: arguments and results, the stack and return address, then what is saved first. */
static const Reg hot_ints[] = {RV_A0,     RV_A0 + 1, RV_A0 + 2, RV_A0 + 3, RV_A0 + 4,
                               RV_A0 + 5, RV_SP,     RV_RA,     RV_S0,     RV_S0 + 1};
static const Reg hot_vectors[] = {RV_FA0,    RV_FA0 + 1, RV_FA0 + 2, RV_FA0 + 3, RV_FA0 + 4, RV_FA0 + 5,
                                  RV_F0 + 8, RV_F0 + 9,  RV_F0 + 18, RV_F0 + 19, RV_F0,      RV_F0 + 1};

static const Helper *const helpers[] = {rv_bits_helpers, rv_float_helpers, NULL};

/* s0–s11 are x8, x9 and x18–x27; fs0–fs11 likewise. */
#define SAVED ((u64)3 << 8 | (u64)0x3ff << 18)

// clang-format off
static const u8 sample[] = {
    0x81, 0x47,                   /* li a5, 0 */
    0x18, 0x41,                   /* lw a4, 0(a0) */
    0xb9, 0x9f,                   /* addw a5, a5, a4 */
    0x53, 0x75, 0xb5, 0x02,       /* fadd.d fa0, fa0, fa1 */
    0x11, 0x05,                   /* addi a0, a0, 4 */
    0xe3, 0x6b, 0xb5, 0xfe,       /* bltu a0, a1, to the load */
    0x06, 0x84,                   /* mv s0, ra */
    0x02, 0x96,                   /* jalr a2 */
    0xa2, 0x80,                   /* mv ra, s0 */
    0x82, 0x80,                   /* ret */
};
// clang-format on

static const StateField initial[] = {
    {offsetof(LatheRiscv64Cpu, frm), 8, 0},
    {offsetof(LatheRiscv64Cpu, fflags), 8, 0},
    {0, 0, 0},
};

static RelocationKind relocation_kind(u32 type) {
    switch (type) {
    case R_RISCV_RELATIVE:
        return RELOCATION_RELATIVE;
    case R_RISCV_IRELATIVE:
        return RELOCATION_CHOSEN;
    case R_RISCV_64:
    case R_RISCV_JUMP_SLOT:
        return RELOCATION_ADDRESS;
    case R_RISCV_COPY:
        return RELOCATION_COPY;
    case R_RISCV_TLS_TPREL64:
        return RELOCATION_THREAD;
    }
    return RELOCATION_OTHER;
}

const Isa isa_riscv64 = {
    .arch = LATHE_ARCH_RISCV64,
    .elf_relative = R_RISCV_RELATIVE,
    .elf_chosen = R_RISCV_IRELATIVE,
    .elf_symbolic = R_RISCV_64,
    .relocation_kind = relocation_kind,
    .regs = regs,
    .initial = initial,
    .reg_count = RV_REG_COUNT,
    .state_bytes = sizeof(LatheRiscv64Cpu),
    .pc_off = offsetof(LatheRiscv64Cpu, pc),
    .trap_off = offsetof(LatheRiscv64Cpu, trap),
    .trap_info_off = offsetof(LatheRiscv64Cpu, trap_info),
    .abi = {.int_args = int_args,
            .float_args = float_args,
            .int_arg_count = ARRAY_LEN(int_args),
            .float_arg_count = ARRAY_LEN(float_args),
            .int_result = RV_A0,
            .float_result = RV_FA0,
            .stack = RV_SP,
            .signed_ints = true,
            .choosers_are_told = true,
            /* gp and tp are set when a program or a thread begins. */
            .kept = {{(u64)1 << RV_SP | (u64)3 << (RV_SP + 1) | SAVED | SAVED << RV_F0}},
            .results = {{(u64)3 << RV_A0 | (u64)3 << RV_FA0}},
            /* tp, the thread pointer, is whatever it is. */
            .passed = {{(u64)1 << RV_SP | (u64)1 << (RV_SP + 2) | (u64)0xff << RV_A0 | (u64)0xff << RV_FA0}}},
    .hot_ints = hot_ints,
    .hot_vectors = hot_vectors,
    .hot_int_count = ARRAY_LEN(hot_ints),
    .hot_vector_count = ARRAY_LEN(hot_vectors),
    .decode = rv_decode,
    .lift = lift,
    .sets_rounding = sets_rounding,
    .effect = rv_effect,
    .view = rv_view,
    .address = rv_plain_address,
    .opcode_name = rv_opcode_name,
    .condition = rv_condition,
    .format = rv_format,
    .support = support,
    .deviation = deviation,
    .row_name = row_name,
    .helpers = helpers,
    .sample = sample,
};
