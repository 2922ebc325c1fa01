/* facts_kind.c: what goes by an instruction's name and category: how control goes on, which state besides registers it has to do
 * with, whether it only computes, and which processors have it (facts.h). */
#include "isa/x86_64/facts_parts.h"

bool facts_is_string(const Decoded *d) {
    return d->in.meta.category == ZYDIS_CATEGORY_STRINGOP || d->in.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

/* ------------------------------------------------------------------------------------------------------- what it needs */

/* Faults whatever its operands: what Zydis calls privileged, but for what a processor can be told to allow; and more, of which some
 * needs the privilege of I/O, which none of our processes has. */
static bool always_traps(const Decoded *d) {
    switch (d->in.mnemonic) {
    case ZYDIS_MNEMONIC_MONITOR:
    case ZYDIS_MNEMONIC_MWAIT:
    case ZYDIS_MNEMONIC_VMCALL:
    case ZYDIS_MNEMONIC_VMMCALL:
        return false;
    case ZYDIS_MNEMONIC_CLGI:
    case ZYDIS_MNEMONIC_CLI:
    case ZYDIS_MNEMONIC_ENCLV:
    case ZYDIS_MNEMONIC_GETSEC:
    case ZYDIS_MNEMONIC_IN:
    case ZYDIS_MNEMONIC_INSB:
    case ZYDIS_MNEMONIC_INSD:
    case ZYDIS_MNEMONIC_INSW:
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_LGDT:
    case ZYDIS_MNEMONIC_LIDT:
    case ZYDIS_MNEMONIC_LLDT:
    case ZYDIS_MNEMONIC_LMSW:
    case ZYDIS_MNEMONIC_LTR:
    case ZYDIS_MNEMONIC_OUT:
    case ZYDIS_MNEMONIC_OUTSB:
    case ZYDIS_MNEMONIC_OUTSD:
    case ZYDIS_MNEMONIC_OUTSW:
    case ZYDIS_MNEMONIC_PCONFIG:
    case ZYDIS_MNEMONIC_PSMASH:
    case ZYDIS_MNEMONIC_PVALIDATE:
    case ZYDIS_MNEMONIC_RMPADJUST:
    case ZYDIS_MNEMONIC_RMPUPDATE:
    case ZYDIS_MNEMONIC_RSM:
    case ZYDIS_MNEMONIC_SEAMCALL:
    case ZYDIS_MNEMONIC_SEAMOPS:
    case ZYDIS_MNEMONIC_SEAMRET:
    case ZYDIS_MNEMONIC_SKINIT:
    case ZYDIS_MNEMONIC_STGI:
    case ZYDIS_MNEMONIC_STI:
    case ZYDIS_MNEMONIC_TDCALL:
    case ZYDIS_MNEMONIC_TLBSYNC:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_VMLOAD:
    case ZYDIS_MNEMONIC_VMRUN:
    case ZYDIS_MNEMONIC_VMSAVE:
        return true;
    default:
        return d->in.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED;
    }
}

static u16 state_by_category(const ZydisDecodedInstruction *z) {
    switch (z->meta.category) {
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_UINTR:
    case ZYDIS_CATEGORY_KEYLOCKER:
    case ZYDIS_CATEGORY_KEYLOCKER_WIDE:
        return STATE_SYSTEM;
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_RDWRFSGS:
        return STATE_SEGMENT;
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
        return STATE_WHOLE | STATE_X87 | STATE_MXCSR;
    case ZYDIS_CATEGORY_AMX_TILE:
        return STATE_WHOLE;
    case ZYDIS_CATEGORY_AMD3DNOW:
        return STATE_X87;
    case ZYDIS_CATEGORY_CET:
        return z->mnemonic == ZYDIS_MNEMONIC_ENDBR64 || z->mnemonic == ZYDIS_MNEMONIC_ENDBR32 ? 0 : STATE_SHADOW;
    default:
        return z->meta.isa_ext == ZYDIS_ISA_EXT_X87 || z->meta.isa_ext == ZYDIS_ISA_EXT_MMX ? STATE_X87 : 0;
    }
}

static u16 state_by_name(const ZydisDecodedInstruction *z) {
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_XGETBV:
        return STATE_HOST;
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_RDRAND:
    case ZYDIS_MNEMONIC_RDSEED:
    case ZYDIS_MNEMONIC_RDPID:
        return STATE_CHANCE;
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_STMXCSR:
    case ZYDIS_MNEMONIC_VLDMXCSR:
    case ZYDIS_MNEMONIC_VSTMXCSR:
        return STATE_MXCSR;
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
        return STATE_WHOLE | STATE_X87 | STATE_MXCSR;
    case ZYDIS_MNEMONIC_VZEROALL:
        return STATE_WHOLE;
    case ZYDIS_MNEMONIC_STD:
    case ZYDIS_MNEMONIC_CLD:
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
        return STATE_FLAGS;
    default:
        return 0;
    }
}

static u16 state_of(const Decoded *d, bool traps) {
    u16 named = state_by_name(&d->in), state = named ? named : state_by_category(&d->in);
    return traps ? state | STATE_TRAP : state;
}

/* Instructions that compute, and nothing else. */
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

static X86Level level_of(const ZydisDecodedInstruction *z) {
    switch (z->meta.isa_ext) {
    case ZYDIS_ISA_EXT_BASE:
    case ZYDIS_ISA_EXT_LONGMODE:
    case ZYDIS_ISA_EXT_SSE:
    case ZYDIS_ISA_EXT_SSE2:
        return X86_LEVEL_BASE;
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
        return X86_LEVEL_3;
    default:
        return X86_LEVEL_OTHER;
    }
}

static bool is_vector(const ZydisDecodedInstruction *z) {
    bool general = z->meta.category == ZYDIS_CATEGORY_BMI1 || z->meta.category == ZYDIS_CATEGORY_BMI2;
    return z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX || z->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP ||
           (z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && !general);
}

/* ------------------------------------------------------------------------------------------------------------- control */

/* SDM 2A, appendix B.1.4.7: the low half of the opcode of jcc, setcc and cmovcc. */
static u8 condition_of(const ZydisDecodedInstruction *z) {
    bool two = z->opcode_map == ZYDIS_OPCODE_MAP_0F && z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    bool is_short = z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && z->meta.category == ZYDIS_CATEGORY_COND_BR;
    u8 row = z->opcode & 0xf0;
    if ((two && (row == 0x40 || row == 0x80 || row == 0x90)) || (is_short && row == 0x70))
        return z->opcode & 15;
    return COND_NONE;
}

/* Transfers that are no near jump, call or return, whatever their category. */
static bool is_far(const ZydisDecodedInstruction *z) {
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_UIRET:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_SYSEXIT:
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_ENCLU:
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_XABORT:
        return true;
    default:
        return z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
    }
}

static Flow flow_of(const Decoded *d, bool direct, bool traps) {
    switch (d->in.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return d->in.mnemonic == ZYDIS_MNEMONIC_XEND ? FLOW_NEXT : FLOW_BRANCH;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return direct ? FLOW_JUMP : FLOW_INDIRECT;
    case ZYDIS_CATEGORY_CALL:
        return FLOW_CALL;
    case ZYDIS_CATEGORY_RET:
        return FLOW_RETURN;
    case ZYDIS_CATEGORY_SYSCALL:
        return FLOW_SYSCALL;
    default:
        return d->in.mnemonic == ZYDIS_MNEMONIC_UIRET ? FLOW_RETURN : traps ? FLOW_STOP : FLOW_NEXT;
    }
}

static void set_flow(const Decoded *d, bool traps, X86Facts *f) {
    const ZydisDecodedInstruction *z = &d->in;
    bool direct = d->ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && d->ops[0].imm.is_relative;
    f->flow = (u8)flow_of(d, direct, traps);
    f->far = is_far(z);
    f->narrow =
        z->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE && z->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE && !z->raw.rex.W;
    f->cond = condition_of(z);
    if (f->flow == FLOW_NEXT || f->flow == FLOW_STOP || f->flow == FLOW_SYSCALL)
        return;
    f->indirect = !direct;
    if (direct)
        ZydisCalcAbsoluteAddress(z, &d->ops[0], d->pc, &f->target);
}

void facts_kind(const Decoded *d, X86Facts *f) {
    bool traps = always_traps(d);
    set_flow(d, traps, f);
    f->state |= state_of(d, traps);
    f->computes = computes(&d->in);
    f->level = (u8)level_of(&d->in);
    f->vector = is_vector(&d->in);
    f->vector_bits = f->vector ? d->in.avx.vector_length : 0;
}
