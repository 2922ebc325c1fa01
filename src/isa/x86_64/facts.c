/* facts.c: see facts.h. Operands, registers and flags. */
#include "isa/x86_64/facts_parts.h"

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
}

static void set_register(ZydisRegister r, Operand *op) {
    static const struct {
        ZydisRegister first, last;
        u8 cls;
    } classes[] = {
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

Reg facts_address_register(ZydisRegister r) {
    if (in_range(r, ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15))
        return (Reg)(r - ZYDIS_REGISTER_RAX);
    if (in_range(r, ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D))
        return (Reg)(r - ZYDIS_REGISTER_EAX);
    return r == ZYDIS_REGISTER_RIP || r == ZYDIS_REGISTER_EIP ? REG_PC : REG_NONE;
}

Reg x86_operand_register(const Operand *op) {
    if (op->kind != OPERAND_REG)
        return REG_NONE;
    return op->cls == CLS_GP     ? op->no
           : op->cls == CLS_VEC  ? (Reg)(XMM0 + op->no)
           : op->cls == CLS_MASK ? (Reg)(K0 + op->no)
                                 : REG_NONE;
}

/* ------------------------------------------------------------------------------------------------------------ operands */

/* SDM 2A, table 2-3: a SIB base of 5 without displacement bytes in ModRM is no base but a disp32, REX.B or not. Zydis 4.0
 * takes it for r13d where the address size is 32 bits. */
static bool has_no_base(const ZydisDecodedInstruction *z) {
    return z->raw.modrm.mod == 0 && z->raw.modrm.rm == 4 && z->raw.sib.base == 5 && z->raw.sib.offset;
}

void facts_address(const Decoded *d, const ZydisDecodedOperand *o, Operand *op) {
    const ZydisDecodedOperandMem *m = &o->mem;
    op->kind = OPERAND_MEM;
    op->base = facts_address_register(m->base);
    op->index = facts_address_register(m->index);
    op->scale = m->scale ? m->scale : 1;
    op->seg = m->segment == ZYDIS_REGISTER_FS ? SEG_FS : m->segment == ZYDIS_REGISTER_GS ? SEG_GS : SEG_NONE;
    op->addr_bits = d->in.address_width;
    op->disp = m->disp.has_displacement ? m->disp.value : 0;
    if (o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && has_no_base(&d->in)) {
        op->base = REG_NONE;
        op->disp = d->in.raw.disp.value;
    }
    if (op->base == REG_PC)
        op->disp += (i64)(d->pc + d->in.length);
    if (m->base == ZYDIS_REGISTER_EIP)
        op->disp = (u32)op->disp;
}

static void set_operand_of(const Decoded *d, const ZydisDecodedOperand *o, Operand *op) {
    *op = (Operand){.bits = o->size, .base = REG_NONE, .index = REG_NONE};
    switch (o->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
        set_register(o->reg.value, op);
        return;
    case ZYDIS_OPERAND_TYPE_MEMORY:
        facts_address(d, o, op);
        return;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        op->kind = OPERAND_IMM;
        op->disp = o->imm.is_signed ? o->imm.value.s : (i64)o->imm.value.u;
        return;
    default:
        op->kind = OPERAND_NONE;
    }
}

static u8 how_of(const ZydisDecodedOperand *o) {
    bool maybe = o->actions & (ZYDIS_OPERAND_ACTION_CONDREAD | ZYDIS_OPERAND_ACTION_CONDWRITE);
    return (u8)((o->actions & ZYDIS_OPERAND_ACTION_MASK_READ ? ACCESS_READ : 0) |
                (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? ACCESS_WRITE : 0) | (maybe ? ACCESS_MAYBE : 0));
}

static void set_operands(const Decoded *d, X86Facts *f) {
    u8 visible = d->in.operand_count_visible;
    f->more_operands = visible > INSN_OPERANDS;
    f->operand_count = f->more_operands ? INSN_OPERANDS : visible;
    for (u32 i = 0; i < f->operand_count; i++) {
        set_operand_of(d, &d->ops[i], &f->op[i]);
        f->how[i] = how_of(&d->ops[i]);
    }
}

/* -------------------------------------------------------------------------------------------------- registers, as sets */

/* Adds a register; of a vector register the parts that an access of so many bits means, or all. */
static void add_parts(RegSet *s, const Operand *op, u32 bits, bool whole) {
    regset_add(s, x86_operand_register(op));
    if (op->cls != CLS_VEC)
        return;
    if (bits > 128 || whole)
        regset_add(s, (Reg)(YMM0_HIGH + op->no));
    if (bits > 256 || whole)
        regset_add(s, (Reg)(ZMM0_HIGH + op->no));
}

/* bsf and bsr of 0: the manual leaves the result open, but CPUs keep what was there, and compilers go by that. rdssp does nothing
 * where the shadow stack is off. */
static bool may_keep_result(const ZydisDecodedInstruction *z) {
    return z->mnemonic == ZYDIS_MNEMONIC_BSF || z->mnemonic == ZYDIS_MNEMONIC_BSR ||
           z->mnemonic == ZYDIS_MNEMONIC_RDSSPD || z->mnemonic == ZYDIS_MNEMONIC_RDSSPQ;
}

/* A register is surely overwritten as a whole by 32 bits or more of a general one, by vector instructions in VEX or EVEX form that
 * do not merge by a mask, and by 128 bits of others, whose registers have no more. */
static bool overwrites(const Decoded *d, const ZydisDecodedOperand *o, const Operand *op) {
    const ZydisDecodedInstruction *z = &d->in;
    bool merges = z->avx.mask.mode == ZYDIS_MASK_MODE_MERGING || z->avx.mask.mode == ZYDIS_MASK_MODE_CONTROL;
    if (o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE || merges || may_keep_result(z))
        return false;
    if (op->cls == CLS_GP)
        return o->size >= 32;
    return op->cls == CLS_MASK || o->size >= 128 || z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

/* What a register that no RegSet has is a part of. The flags and the pc are told of otherwise. */
static u16 state_of_register(ZydisRegister r, const Operand *op) {
    switch (op->cls) {
    case CLS_MMX:
    case CLS_ST:
        return STATE_REGISTERS | STATE_X87;
    case CLS_SEG:
        return STATE_REGISTERS | STATE_SEGMENT;
    default:
        return r == ZYDIS_REGISTER_RFLAGS || facts_address_register(r) == REG_PC ? 0 : STATE_REGISTERS;
    }
}

/* A write in VEX or EVEX form clears what is above it. */
static void add_register(const Decoded *d, const ZydisDecodedOperand *o, const Operand *op, X86Facts *f) {
    bool newer = d->in.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    u8 how = how_of(o);
    if (x86_operand_register(op) == REG_NONE) {
        f->state |= state_of_register(o->reg.value, op);
        return;
    }
    if (how & ACCESS_READ)
        add_parts(&f->reads, op, o->size, false);
    if (how & ACCESS_WRITE)
        add_parts(&f->writes, op, o->size, newer);
    if (how & ACCESS_WRITE && overwrites(d, o, op))
        add_parts(&f->kills, op, o->size, newer);
}

/* Registers that the instruction names come first in Zydis's list, and are in f->op already. */
static void add_all_registers(const Decoded *d, X86Facts *f) {
    for (u32 i = 0; i < d->in.operand_count; i++) {
        Operand hidden = {0};
        if (d->ops[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        if (i >= f->operand_count)
            set_register(d->ops[i].reg.value, &hidden);
        add_register(d, &d->ops[i], i < f->operand_count ? &f->op[i] : &hidden, f);
    }
}

static void add_registers(RegSet *s, Reg first, u32 count) {
    for (u32 i = 0; i < count; i++)
        regset_add(s, (Reg)(first + i));
}

/* What the instruction has to do with all vector registers at once, of which Zydis says nothing. */
static void add_whole_state(const Decoded *d, X86Facts *f) {
    enum { VECTORS = 16, ALL = X86_REG_COUNT - XMM0 };
    switch (d->in.mnemonic) {
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
        add_registers(&f->reads, XMM0, VECTORS);
        return;
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
        add_registers(&f->writes, XMM0, VECTORS);
        return;
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
        add_registers(&f->reads, XMM0, ALL);
        return;
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
        add_registers(&f->writes, XMM0, ALL);
        return;
    case ZYDIS_MNEMONIC_VZEROALL:
        add_registers(&f->writes, XMM0, VECTORS);
        add_registers(&f->kills, XMM0, VECTORS);
        /* fallthrough */
    case ZYDIS_MNEMONIC_VZEROUPPER:
        add_registers(&f->writes, YMM0_HIGH, VECTORS);
        add_registers(&f->kills, YMM0_HIGH, VECTORS);
        add_registers(&f->writes, ZMM0_HIGH, VECTORS);
        add_registers(&f->kills, ZMM0_HIGH, VECTORS);
        return;
    default:
        return;
    }
}

/* `pause` with REX.B, which CPUs run as xchg r8, rax. */
static bool is_exchange(const ZydisDecodedInstruction *z) {
    return z->mnemonic == ZYDIS_MNEMONIC_PAUSE && z->raw.rex.B;
}

/* Zydis leaves out that some string instructions move rsi and rdi, and that xlat reads al. */
static void add_forgotten(const Decoded *d, X86Facts *f) {
    if (d->in.mnemonic == ZYDIS_MNEMONIC_XLAT || is_exchange(&d->in))
        regset_add(&f->reads, RAX);
    if (is_exchange(&d->in)) {
        regset_add(&f->reads, R8);
        regset_add(&f->writes, RAX);
        regset_add(&f->writes, R8);
    }
    for (u32 i = 0; facts_is_string(d) && i < d->in.operand_count; i++) {
        if (d->ops[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
            continue;
        Reg base = facts_address_register(d->ops[i].mem.base);
        regset_add(&f->reads, base);
        regset_add(&f->writes, base);
    }
}

/* --------------------------------------------------------------------------------------------------------------- flags */

static const char *const row_flags[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
#define INSN(name, flags, meaning) [ZYDIS_MNEMONIC_##name] = flags,
#define DEVIATES(name, flags, meaning, text) INSN(name, flags, meaning)
#include "isa/x86_64/rows.def"
#undef INSN
#undef DEVIATES
};

/* In the order of the rows' column, ODISZAPC. The interrupt flag is the kernel's. */
static const struct {
    u32 bit;
    Reg reg;
} flag_order[] = {
    {ZYDIS_CPUFLAG_OF, OF}, {ZYDIS_CPUFLAG_DF, DF}, {ZYDIS_CPUFLAG_IF, REG_NONE}, {ZYDIS_CPUFLAG_SF, SF},
    {ZYDIS_CPUFLAG_ZF, ZF}, {ZYDIS_CPUFLAG_AF, AF}, {ZYDIS_CPUFLAG_PF, PF},       {ZYDIS_CPUFLAG_CF, CF},
};

/* The letter of a flag in the column, as Zydis would have it for what has no row. */
static char letter_by_zydis(const ZydisAccessedFlags *z, u32 bit) {
    return z->undefined & bit ? 'u' : (z->modified | z->set_0 | z->set_1) & bit ? 'm' : '-';
}

/* The column of its row; NULL: there is none. cmpsd is the name of a string instruction, whose flags the row has, and of one that compares
 * vectors. vptest and vtest clear the same flags as ptest (SDM 2B, PTEST; 2C, VTESTPD/VTESTPS), of which Zydis does not know. */
static const char *column_of(const Decoded *d, const X86Facts *f) {
    switch (d->in.mnemonic) {
    case ZYDIS_MNEMONIC_CMPSD:
        return facts_is_string(d) ? row_flags[f->mnemonic] : NULL;
    case ZYDIS_MNEMONIC_VPTEST:
    case ZYDIS_MNEMONIC_VTESTPS:
    case ZYDIS_MNEMONIC_VTESTPD:
        return row_flags[ZYDIS_MNEMONIC_PTEST];
    default:
        return f->has_row ? row_flags[f->mnemonic] : NULL;
    }
}

/* A shift or rotation by an immediate that comes to 0. SDM 2B, SAL/SAR/SHL/SHR: of the count 5 bits are taken, or 6 with 64-bit
 * operands, and if they are 0, the flags stay as they are. */
static bool shifts_by_zero(const Decoded *d) {
    bool doubles = d->in.mnemonic == ZYDIS_MNEMONIC_SHLD || d->in.mnemonic == ZYDIS_MNEMONIC_SHRD;
    if (!doubles && d->in.meta.category != ZYDIS_CATEGORY_SHIFT && d->in.meta.category != ZYDIS_CATEGORY_ROTATE)
        return false;
    const ZydisDecodedOperand *count = &d->ops[doubles ? 2 : 1];
    return count->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !(count->imm.value.u & (d->ops[0].size == 64 ? 63 : 31));
}

/* May the flags stay as they are? Those of a shift by cl do if that is 0. */
static bool may_keep_flags(const Decoded *d) {
    if (shifts_by_zero(d))
        return true;
    for (u32 i = 0; i < d->in.operand_count; i++)
        if (d->ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER && d->ops[i].reg.value == ZYDIS_REGISTER_RFLAGS)
            return d->ops[i].actions & ZYDIS_OPERAND_ACTION_CONDWRITE;
    return false;
}

static void set_flags(const Decoded *d, X86Facts *f) {
    static const ZydisAccessedFlags none;
    const ZydisAccessedFlags *z = d->in.cpu_flags ? d->in.cpu_flags : &none;
    const char *column = column_of(d, f);
    u32 tested = facts_is_string(d) ? z->tested & ZYDIS_CPUFLAG_DF : z->tested; /* with rep, ZF of its own comparison */
    if (!tested && column && !memcmp(column, "--------", ARRAY_LEN(flag_order))) /* most instructions */
        return;
    RegSet written = {0};
    for (size_t i = 0; i < ARRAY_LEN(flag_order); i++) {
        Reg r = flag_order[i].reg;
        char letter = column ? column[i] : letter_by_zydis(z, flag_order[i].bit);
        if (r == REG_NONE)
            continue;
        if (tested & flag_order[i].bit)
            regset_add(&f->reads, r);
        if (letter != '-')
            regset_add(&written, r);
        if (letter == 'u' || letter == 'x')
            regset_add(&f->undefined, r);
    }
    regset_join(&f->writes, &written);
    if (!may_keep_flags(d))
        regset_join(&f->kills, &written);
}

/* ------------------------------------------------------------------------------------------------------------ the rest */

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
    if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP)
        p |= PREFIX_XOP;
    return p;
}

static void set_layout(const ZydisDecodedInstruction *z, X86Facts *f) {
    if (!z->raw.modrm.offset)
        return;
    f->modrm_at = z->raw.modrm.offset;
    f->disp_at = z->raw.disp.size ? z->raw.disp.offset : 0;
    f->disp_bytes = z->raw.disp.size / 8;
    u8 operand = z->raw.sib.offset ? z->raw.sib.offset : f->modrm_at;
    f->tail_at = f->disp_at ? f->disp_at + f->disp_bytes : operand + 1;
}

/* What Zydis names like a row of ours and is something else: also instructions of the Xeon Phi of 2012 in VEX encodings that are
 * undefined everywhere else. */
static bool is_misnamed(const ZydisDecodedInstruction *z) {
    return z->meta.isa_ext == ZYDIS_ISA_EXT_KNC || is_exchange(z);
}

bool x86_facts(const u8 *bytes, size_t size, u64 pc, X86Facts *f) {
    ZydisDecoder decoder;
    Decoded d;
    d.pc = pc;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &d.in, d.ops)))
        return false;
    const ZydisDecodedInstruction *z = &d.in;
    memset(f, 0, offsetof(X86Facts, op)); /* operands and accesses are set one by one */
    f->mnemonic = (u16)z->mnemonic;
    f->length = z->length;
    f->prefixes = prefixes_of(z);
    f->operand_bits = z->operand_width;
    f->address_bits = z->address_width;
    f->segment = z->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS   ? SEG_FS
                 : z->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS ? SEG_GS
                                                               : SEG_NONE;
    f->has_row = row_flags[z->mnemonic] && !is_misnamed(z);
    set_operands(&d, f);
    add_all_registers(&d, f);
    add_whole_state(&d, f);
    add_forgotten(&d, f);
    set_flags(&d, f);
    set_layout(z, f);
    facts_memory(&d, f);
    facts_kind(&d, f);
    facts_class(&d, f);
    return true;
}
