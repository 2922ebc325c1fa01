/* insn.c: see insn.h. */
#include "binopt/machine/insn.h"

static bool in_range(ZydisRegister r, ZydisRegister first, ZydisRegister last) {
    return r >= first && r <= last;
}

/* Which register it is part of; NO_REG for those that are not followed. */
static u8 number_of(ZydisRegister r) {
    if (in_range(r, ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15))
        return (u8)(r - ZYDIS_REGISTER_RAX);
    if (in_range(r, ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D))
        return (u8)(r - ZYDIS_REGISTER_EAX);
    if (in_range(r, ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W))
        return (u8)(r - ZYDIS_REGISTER_AX);
    if (in_range(r, ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL))
        return (u8)(r - ZYDIS_REGISTER_AL);
    if (in_range(r, ZYDIS_REGISTER_AH, ZYDIS_REGISTER_R15B)) /* ah ch dh bh, then spl: 4, bpl … */
        return (u8)(r - ZYDIS_REGISTER_AH) < 4 ? (u8)(r - ZYDIS_REGISTER_AH) : (u8)(r - ZYDIS_REGISTER_AL - 4);
    if (in_range(r, ZYDIS_REGISTER_XMM0, ZYDIS_REGISTER_XMM31))
        return (u8)(R_VEC + (r - ZYDIS_REGISTER_XMM0));
    if (in_range(r, ZYDIS_REGISTER_YMM0, ZYDIS_REGISTER_YMM31))
        return (u8)(R_VEC + (r - ZYDIS_REGISTER_YMM0));
    if (in_range(r, ZYDIS_REGISTER_ZMM0, ZYDIS_REGISTER_ZMM31))
        return (u8)(R_VEC + (r - ZYDIS_REGISTER_ZMM0));
    return NO_REG;
}

static RegSet flags_of(u32 mask) {
    static const u32 order[] = {ZYDIS_CPUFLAG_CF, ZYDIS_CPUFLAG_PF, ZYDIS_CPUFLAG_AF, ZYDIS_CPUFLAG_ZF,
                                ZYDIS_CPUFLAG_SF, ZYDIS_CPUFLAG_OF, ZYDIS_CPUFLAG_DF};
    RegSet set = 0;
    for (u32 i = 0; i < ARRAY_LEN(order); i++)
        if (mask & order[i])
            set |= BIT(R_FLAGS + i);
    return set;
}

/* ------------------------------------------------------------------------------------------------------------ operands */

static void set_memory(Insn *in, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o) {
    Mem *m = &in->mem;
    in->has_mem = true;
    m->read |= (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    m->write |= (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    m->bytes = o->size / 8;
    in->touches_memory |= (o->actions & (ZYDIS_OPERAND_ACTION_CONDREAD | ZYDIS_OPERAND_ACTION_CONDWRITE)) != 0;
    m->base = m->index = NO_REG;
    m->scale = o->mem.scale ? o->mem.scale : 1;
    m->disp = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
    if (o->mem.base == ZYDIS_REGISTER_RIP) {
        m->base = PC_REG;
        m->disp += (i64)(in->pc + in->length);
    } else if (o->mem.base != ZYDIS_REGISTER_NONE) {
        m->base = number_of(o->mem.base);
    }
    if (o->mem.index != ZYDIS_REGISTER_NONE)
        m->index = number_of(o->mem.index);
    bool segment = o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS;
    bool vectors = m->index != NO_REG && m->index >= GP_COUNT;
    bool agen = o->mem.type != ZYDIS_MEMOP_TYPE_MEM && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN;
    m->odd = segment || vectors || agen || z->address_width != 64 || !z->raw.modrm.offset ||
             z->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP;
    if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN) /* lea */
        m->read = m->write = false;
    if (m->base < R_COUNT)
        in->address |= BIT(m->base);
    if (m->index < R_COUNT)
        in->address |= BIT(m->index);
}

/* A register is surely overwritten as a whole by 32 bits or more of a general one, by new vector instructions, and by 128
 * bits of old ones where nobody looks at the upper half (see live.c). */
static void add_register(Insn *in, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o) {
    u8 r = number_of(o->reg.value);
    if (o->reg.value == ZYDIS_REGISTER_RFLAGS || r == NO_REG)
        return;
    bool vector = r >= R_VEC, conditional = (o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0;
    bool newer = z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    bool whole = vector ? o->size >= 128 || newer : o->size >= 32;
    bool merges = z->avx.mask.mode == ZYDIS_MASK_MODE_MERGING || z->avx.mask.mode == ZYDIS_MASK_MODE_CONTROL;
    if (vector) {
        in->legacy_vector |= !newer;
        in->new_vector |= newer;
    }
    if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        in->reads |= BIT(r);
    if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
        return;
    in->writes |= BIT(r);
    if (whole && !conditional && !merges)
        in->kills |= BIT(r);
    else
        in->reads |= BIT(r);
}

static void add_visible(Insn *in, const ZydisDecodedOperand *o) {
    if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
        return;
    if (in->op_count == ARRAY_LEN(in->op)) {
        in->plain = false;
        return;
    }
    Op *op = &in->op[in->op_count++];
    op->bits = o->size;
    op->read = (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    op->write = (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    op->kind = OP_OTHER;
    if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        op->no = number_of(o->reg.value);
        op->kind = op->no == NO_REG ? OP_OTHER : op->no >= R_VEC ? OP_VEC : OP_GP;
        op->high = in_range(o->reg.value, ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH);
        in->has_high |= op->high;
    } else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        op->kind = OP_MEM;
    } else if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        op->kind = OP_IMM;
        op->imm = o->imm.is_signed ? o->imm.value.s : (i64)o->imm.value.u;
    }
}

static void add_operand(Insn *in, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o) {
    add_visible(in, o);
    if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        add_register(in, z, o);
    } else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        if (o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && !in->has_mem) {
            set_memory(in, z, o);
            return;
        }
        in->touches_memory = true;
        u8 base = number_of(o->mem.base);
        if (base < GP_COUNT)
            in->reads |= BIT(base);
    }
}

static void add_flags(Insn *in, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops) {
    const ZydisAccessedFlags *f = z->cpu_flags;
    if (!f)
        return;
    in->tested = flags_of(f->tested);
    in->reads |= in->tested;
    in->undefined = flags_of(f->undefined);
    RegSet written = flags_of(f->modified | f->set_0 | f->set_1 | f->undefined);
    in->writes |= written;
    bool conditional = false; /* a shift by cl may leave them all alone */
    for (u32 i = 0; i < z->operand_count; i++)
        if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER && ops[i].reg.value == ZYDIS_REGISTER_RFLAGS)
            conditional = (ops[i].actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0;
    in->maybe_flags = conditional;
    if (conditional)
        in->reads |= written;
    else
        in->kills |= written;
}

/* -------------------------------------------------------------------------------------------------------------- the rest */

static Flow other_flow(const ZydisDecodedInstruction *z) {
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
        return FLOW_STOP;
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_VLDMXCSR:
    case ZYDIS_MNEMONIC_VZEROALL:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
    case ZYDIS_MNEMONIC_ENTER:
        return FLOW_LEAVE;
    default:
        break;
    }
    switch (z->meta.category) {
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_RDWRFSGS:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_AMX_TILE:
    case ZYDIS_CATEGORY_AMD3DNOW:
    case ZYDIS_CATEGORY_UINTR:
    case ZYDIS_CATEGORY_KEYLOCKER:
    case ZYDIS_CATEGORY_KEYLOCKER_WIDE:
        return FLOW_LEAVE;
    case ZYDIS_CATEGORY_CET:
        return z->mnemonic == ZYDIS_MNEMONIC_ENDBR64 ? FLOW_ON : FLOW_LEAVE;
    default:
        return FLOW_ON;
    }
}

static u8 condition_of(const ZydisDecodedInstruction *z) {
    bool two = z->opcode_map == ZYDIS_OPCODE_MAP_0F && z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    bool is_short = z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && z->meta.category == ZYDIS_CATEGORY_COND_BR;
    u8 row = z->opcode & 0xf0;
    if ((two && (row == 0x40 || row == 0x80 || row == 0x90)) || (is_short && row == 0x70))
        return z->opcode & 15;
    return 0xff;
}

static void set_flow(Insn *in, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops) {
    bool direct = ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && ops[0].imm.is_relative;
    bool far_away = z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
    if (direct)
        ZydisCalcAbsoluteAddress(z, &ops[0], in->pc, &in->target);
    in->indirect = !direct;
    switch (z->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        in->flow = in->cond == 0xff ? FLOW_LEAVE : FLOW_BRANCH; /* loop, jrcxz */
        break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        in->flow = far_away ? FLOW_LEAVE : FLOW_JUMP;
        break;
    case ZYDIS_CATEGORY_CALL:
        in->flow = far_away ? FLOW_LEAVE : FLOW_CALL;
        break;
    case ZYDIS_CATEGORY_RET:
        in->flow = z->mnemonic == ZYDIS_MNEMONIC_RET && !far_away ? FLOW_RETURN : FLOW_LEAVE;
        break;
    default:
        in->flow = (u8)other_flow(z);
    }
}

/* Instructions that compute, and nothing else. Division may fault: see evaluate.c. */
static bool computes(const ZydisDecodedInstruction *z) {
    if (z->attributes & (ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
        return false;
    switch (z->meta.category) {
    case ZYDIS_CATEGORY_ADOX_ADCX:
    case ZYDIS_CATEGORY_AVX:
    case ZYDIS_CATEGORY_AVX2:
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_BMI2:
    case ZYDIS_CATEGORY_BROADCAST:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_FLAGOP:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_LZCNT:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_SSE:
    case ZYDIS_CATEGORY_VFMA:
        return true;
    case ZYDIS_CATEGORY_MISC:
        return z->mnemonic == ZYDIS_MNEMONIC_LEA;
    default:
        return false;
    }
}

/* Upper halves of vectors are not followed, so that instructions on them are not executed alone. */
static bool executes_alone(const ZydisDecodedInstruction *z) {
    bool general = z->meta.category == ZYDIS_CATEGORY_BMI1 || z->meta.category == ZYDIS_CATEGORY_BMI2;
    if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
        return general || z->avx.vector_length == 128;
    return z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

/* Registers that are not followed (x87, masks, segments) make an instruction one that is only copied. */
static bool all_followed(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops) {
    for (u32 i = 0; i < z->operand_count; i++)
        if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER && ops[i].reg.value != ZYDIS_REGISTER_RFLAGS &&
            number_of(ops[i].reg.value) == NO_REG)
            return false;
    return true;
}

static void set_layout(Insn *in, const ZydisDecodedInstruction *z) {
    if (!z->raw.modrm.offset)
        return;
    in->modrm_off = z->raw.modrm.offset;
    u8 end = in->modrm_off + 1;
    if (z->raw.sib.offset)
        end = z->raw.sib.offset + 1;
    if (z->raw.disp.size)
        end = (u8)(z->raw.disp.offset + z->raw.disp.size / 8);
    in->tail_off = end;
}

/* What does not depend on the register it reads twice. */
static void recognize_idiom(Insn *in) {
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

/* SDM 2A, BT: with its number in a register the bit may be anywhere around the memory operand. */
static bool reaches_beyond(const Insn *in) {
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
        return in->op[0].kind == OP_MEM && in->op[1].kind == OP_GP;
    default:
        return false;
    }
}

/* In 128 bits: upper halves of registers would be read, too. */
static bool takes_vector(const Insn *in) {
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

/* Which CPUs have it: all of x86-64, those of its third level, or who knows. */
static Level level_of(const ZydisDecodedInstruction *z) {
    switch (z->meta.isa_ext) {
    case ZYDIS_ISA_EXT_BASE:
    case ZYDIS_ISA_EXT_LONGMODE:
    case ZYDIS_ISA_EXT_SSE:
    case ZYDIS_ISA_EXT_SSE2:
        return LEVEL_BASE;
    case ZYDIS_ISA_EXT_SSE3:
    case ZYDIS_ISA_EXT_SSSE3:
    case ZYDIS_ISA_EXT_SSE4:
    case ZYDIS_ISA_EXT_AVX:
    case ZYDIS_ISA_EXT_AVX2:
    case ZYDIS_ISA_EXT_FMA:
    case ZYDIS_ISA_EXT_F16C:
    case ZYDIS_ISA_EXT_BMI1:
    case ZYDIS_ISA_EXT_BMI2:
    case ZYDIS_ISA_EXT_LZCNT:
    case ZYDIS_ISA_EXT_MOVBE:
        return LEVEL_3;
    default:
        return LEVEL_OTHER;
    }
}

/* Old scalar instructions; those with VEX have other mnemonics. */
static Halves halves_of(const Insn *in) {
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

bool insn_decode(u64 pc, const u8 *bytes, size_t size, Insn *in) {
    ZydisDecoder d;
    ZydisDecodedInstruction z;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, bytes, size, &z, ops)))
        return false;
    *in = (Insn){.pc = pc, .length = z.length, .mnemonic = (u16)z.mnemonic};
    memcpy(in->bytes, bytes, z.length);
    in->plain = computes(&z) && all_followed(&z, ops);
    for (u32 i = 0; i < z.operand_count; i++)
        add_operand(in, &z, &ops[i]);
    add_flags(in, &z, ops);
    in->touches_memory |= reaches_beyond(in);
    in->plain &= !in->touches_memory && (in->writes || (in->has_mem && in->mem.write));
    in->mem.odd |= in->has_high; /* with REX they would be other registers */
    in->pure = in->plain && executes_alone(&z) && !(in->has_mem && in->mem.odd);
    recognize_idiom(in);
    in->takes_vector = takes_vector(in);
    in->halves = (u8)halves_of(in);
    in->level = (u8)level_of(&z);
    in->cond = condition_of(&z);
    set_flow(in, &z, ops);
    set_layout(in, &z);
    if (in->has_mem && in->mem.odd && in->mem.base == PC_REG) /* elsewhere it would be another address */
        in->flow = FLOW_LEAVE;
    return true;
}
