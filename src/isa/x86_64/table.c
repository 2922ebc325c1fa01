/* table.c: the x86-64 ISA: its registers, its rows, and what binds a row to an instruction. */
#include <Zydis/Zydis.h>
#include <elf.h>

#include "isa/x86_64/families.h"
#include "isa/x86_64/forms.h"
#include "isa/x86_64/fp_soft.h"
#include "isa/x86_64/helpers/helpers.h"
#include "isa/x86_64/view.h"
#include "isa/x86_64/x86_64.h"

/* ---------------------------------------------------------------------------------------------------------- registers */

#define GP(n) [RAX + n] = {offsetof(LatheX86Cpu, gp) + 8 * n, 64, REG_INT}
#define VEC4(n) VECN(n), VECN(n + 1), VECN(n + 2), VECN(n + 3)
#define VECN(n)                                                                                                        \
    [XMM0 + n] = {offsetof(LatheX86Cpu, vec) + 64 * (n), 128, REG_VECTOR},                                             \
            [YMM0_HIGH + n] = {offsetof(LatheX86Cpu, vec) + 64 * (n) + 16, 128, REG_VECTOR},                           \
            [ZMM0_HIGH + n] = {offsetof(LatheX86Cpu, vec) + 64 * (n) + 32, 256, REG_VECTOR}
#define MASK(n) [K0 + n] = {offsetof(LatheX86Cpu, k) + 8 * n, 64, REG_INT}
#define FLAG(name, field) [name] = {offsetof(LatheX86Cpu, field), 1, REG_FLAG}

static const RegInfo regs[X86_REG_COUNT] = {
    GP(0),        GP(1),        GP(2),        GP(3),        GP(4),        GP(5),        GP(6),        GP(7),
    GP(8),        GP(9),        GP(10),       GP(11),       GP(12),       GP(13),       GP(14),       GP(15),
    FLAG(CF, cf), FLAG(PF, pf), FLAG(AF, af), FLAG(ZF, zf), FLAG(SF, sf), FLAG(OF, of), FLAG(DF, df), VEC4(0),
    VEC4(4),      VEC4(8),      VEC4(12),     VEC4(16),     VEC4(20),     VEC4(24),     VEC4(28),     MASK(0),
    MASK(1),      MASK(2),      MASK(3),      MASK(4),      MASK(5),      MASK(6),      MASK(7),
};

/* --------------------------------------------------------------------------------------------------------------- rows */

#define INSN(name, flags, meaning)                                                                                     \
    static void lift_##name(Lifter *l, const Insn *in) {                                                               \
        (void)in;                                                                                                      \
        meaning;                                                                                                       \
    }
#define DEVIATES(name, flags, meaning, text) INSN(name, flags, meaning)
#include "isa/x86_64/rows.def"
#undef INSN
#undef DEVIATES

/* Indexed by Zydis's mnemonic, which is the row's number. */
static const Row rows[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
#define INSN(name, flags, meaning) [ZYDIS_MNEMONIC_##name] = {flags, lift_##name, NULL},
#define DEVIATES(name, flags, meaning, text) [ZYDIS_MNEMONIC_##name] = {flags, lift_##name, text},
#include "isa/x86_64/rows.def"
#undef INSN
#undef DEVIATES
};

u32 x86_row(u32 mnemonic) {
    return mnemonic <= ZYDIS_MNEMONIC_MAX_VALUE && rows[mnemonic].lift ? mnemonic : 0;
}

/* What a row's meaning needs beyond the facts: some go through memory with the whole state, and the shadow stack is always off. */
void x86_refine(Insn *in) {
    switch (in->row) {
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_XGETBV:
    case ZYDIS_MNEMONIC_RDRAND:
    case ZYDIS_MNEMONIC_RDSEED:
    case ZYDIS_MNEMONIC_RDPID:
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
        in->calls_out = true;
        return;
    case ZYDIS_MNEMONIC_INCSSPD:
    case ZYDIS_MNEMONIC_INCSSPQ:
        in->flow = FLOW_STOP;
        return;
    }
}

/* Constant and undefined flags follow from the row alone; undefined ones are cleared. */
static void set_constant_flags(Lifter *l, const Row *row) {
    static const Reg order[] = {OF, DF, REG_NONE, SF, ZF, AF, PF, CF};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (order[i] != REG_NONE && (row->flags[i] == '0' || row->flags[i] == '1' || row->flags[i] == 'u'))
            set_flag_const(l, order[i], row->flags[i] == '1');
}

/* SDM 1, 9.5.1: every MMX instruction but EMMS makes all x87 registers valid and TOP 0. */
static void enter_mmx(Lifter *l, const Insn *in) {
    for (u32 i = 0; i < in->operand_count; i++) {
        if (!is_cls(in, (int)i, CLS_MMX))
            continue;
        ir_store(l, ir_int(l, I8, 0), ir_state(l, offsetof(LatheX86Cpu, fpu_top)), 1, SPACE_STATE);
        ir_store(l, ir_int(l, I8, 0xff), ir_state(l, offsetof(LatheX86Cpu, fpu_tag)), 1, SPACE_STATE);
        return;
    }
}

static void lift(Lifter *l, const Insn *in) {
    const Row *row = &rows[in->row];
    enter_mmx(l, in);
    if (x86_forms(l) || !l->strict_fp || !fp_soft(l, in))
        row->lift(l, in);
    if (in->flow == FLOW_NEXT)
        set_constant_flags(l, row);
}

static bool sets_rounding(const Insn *in) {
    switch (in->row) {
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
        return true;
    }
    return false;
}

#define LOCKED_UNALIGNED "a locked access that is not aligned is atomic only with others of that kind"
#define LAST_BIT "without the CPU's own instruction: the last bit may differ"
#define INVENTED                                                                                                       \
    "without the CPU's own instruction: tells of an x86-64-v2 CPU without a number, with a clock in nanoseconds"

/* Where code is not exact on a host that does not run the guest's instructions itself. */
static const char *deviation_elsewhere(u32 row) {
    switch (row) {
    case ZYDIS_MNEMONIC_RCPPS:
    case ZYDIS_MNEMONIC_RCPSS:
    case ZYDIS_MNEMONIC_RSQRTPS:
    case ZYDIS_MNEMONIC_RSQRTSS:
        return "without the CPU's own instruction: a quotient, rounded to all bits, instead of the CPU's approximation";
    case ZYDIS_MNEMONIC_FSIN:
    case ZYDIS_MNEMONIC_FCOS:
    case ZYDIS_MNEMONIC_FSINCOS:
    case ZYDIS_MNEMONIC_FPTAN:
    case ZYDIS_MNEMONIC_FPATAN:
    case ZYDIS_MNEMONIC_F2XM1:
    case ZYDIS_MNEMONIC_FYL2X:
    case ZYDIS_MNEMONIC_FYL2XP1:
        return LAST_BIT;
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_RDPID:
        return INVENTED;
    case ZYDIS_MNEMONIC_ADC:
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
    case ZYDIS_MNEMONIC_CMPXCHG:
    case ZYDIS_MNEMONIC_CMPXCHG8B:
    case ZYDIS_MNEMONIC_CMPXCHG16B:
    case ZYDIS_MNEMONIC_DEC:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_NEG:
    case ZYDIS_MNEMONIC_NOT:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_SBB:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_XADD:
    case ZYDIS_MNEMONIC_XCHG:
    case ZYDIS_MNEMONIC_XOR:
        return LOCKED_UNALIGNED;
    }
    return NULL;
}

static const char *deviation_of(const Host *host, u32 row) {
    const char *elsewhere = host->x86_64 ? NULL : deviation_elsewhere(row);
    return elsewhere ? elsewhere : rows[row].deviation;
}

static bool support(const Host *host, size_t index, LatheSupport *out) {
    for (u32 m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++) {
        if (!rows[m].lift || index--)
            continue;
        *out = (LatheSupport){ZydisMnemonicGetString((ZydisMnemonic)m), rows[m].flags, deviation_of(host, m)};
        return true;
    }
    return false;
}

static const char *deviation(const Host *host, const Insn *in) {
    const char *text = deviation_of(host, in->row);
    bool may_be_locked = locked(in) || in->row == ZYDIS_MNEMONIC_XCHG; /* with memory, it is always */
    return text && !strcmp(text, LOCKED_UNALIGNED) && !may_be_locked ? rows[in->row].deviation : text;
}

static const char *row_name(u32 row) {
    return ZydisMnemonicGetString((ZydisMnemonic)row);
}

/* ---------------------------------------------------------------------------------------------------------------- Isa */

static const Reg int_args[] = {RDI, RSI, RDX, RCX, R8, R9};
static const Reg float_args[] = {XMM0, XMM0 + 1, XMM0 + 2, XMM0 + 3, XMM0 + 4, XMM0 + 5, XMM0 + 6, XMM0 + 7};

/* The first seven come to lie in their own host registers under regcall, so that mul, div and shifts need no moves. */
static const Reg hot_ints[] = {RAX, RCX, RDX, RDI, RSI, R8, R9, RBX, RSP, RBP};
static const Reg hot_vectors[] = {XMM0,     XMM0 + 1, XMM0 + 2,  XMM0 + 3,  XMM0 + 4,  XMM0 + 5,  XMM0 + 6,  XMM0 + 7,
                                  XMM0 + 8, XMM0 + 9, XMM0 + 10, XMM0 + 11, XMM0 + 12, XMM0 + 13, XMM0 + 14, XMM0 + 15};

static const Helper *const helpers[] = {x86_system_helpers, x86_x87_helpers, x86_state_helpers, NULL};

#define BIT(r) ((u64)1 << (r))

// clang-format off
static const u8 sample[] = {
    0x31, 0xc0,                   /* xor eax, eax */
    0x03, 0x07,                   /* add eax, [rdi] */
    0x66, 0x0f, 0xfe, 0xc1,       /* paddd xmm0, xmm1 */
    0x48, 0x83, 0xc7, 0x04,       /* add rdi, 4 */
    0x48, 0x39, 0xf7,             /* cmp rdi, rsi */
    0x72, 0xf1,                   /* jb to the first add */
    0xff, 0xd2,                   /* call rdx */
    0xc3,                         /* ret */
};
// clang-format on

/* SDM 1, 8.1.5.1 and 10.2.3: all exceptions are masked. */
static const StateField initial[] = {
    {offsetof(LatheX86Cpu, mxcsr), 32, 0x1f80}, {offsetof(LatheX86Cpu, fpu_cw), 16, 0x037f},
    {offsetof(LatheX86Cpu, fpu_sw), 16, 0},     {offsetof(LatheX86Cpu, fpu_top), 8, 0},
    {offsetof(LatheX86Cpu, fpu_tag), 8, 0},     {0, 0, 0},
};

static RelocationKind relocation_kind(u32 type) {
    switch (type) {
    case R_X86_64_RELATIVE:
        return RELOCATION_RELATIVE;
    case R_X86_64_IRELATIVE:
        return RELOCATION_CHOSEN;
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
        return RELOCATION_ADDRESS;
    case R_X86_64_COPY:
        return RELOCATION_COPY;
    case R_X86_64_TPOFF64:
        return RELOCATION_THREAD;
    case R_X86_64_DTPMOD64:
        return RELOCATION_MODULE;
    case R_X86_64_DTPOFF64:
        return RELOCATION_OFFSET;
    }
    return RELOCATION_OTHER;
}

/* `call *slot(%rip)` and `jmp *slot(%rip)`, and whatever else may have a distance from the instruction pointer. */
static SlotUse slot_use(const u8 *bytes, size_t size, u64 pc, u64 *slot) {
    bool is_call = size >= 6 && bytes[0] == 0xff && (bytes[1] == 0x15 || bytes[1] == 0x25);
    i32 distance;
    if (size < sizeof(distance))
        return SLOT_UNUSED;
    memcpy(&distance, bytes + (is_call ? 2 : 0), sizeof(distance));
    *slot = pc + (is_call ? 6 : 4) + (u64)(i64)distance;
    return is_call ? SLOT_CALLED : SLOT_USED;
}

/* addr32 call, or jmp and nop, as the linker makes them. */
static bool link_call(u8 *bytes, u64 pc, u64 to) {
    bool is_jump = bytes[1] == 0x25;
    i64 distance = (i64)(to - (pc + (is_jump ? 5 : 6)));
    i32 short_distance = (i32)distance;
    if (distance != short_distance)
        return false;
    bytes[0] = is_jump ? 0xe9 : 0x67;
    bytes[1] = is_jump ? bytes[1] : 0xe8;
    memcpy(bytes + (is_jump ? 1 : 2), &short_distance, sizeof(short_distance));
    bytes[5] = is_jump ? 0x90 : bytes[5];
    return true;
}

const Isa isa_x86_64 = {
    .arch = LATHE_ARCH_X86_64,
    .elf_relative = R_X86_64_RELATIVE,
    .elf_chosen = R_X86_64_IRELATIVE,
    .elf_symbolic = R_X86_64_64,
    .relocation_kind = relocation_kind,
    .slot_use = slot_use,
    .link_call = link_call,
    .regs = regs,
    .reg_count = X86_REG_COUNT,
    .state_bytes = sizeof(LatheX86Cpu),
    .pc_off = offsetof(LatheX86Cpu, pc),
    .trap_off = offsetof(LatheX86Cpu, trap),
    .trap_info_off = offsetof(LatheX86Cpu, trap_info),
    .initial = initial,
    .ordered_memory = true,
    .dead_at_calls = {{BIT(CF) | BIT(PF) | BIT(AF) | BIT(ZF) | BIT(SF) | BIT(OF)}},
    .abi =
        {.int_args = int_args,
         .float_args = float_args,
         .int_arg_count = ARRAY_LEN(int_args),
         .float_arg_count = ARRAY_LEN(float_args),
         .int_result = RAX,
         .float_result = XMM0,
         .stack = RSP,
         .return_address_bytes = 8,
         .kept = {{BIT(RBX) | BIT(RSP) | BIT(RBP) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15)}},
         .results = {{BIT(RAX) | BIT(RDX) | BIT(XMM0) | BIT(XMM0 + 1)}},
         /* rax has the number of vector registers for callees of variable arguments, r10 a nested function's frame. */
         .passed = {{BIT(RDI) | BIT(RSI) | BIT(RDX) | BIT(RCX) | BIT(R8) | BIT(R9) | BIT(RAX) | BIT(R10) | BIT(RSP) |
                     (u64)0xff << XMM0}},
         .extended_in_memory = true,
         .thread_bytes = 64,
         .red_zone_bytes = 128},
    .hot_ints = hot_ints,
    .hot_vectors = hot_vectors,
    .hot_int_count = ARRAY_LEN(hot_ints),
    .hot_vector_count = ARRAY_LEN(hot_vectors),
    .decode = x86_decode,
    .lift = lift,
    .sets_rounding = sets_rounding,
    .effect = x86_effect,
    .view = x86_view,
    .address = plain_address,
    .opcode_name = x86_opcode_name,
    .condition = x86_condition,
    .format = x86_format,
    .support = support,
    .deviation = deviation,
    .row_name = row_name,
    .helpers = helpers,
    .sample = sample,
};
