/* machine_insn.c: see machine_insn.h. */
#include "binopt/x86_64/machine/machine_insn.h"

/* The registers of a set that are followed here. */
static Regs followed(const RegSet *s) {
    return s->word[0] & ALL_REGS;
}

static bool has_masks(const RegSet *s) {
    for (u32 i = 0; i < 8; i++)
        if (regset_has(s, (Reg)(K0 + i)))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------------ operands */

static OpKind kind_of(const Operand *o) {
    switch ((OperandKind)o->kind) {
    case OPERAND_NONE:
        break;
    case OPERAND_REG:
        return o->cls == CLS_GP ? OP_GP : o->cls == CLS_VEC ? OP_VEC : OP_OTHER;
    case OPERAND_MEM:
        return OP_MEM;
    case OPERAND_IMM:
        return OP_IMM;
    }
    return OP_OTHER;
}

static void set_operands(MachineInsn *in, const X86Facts *f) {
    for (u32 i = 0; i < f->operand_count && i < ARRAY_LEN(in->op); i++) {
        const Operand *o = &f->op[i];
        in->op[in->op_count++] = (MachineOp){
            .kind = (u8)kind_of(o),
            .no = o->kind == OPERAND_REG ? x86_operand_register(o) : 0,
            .high = o->high,
            .read = f->how[i] & ACCESS_READ,
            .write = f->how[i] & ACCESS_WRITE,
            .bits = o->bits,
            .imm = o->kind == OPERAND_IMM ? o->disp : 0,
        };
        in->has_high |= o->high;
    }
}

/* The memory operand, whether or not it is accessed, or NULL. */
static const Operand *memory_operand(const X86Facts *f) {
    for (u32 i = 0; i < f->operand_count; i++)
        if (f->op[i].kind == OPERAND_MEM)
            return &f->op[i];
    return NULL;
}

/* An instruction with a byte register like ah cannot have a REX prefix, which another address might need. */
static void set_memory(MachineInsn *in, const X86Facts *f) {
    const Operand *o = memory_operand(f);
    if (!o)
        return;
    const InsnAccess *a = f->access_count && !(f->access[0].how & ACCESS_IMPLIED) ? &f->access[0] : NULL;
    u8 how = a ? a->how : 0;
    in->has_mem = true;
    in->mem = (Mem){
        .base = o->base,
        .index = o->index,
        .scale = o->scale,
        .odd = o->seg || how & ACCESS_ELEMENTS || o->addr_bits != 64 || !f->modrm_at || f->prefixes & PREFIX_XOP ||
               in->has_high,
        .read = how & ACCESS_READ,
        .write = how & ACCESS_WRITE,
        .bytes = o->bits / 8,
        .disp = o->disp,
    };
}

/* True if it accesses memory that `mem` does not describe, or not exactly. */
static bool touches_memory(const X86Facts *f) {
    for (u32 i = 0; i < f->access_count; i++)
        if (f->access[i].how & (ACCESS_IMPLIED | ACCESS_MAYBE | ACCESS_AROUND | ACCESS_ELEMENTS))
            return true;
    return false;
}

static void set_registers(MachineInsn *in, const X86Facts *f) {
    in->writes = followed(&f->writes);
    in->kills = followed(&f->kills);
    in->tested = followed(&f->reads) & ALL_FLAGS;
    in->reads = followed(&f->reads) | (in->writes & ~in->kills);
    in->address = followed(&f->address);
    in->undefined = followed(&f->undefined);
    in->maybe_flags = (in->writes & ~in->kills & ALL_FLAGS) != 0;
    bool vectors = (in->reads | in->writes | in->address) & ALL_VEC;
    bool newer = f->prefixes & (PREFIX_VEX | PREFIX_EVEX | PREFIX_XOP);
    in->legacy_vector = vectors && !newer;
    in->new_vector = vectors && newer;
}

/* -------------------------------------------------------------------------------------------------------------- the rest */

/* True if the instruction cannot be copied here: the original continues there. */
static bool must_leave(const X86Facts *f) {
    u16 others = STATE_MXCSR | STATE_SEGMENT | STATE_FLAGS | STATE_WHOLE | STATE_SYSTEM | STATE_SHADOW;
    for (u32 i = 0; i < f->access_count; i++)
        if (f->access[i].how & ACCESS_IMPLIED && f->access[i].how & ACCESS_AROUND) /* enter */
            return true;
    bool counts = f->flow == FLOW_BRANCH && f->cond == COND_NONE; /* loop, jrcxz */
    return f->state & others || f->far || f->narrow || counts || f->flow == FLOW_SYSCALL;
}

/* Mask registers, and registers that no RegSet has, are not followed: instructions that use them are only copied. */
static bool is_plain(const MachineInsn *in, const X86Facts *f) {
    bool all = f->operand_count <= ARRAY_LEN(in->op) && !f->more_operands && !(f->state & STATE_REGISTERS) &&
               !has_masks(&f->reads) && !has_masks(&f->writes);
    return f->computes && all && !in->touches_memory && (in->writes || (in->has_mem && in->mem.write));
}

/* Upper halves of vectors are not followed, so instructions on them cannot be executed alone. */
static bool executes_alone(const X86Facts *f) {
    if (f->prefixes & (PREFIX_EVEX | PREFIX_XOP))
        return false;
    return !f->vector || f->vector_bits == 128;
}

/* Recognises instructions whose result does not depend on the register that they read twice, such as xor. */
static void recognize_idiom(MachineInsn *in) {
    u32 n = in->op_count;
    if (n < 2 || in->op[n - 1].kind != in->op[n - 2].kind || in->op[n - 1].no != in->op[n - 2].no ||
        in->op[0].bits < 32)
        return;
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_XORPD:
    case ZYDIS_MNEMONIC_VPXOR:
    case ZYDIS_MNEMONIC_VXORPS:
    case ZYDIS_MNEMONIC_VXORPD:
    case ZYDIS_MNEMONIC_PCMPEQB:
    case ZYDIS_MNEMONIC_PCMPEQW:
    case ZYDIS_MNEMONIC_PCMPEQD:
        if (in->op[n - 1].kind == OP_GP || in->op[n - 1].kind == OP_VEC)
            in->reads &= ~BIT(in->op[n - 1].no);
        break;
    default:
        break;
    }
}

/* Only 128-bit instructions: others would read the upper halves of registers, too. */
static bool takes_vector(const MachineInsn *in) {
    if (!in->pure || !in->has_mem || in->mem.write || in->mem.bytes > 16)
        return false;
#define ARITHMETIC(op)                                                                                                 \
    case ZYDIS_MNEMONIC_##op##SS:                                                                                      \
    case ZYDIS_MNEMONIC_##op##SD:                                                                                      \
    case ZYDIS_MNEMONIC_##op##PS:                                                                                      \
    case ZYDIS_MNEMONIC_##op##PD:
#define BITWISE(op)                                                                                                    \
    case ZYDIS_MNEMONIC_##op##PS:                                                                                      \
    case ZYDIS_MNEMONIC_##op##PD:
    switch (in->mnemonic) {
        ARITHMETIC(ADD)
        ARITHMETIC(SUB)
        ARITHMETIC(MUL)
        ARITHMETIC(DIV)
        ARITHMETIC(MIN)
        ARITHMETIC(MAX)
        ARITHMETIC(VADD)
        ARITHMETIC(VSUB)
        ARITHMETIC(VMUL)
        ARITHMETIC(VDIV)
        BITWISE(AND)
        BITWISE(XOR)
        BITWISE(OR)
        BITWISE(VAND)
        BITWISE(VXOR)
        return true;
    default:
        return false;
    }
#undef ARITHMETIC
#undef BITWISE
}

/* Only legacy scalar instructions; those with VEX have other mnemonics. */
static Halves halves_of(const MachineInsn *in) {
    bool two = in->op_count == 2, to_vec = two && in->op[0].kind == OP_VEC, from_vec = two && in->op[1].kind == OP_VEC;
#define SCALAR(op)                                                                                                     \
    case ZYDIS_MNEMONIC_##op##SS:                                                                                      \
    case ZYDIS_MNEMONIC_##op##SD:
    switch (in->mnemonic) {
        SCALAR(ADD)
        SCALAR(SUB)
        SCALAR(MUL)
        SCALAR(DIV)
        SCALAR(MIN)
        SCALAR(MAX)
        SCALAR(SQRT)
        SCALAR(COMI)
        SCALAR(UCOMI)
        return to_vec ? HALVES_KEPT : HALVES_READ;
        SCALAR(MOV)
        return in->op[0].kind == OP_MEM && from_vec ? HALVES_KEPT : HALVES_READ;
    case ZYDIS_MNEMONIC_MOVAPS:
    case ZYDIS_MNEMONIC_MOVAPD:
    case ZYDIS_MNEMONIC_MOVDQA:
        return to_vec && from_vec ? HALVES_COPIED : HALVES_READ;
    default:
        return HALVES_READ;
    }
#undef SCALAR
}

bool machine_decode(u64 pc, const u8 *bytes, size_t size, MachineInsn *in) {
    X86Facts f;
    if (!x86_facts(bytes, size, pc, &f))
        return false;
    *in = (MachineInsn){
        .pc = pc,
        .length = f.length,
        .mnemonic = f.mnemonic,
        .flow = f.flow,
        .indirect = f.indirect,
        .target = f.target,
        .level = f.level,
        .cond = f.cond,
        .modrm_off = f.modrm_at,
        .tail_off = f.tail_at,
    };
    memcpy(in->bytes, bytes, f.length);
    set_operands(in, &f);
    set_memory(in, &f);
    set_registers(in, &f);
    in->touches_memory = touches_memory(&f);
    in->plain = is_plain(in, &f);
    in->pure = in->plain && executes_alone(&f) && !(in->has_mem && in->mem.odd);
    recognize_idiom(in);
    in->takes_vector = takes_vector(in);
    in->halves = (u8)halves_of(in);
    if (must_leave(&f) ||
        (in->has_mem && in->mem.odd && in->mem.base == PC_REG)) /* at another place it would be another address */
        in->flow = FLOW_STOP;
    return true;
}
