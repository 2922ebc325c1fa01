/* system.c: see system.h. */
#include "isa/aarch64/system.h"

#include "isa/aarch64/field.h"

/* ----------------------------------------------------------------------------------------------------- system registers */

static const struct {
    u32 no;
    const char *name;
    bool writable;
} registers[] = {
    {A64_NZCV, "nzcv", true},
    {A64_DIT, "dit", true},
    {A64_SSBS, "ssbs", true},
    {A64_FPCR, "fpcr", true},
    {A64_FPSR, "fpsr", true},
    {A64_TPIDR_EL0, "tpidr_el0", true},
    {A64_TPIDRRO_EL0, "tpidrro_el0", false},
    {A64_CTR_EL0, "ctr_el0", false},
    {A64_DCZID_EL0, "dczid_el0", false},
    {A64_CNTFRQ_EL0, "cntfrq_el0", false},
    {A64_CNTVCT_EL0, "cntvct_el0", false},
    {A64_MIDR, "midr_el1", false},
    {A64_MPIDR, "mpidr_el1", false},
    {A64_PFR0, "id_aa64pfr0_el1", false},
    {A64_PFR1, "id_aa64pfr1_el1", false},
    {A64_ISAR0, "id_aa64isar0_el1", false},
    {A64_ISAR1, "id_aa64isar1_el1", false},
    {A64_ISAR2, "id_aa64isar2_el1", false},
};

/* Registers of identification, which Linux reads for programs. Those without a name are zero. */
static bool identifies(u32 no) {
    return no >= A64_SYSREG(0, 0, 0, 0) && no <= A64_SYSREG(0, 0, 7, 7);
}

const char *a64_system_name(u32 no) {
    for (size_t i = 0; i < ARRAY_LEN(registers); i++)
        if (registers[i].no == no)
            return registers[i].name;
    return identifies(no) ? "id_el1" : NULL;
}

static bool is_writable(u32 no) {
    for (size_t i = 0; i < ARRAY_LEN(registers); i++)
        if (registers[i].no == no)
            return registers[i].writable;
    return false;
}

bool a64_system_is_legal(const Insn *in) {
    bool writes = in->row == A64_ROW_msr;
    u32 no = (u32)a64_imm(in, writes ? 0 : 1);
    return writes ? is_writable(no) : a64_system_name(no) != NULL;
}

/* Of each field, the largest value that a feature asks for. */
static u64 identification(u32 no) {
    static const struct {
        u32 no;
        u8 shift, value;
    } fields[] = {
#define FEATURE(word, bit, name, reg, shift, value) {A64_##reg, shift, value},
#include "isa/aarch64/features.def"
#undef FEATURE
        {A64_PFR0, 4, 1}, /* what Linux says of the system's own level */
    };
    u64 all = 0;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        u64 value = fields[i].value;
        if (fields[i].no == no && value > (all >> fields[i].shift & 15))
            all = (all & ~((u64)15 << fields[i].shift)) | value << fields[i].shift;
    }
    return all;
}

/* Caches of lines of 64 bytes; the manual, CTR_EL0 and DCZID_EL0. The maker is none, as in /proc/cpuinfo, and the architecture is said by the other registers. */
bool a64_system_constant(u32 no, u64 *value) {
    switch (no) {
    case A64_MIDR:
        *value = 0xf0000;
        return true;
    case A64_MPIDR:
        *value = 0x80000000;
        return true;
    case A64_CTR_EL0:
        *value = 0x8444c004;
        return true;
    case A64_DCZID_EL0:
        *value = 4;
        return true;
    case A64_CNTFRQ_EL0:
        *value = 1000000000;
        return true;
    case A64_DIT:
    case A64_SSBS:
    case A64_TPIDRRO_EL0:
        *value = 0;
        return true;
    }
    *value = identification(no);
    return identifies(no);
}

/* ----------------------------------------------------------------------------------------------------------------- flow */

static void add_flags(RegSet *set) {
    for (Reg f = A64_N; f <= A64_V; f++)
        regset_add(set, f);
}

static void set_register_flow(Insn *in) {
    bool writes = in->row == A64_ROW_msr;
    u32 no = (u32)a64_imm(in, writes ? 0 : 1);
    in->flow = a64_system_is_legal(in) ? FLOW_NEXT : FLOW_STOP;
    in->special = true;
    if (no == A64_NZCV)
        add_flags(writes ? &in->writes : &in->flags);
    if (no == A64_TPIDR_EL0 && writes)
        regset_add(&in->writes, A64_THREAD);
    if (no == A64_TPIDR_EL0)
        in->special = false;
}

/* Load and store exclusive; others in between compare and swap. */
static bool is_exclusive(u32 w) {
    bool has_pair = a64_bits(w, 21, 21);
    return a64_bits(w, 29, 24) == 8 && !a64_bits(w, 23, 23) && (!has_pair || w >> 31);
}

static void set_reservation(Insn *in) {
    regset_add(&in->writes, A64_RESERVED_ADDRESS);
    if (a64_bits(in->word, 22, 22)) {
        regset_add(&in->writes, A64_RESERVED_VALUE);
        regset_add(&in->writes, A64_RESERVED_HIGH);
    }
}

void a64_set_system_flow(Insn *in) {
    switch (in->row) {
    case A64_ROW_svc:
        in->flow = FLOW_SYSCALL;
        break;
    case A64_ROW_brk:
    case A64_ROW_hlt:
    case A64_ROW_udf:
        in->flow = FLOW_STOP;
        break;
    case A64_ROW_isb:
        in->flow = FLOW_INDIRECT;
        break;
    case A64_ROW_mrs:
    case A64_ROW_msr:
        set_register_flow(in);
        return;
    case A64_ROW_clrex:
        regset_add(&in->writes, A64_RESERVED_ADDRESS);
        return;
    case A64_ROW_xpaclri:
        regset_add(&in->writes, A64_LR);
        return;
    case A64_ROW_braaz:
    case A64_ROW_brabz:
    case A64_ROW_braa:
    case A64_ROW_brab:
        in->flow = FLOW_INDIRECT;
        return;
    case A64_ROW_blraaz:
    case A64_ROW_blrabz:
    case A64_ROW_blraa:
    case A64_ROW_blrab:
        in->flow = FLOW_CALL;
        regset_add(&in->writes, A64_LR);
        return;
    case A64_ROW_retaa:
    case A64_ROW_retab:
        in->flow = FLOW_RETURN;
        return;
    default:
        if (is_exclusive(in->word))
            set_reservation(in);
        return;
    }
    in->special = true;
}
