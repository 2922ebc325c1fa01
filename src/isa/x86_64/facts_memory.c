/* facts_memory.c: the accesses to memory of an instruction (facts.h), implied ones included. */
#include "isa/x86_64/facts_parts.h"

/* An address that is only hinted at, or computed: nothing is read there that the program sees. */
static bool is_untouched(const Decoded *d, const ZydisDecodedOperand *o) {
    if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
        return true;
    switch (d->in.meta.category) {
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_CLDEMOTE:
        return true;
    default:
        break;
    }
    switch (d->in.mnemonic) {
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_INVLPG:
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
        return true;
    default:
        return false;
    }
}

/* SDM 2A, BT: with its number in a register the bit may be anywhere around the memory operand. */
static bool is_bit_string(const Decoded *d) {
    switch (d->in.mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
        return d->ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
    default:
        return false;
    }
}

/* Which bytes a masked move leaves alone Zydis does not say. */
static bool is_masked(const Decoded *d) {
    switch (d->in.mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
        return true;
    default:
        return d->in.avx.mask.reg != ZYDIS_REGISTER_NONE && d->in.avx.mask.reg != ZYDIS_REGISTER_K0;
    }
}

/* Tiles are rows of memory at a distance that a register says. */
static bool is_tile(const Decoded *d) {
    return d->in.meta.category == ZYDIS_CATEGORY_AMX_TILE && d->in.mnemonic != ZYDIS_MNEMONIC_LDTILECFG &&
           d->in.mnemonic != ZYDIS_MNEMONIC_STTILECFG;
}

/* Areas whose size the processor's features, a request in edx:eax or the configuration of tiles determine. */
static bool has_open_size(const Decoded *d) {
    return d->in.meta.category == ZYDIS_CATEGORY_XSAVE || d->in.meta.category == ZYDIS_CATEGORY_XSAVEOPT || is_tile(d);
}

static bool accesses_around(const Decoded *d, const ZydisDecodedOperand *o) {
    return is_bit_string(d) || d->in.mnemonic == ZYDIS_MNEMONIC_ENTER || o->mem.type == ZYDIS_MEMOP_TYPE_MIB ||
           is_tile(d) || d->in.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
}

static bool repeats(const Decoded *d) {
    return facts_is_string(d) &&
           d->in.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

static u8 how_of(const Decoded *d, const ZydisDecodedOperand *o) {
    ZydisOperandActions a = o->actions;
    u8 how = (u8)((a & ZYDIS_OPERAND_ACTION_MASK_READ ? ACCESS_READ : 0) |
                  (a & ZYDIS_OPERAND_ACTION_MASK_WRITE ? ACCESS_WRITE : 0));
    if (a & (ZYDIS_OPERAND_ACTION_CONDREAD | ZYDIS_OPERAND_ACTION_CONDWRITE) || is_masked(d))
        how |= ACCESS_MAYBE;
    if (repeats(d))
        how |= ACCESS_REPEATED | ACCESS_MAYBE;
    if (accesses_around(d, o))
        how |= ACCESS_AROUND;
    if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        how |= ACCESS_ELEMENTS | ACCESS_MAYBE;
    if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
        how |= ACCESS_IMPLIED;
    return how;
}

/* What these write to is in es, which no prefix changes (SDM 2B, MOVDIR64B; 2A, ENQCMD). Zydis gives it the segment of the other operand. */
static bool stores_by_register(const Decoded *d) {
    return d->in.mnemonic == ZYDIS_MNEMONIC_MOVDIR64B || d->in.mnemonic == ZYDIS_MNEMONIC_ENQCMD ||
           d->in.mnemonic == ZYDIS_MNEMONIC_ENQCMDS;
}

/* SDM 1, 6.2: in 64-bit mode implicit accesses to the stack have addresses of 64 bits, whatever the prefix 67 says. */
static bool is_on_stack(const Decoded *d, const ZydisDecodedOperand *o) {
    return o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && o->mem.segment == ZYDIS_REGISTER_SS &&
           !stores_by_register(d);
}

/* How much is accessed. SDM 2B, MOVSXD: with a 16-bit operand size it reads a word, of which Zydis says that it has 32 bits. */
static u16 size_of(const Decoded *d, const ZydisDecodedOperand *o) {
    bool word = d->in.mnemonic == ZYDIS_MNEMONIC_MOVSXD && d->in.operand_width == 16;
    return word ? 16 : o->size;
}

/* Addresses go by the registers as they are before the instruction: what is pushed comes to lie below the stack pointer, and pop
 * addresses its operand when it has moved the stack pointer already (SDM 2B, POP). */
static void set_place(const Decoded *d, const ZydisDecodedOperand *o, InsnAccess *a) {
    facts_address(d, o, &a->at);
    a->at.bits = size_of(d, o);
    a->bytes = has_open_size(d) ? 0 : a->at.bits / 8;
    if (stores_by_register(d) && a->how & ACCESS_IMPLIED)
        a->at.seg = SEG_NONE;
    bool implied = a->how & ACCESS_IMPLIED, by_stack = a->at.base == RSP;
    if (is_on_stack(d, o)) {
        a->at.addr_bits = 64;
        a->at.disp -= by_stack && a->how & ACCESS_WRITE ? a->bytes : 0;
    }
    if (!implied && by_stack && d->in.mnemonic == ZYDIS_MNEMONIC_POP)
        a->at.disp += a->bytes;
    if (d->in.mnemonic == ZYDIS_MNEMONIC_XLAT) {
        a->at.index = RAX;
        a->how |= ACCESS_BYTE_INDEX;
    }
}

/* A vector register that is an index has its number in no Operand, but is read all the same. */
static void add_vector_index(ZydisRegister r, X86Facts *f) {
    switch (ZydisRegisterGetClass(r)) {
    case ZYDIS_REGCLASS_ZMM:
        regset_add(&f->address, (Reg)(ZMM0_HIGH + ZydisRegisterGetId(r)));
        /* fallthrough */
    case ZYDIS_REGCLASS_YMM:
        regset_add(&f->address, (Reg)(YMM0_HIGH + ZydisRegisterGetId(r)));
        /* fallthrough */
    case ZYDIS_REGCLASS_XMM:
        regset_add(&f->address, (Reg)(XMM0 + ZydisRegisterGetId(r)));
        return;
    default:
        return;
    }
}

static void add_address(const Operand *at, RegSet *s) {
    if (at->base < X86_REG_COUNT)
        regset_add(s, at->base);
    if (at->index < X86_REG_COUNT)
        regset_add(s, at->index);
}

static void add_access(const Decoded *d, const ZydisDecodedOperand *o, X86Facts *f) {
    InsnAccess a = {.how = how_of(d, o)};
    set_place(d, o, &a);
    bool implied = a.how & ACCESS_IMPLIED;
    f->has_memory_operand |= !implied;
    add_address(&a.at, implied ? &f->reads : &f->address);
    if (a.how & ACCESS_ELEMENTS)
        add_vector_index(o->mem.index, f);
    if (is_untouched(d, o) || !(a.how & (ACCESS_READ | ACCESS_WRITE)))
        return;
    CHECK(f->access_count < INSN_ACCESSES, "an instruction accesses more memory than was thought");
    f->access[f->access_count++] = a;
}

/* An access around the address in a register, of which Zydis does not know. */
static void add_around(Reg base, u8 how, u16 bytes, u8 addr_bits, u8 seg, X86Facts *f) {
    Operand at = {.kind = OPERAND_MEM,
                  .base = base,
                  .index = REG_NONE,
                  .scale = 1,
                  .bits = (u16)(8 * bytes),
                  .addr_bits = addr_bits,
                  .seg = seg};
    f->access[f->access_count++] = (InsnAccess){how | ACCESS_AROUND | ACCESS_IMPLIED, bytes, at};
}

/* AMD 3, CLZERO: the cache line that rax is in. SDM 2A, ENTER: with a nesting level of 2 or more it copies what is below rbp. */
static void add_forgotten(const Decoded *d, X86Facts *f) {
    enum { LINE_BYTES = 64 };
    if (d->in.mnemonic == ZYDIS_MNEMONIC_CLZERO)
        add_around(RAX, ACCESS_WRITE, LINE_BYTES, d->in.address_width, f->segment, f);
    if (d->in.mnemonic == ZYDIS_MNEMONIC_ENTER)
        add_around(RBP, ACCESS_READ | ACCESS_MAYBE, d->in.operand_width / 8, 64, SEG_NONE, f);
}

/* Zydis has what is implied behind the operands. */
void facts_memory(const Decoded *d, X86Facts *f) {
    for (u32 i = 0; i < d->in.operand_count; i++)
        if (d->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            add_access(d, &d->ops[i], f);
    add_forgotten(d, f);
}
