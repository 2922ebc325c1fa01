/* decode.c: x86-64 bytes to Insn, by Zydis. */
#include <Zydis/Zydis.h>

#include "isa/x86_64/x86_64.h"

static void init(ZydisDecoder *d) {
    ZydisDecoderInit(d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

/* ----------------------------------------------------------------------------------------------------------- registers */

static bool in_range(ZydisRegister r, ZydisRegister first, ZydisRegister last) {
    return r >= first && r <= last;
}

/* Zydis lists registers by class; al cl dl bl ah ch dh bh spl bpl sil dil r8b … are the byte registers. */
static void set_byte_register(ZydisRegister r, Operand *op) {
    u32 n = (u32)(r - ZYDIS_REGISTER_AL);
    op->cls = CLS_GP;
    op->high = n >= 4 && n < 8;
    op->no = (u8)(n < 4 ? n : n - 4);
    if (op->high)
        op->no = (u8)(n - 4);
}

static void set_register(ZydisRegister r, Operand *op) {
    static const struct { ZydisRegister first, last; u8 cls; } classes[] = {
        {ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W, CLS_GP},     {ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D, CLS_GP},
        {ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15, CLS_GP},     {ZYDIS_REGISTER_XMM0, ZYDIS_REGISTER_XMM31, CLS_VEC},
        {ZYDIS_REGISTER_YMM0, ZYDIS_REGISTER_YMM31, CLS_VEC}, {ZYDIS_REGISTER_ZMM0, ZYDIS_REGISTER_ZMM31, CLS_VEC},
        {ZYDIS_REGISTER_MM0, ZYDIS_REGISTER_MM7, CLS_MMX},    {ZYDIS_REGISTER_ST0, ZYDIS_REGISTER_ST7, CLS_ST},
        {ZYDIS_REGISTER_K0, ZYDIS_REGISTER_K7, CLS_MASK},     {ZYDIS_REGISTER_ES, ZYDIS_REGISTER_GS, CLS_SEG},
    };
    op->kind = OPERAND_REG;
    op->cls = CLS_OTHER;
    if (in_range(r, ZYDIS_REGISTER_AL, ZYDIS_REGISTER_R15B)) {
        set_byte_register(r, op);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (in_range(r, classes[i].first, classes[i].last)) {
            op->cls = classes[i].cls;
            op->no = (u8)(r - classes[i].first);
            return;
        }
    }
}

/* The general register (as Reg) of a memory operand's base or index. */
static Reg address_register(ZydisRegister r) {
    if (in_range(r, ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15))
        return (Reg)(r - ZYDIS_REGISTER_RAX);
    if (in_range(r, ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D))
        return (Reg)(r - ZYDIS_REGISTER_EAX);
    return r == ZYDIS_REGISTER_RIP || r == ZYDIS_REGISTER_EIP ? REG_PC : REG_NONE;
}

/* ------------------------------------------------------------------------------------------------------------ operands */

/* SDM 2A, table 2-3: a SIB base of 5 without displacement bytes in ModRM is no base but a disp32, REX.B or not. Zydis 4.0
 * takes it for r13d where the address size is 32 bits. */
static bool has_no_base(const ZydisDecodedInstruction *z) {
    return z->raw.modrm.mod == 0 && z->raw.modrm.rm == 4 && z->raw.sib.base == 5 && z->raw.sib.offset;
}

static void set_memory(const ZydisDecodedInstruction *z, const ZydisDecodedOperandMem *m, u64 pc, Operand *op) {
    op->kind = OPERAND_MEM;
    op->base = address_register(m->base);
    op->index = address_register(m->index);
    op->scale = m->scale ? m->scale : 1;
    op->seg = m->segment == ZYDIS_REGISTER_FS ? SEG_FS : m->segment == ZYDIS_REGISTER_GS ? SEG_GS : SEG_NONE;
    op->addr_bits = z->address_width;
    op->disp = m->disp.has_displacement ? m->disp.value : 0;
    if (has_no_base(z)) {
        op->base = REG_NONE;
        op->disp = z->raw.disp.value;
    }
    if (op->base == REG_PC)
        op->disp += (i64)(pc + z->length);
    if (m->base == ZYDIS_REGISTER_EIP)
        op->disp = (u32)op->disp;
}

static void set_operand_of(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *zo, u64 pc, Operand *op) {
    op->bits = zo->size;
    op->base = op->index = REG_NONE;
    switch (zo->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER: set_register(zo->reg.value, op); return;
    case ZYDIS_OPERAND_TYPE_MEMORY: set_memory(z, &zo->mem, pc, op); return;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        op->kind = OPERAND_IMM;
        op->disp = zo->imm.is_signed ? zo->imm.value.s : (i64)zo->imm.value.u;
        return;
    default: op->kind = OPERAND_NONE;
    }
}

static void add_written(const ZydisDecodedOperand *zo, bool clears_upper, Insn *in) {
    if (zo->type != ZYDIS_OPERAND_TYPE_REGISTER || !(zo->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
        return;
    Operand op = {0};
    set_register(zo->reg.value, &op);
    if (op.cls == CLS_GP)
        regset_add(&in->writes, op.no);
    if (op.cls == CLS_MASK)
        regset_add(&in->writes, (Reg)(K0 + op.no));
    if (op.cls != CLS_VEC)
        return;
    regset_add(&in->writes, (Reg)(XMM0 + op.no));
    if (clears_upper) {
        regset_add(&in->writes, (Reg)(YMM0_HIGH + op.no));
        regset_add(&in->writes, (Reg)(ZMM0_HIGH + op.no));
    }
}

static void add_vector(const ZydisDecodedOperand *zo, Insn *in) {
    Operand op = {0};
    if (zo->type == ZYDIS_OPERAND_TYPE_REGISTER)
        set_register(zo->reg.value, &op);
    if (op.cls == CLS_VEC)
        regset_add(&in->vectors, (Reg)(XMM0 + op.no));
}

static void add_flags(const Row *row, Insn *in) {
    static const Reg order[] = {OF, DF, REG_NONE, SF, ZF, AF, PF, CF};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (row->flags[i] != '-' && order[i] != REG_NONE)
            regset_add(&in->writes, order[i]);
}

/* The base registers of string operations and of push and pop are written, too. */
static void add_stepped(const ZydisDecodedOperand *zo, Insn *in) {
    if (zo->type != ZYDIS_OPERAND_TYPE_MEMORY || zo->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
        return;
    Reg base = address_register(zo->mem.base);
    if (base == RSI || base == RDI || base == RSP)
        regset_add(&in->writes, base);
}

/* ------------------------------------------------------------------------------------------------------------ the rest */

static void set_flow(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops, Insn *in) {
    bool direct = ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && ops[0].imm.is_relative;
    ZyanU64 target = 0;
    if (direct)
        ZydisCalcAbsoluteAddress(z, &ops[0], in->pc, &target);
    switch (z->meta.category) {
    case ZYDIS_CATEGORY_COND_BR: in->flow = FLOW_BRANCH; break;
    case ZYDIS_CATEGORY_UNCOND_BR: in->flow = direct ? FLOW_JUMP : FLOW_INDIRECT; break;
    case ZYDIS_CATEGORY_CALL: in->flow = FLOW_CALL; break;
    case ZYDIS_CATEGORY_RET: in->flow = FLOW_RETURN; break;
    default: in->flow = FLOW_NEXT;
    }
    if (in->flow != FLOW_NEXT)
        in->target = target;
}

/* Far transfers need segments; a 16-bit operand size on near ones means different things to different vendors. */
static bool odd_branch(const ZydisDecodedInstruction *z) {
    if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
        return true;
    bool narrow = (z->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) && !z->raw.rex.W;
    return z->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE && narrow;
}

/* What Zydis names like a row of ours and is something else: instructions of the Xeon Phi of 2012 in VEX encodings that are
 * undefined everywhere else, and `pause` with REX.B, which CPUs run as xchg r8, rax. */
static bool misnamed(const ZydisDecodedInstruction *z) {
    return z->meta.isa_ext == ZYDIS_ISA_EXT_KNC || (z->mnemonic == ZYDIS_MNEMONIC_PAUSE && z->raw.rex.B);
}

static bool is_state_instruction(ZydisMnemonic m) {
    switch (m) {
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_STD:
    case ZYDIS_MNEMONIC_CLD:
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_STMXCSR:
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_EMMS: return true;
    default: return false;
    }
}

/* x87 and MMX registers, mxcsr, segment bases, the direction flag; and whatever may be anything. */
static bool is_special(const ZydisDecodedInstruction *z, const Insn *in) {
    ZydisISAExt ext = z->meta.isa_ext;
    bool special = !in->row || in->segment == SEG_GS || is_state_instruction(z->mnemonic) || ext == ZYDIS_ISA_EXT_X87 ||
                   ext == ZYDIS_ISA_EXT_MMX || ext == ZYDIS_ISA_EXT_XSAVE || ext == ZYDIS_ISA_EXT_XSAVEC ||
                   ext == ZYDIS_ISA_EXT_XSAVEOPT || ext == ZYDIS_ISA_EXT_RDWRFSGS;
    for (u32 i = 0; i < in->operand_count; i++)
        special |= in->op[i].cls == CLS_MMX && in->op[i].kind == OPERAND_REG;
    return special;
}

static u16 prefixes_of(const ZydisDecodedInstruction *z) {
    u16 p = 0;
    if (z->attributes & ZYDIS_ATTRIB_HAS_LOCK)
        p |= PREFIX_LOCK;
    if (z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE))
        p |= PREFIX_REP;
    if (z->attributes & ZYDIS_ATTRIB_HAS_REPNE)
        p |= PREFIX_REPNE;
    if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
        p |= PREFIX_VEX;
    if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
        p |= PREFIX_EVEX;
    return p;
}

LatheStatus x86_decode(const u8 *bytes, size_t size, u64 pc, Insn *in) {
    ZydisDecoder d;
    init(&d);
    ZydisDecodedInstruction z;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, bytes, size, &z, ops)))
        return size < ZYDIS_MAX_INSTRUCTION_LENGTH ? LATHE_ERR_MEMORY : LATHE_ERR_DECODE;
    in->size = z.length;
    in->operand_bits = z.operand_width;
    in->address_bits = z.address_width;
    in->segment = z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS   ? SEG_FS
                  : z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS ? SEG_GS
                                                               : SEG_NONE;
    in->prefixes = prefixes_of(&z);
    in->operand_count = z.operand_count_visible < INSN_OPERANDS ? z.operand_count_visible : INSN_OPERANDS;
    for (u32 i = 0; i < in->operand_count; i++)
        set_operand_of(&z, &ops[i], pc, &in->op[i]);
    set_flow(&z, ops, in);
    in->row = odd_branch(&z) || misnamed(&z) ? 0 : x86_row(z.mnemonic);
    in->special = is_special(&z, in);
    if (!in->row)
        return LATHE_OK;
    bool clears_upper = in->prefixes & (PREFIX_VEX | PREFIX_EVEX);
    for (u32 i = 0; i < z.operand_count; i++) {
        add_written(&ops[i], clears_upper, in);
        add_vector(&ops[i], in);
        add_stepped(&ops[i], in);
    }
    add_flags(x86_row_at(in->row), in);
    x86_refine(in);
    return LATHE_OK;
}

int x86_format(const u8 *bytes, size_t size, u64 pc, char *text, size_t text_size) {
    ZydisDecoder d;
    init(&d);
    ZydisDecodedInstruction z;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, bytes, size, &z, ops)))
        return LATHE_ERR_DECODE;
    ZydisFormatter f;
    ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterFormatInstruction(&f, &z, ops, z.operand_count_visible, text, text_size, pc, NULL);
    return z.length;
}
