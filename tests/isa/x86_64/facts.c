/* facts.c: the facts of facts.h against Zydis, for every opcode: length, control, registers and flags read and written, and accesses to
 * memory. What Zydis says is worked out here once more, by other functions of it than facts.c uses. Differences are in a list, each
 * with the reason why the facts are right; one that no instruction shows any more is a failure, too. */
#include <Zydis/Zydis.h>

#include "isa/x86_64/facts.h"
#include "opcodes.h"

#include <stdio.h>

enum { MAX_COMPLAINTS = 100, PC = 0x10000 };

/* What may differ. */
typedef enum Fact {
    FACT_NONE,
    FACT_READS,
    FACT_WRITES,
    FACT_FLAGS_READ,
    FACT_FLAGS_WRITTEN,
    FACT_FLAGS_UNDEFINED,
    FACT_FLOW,
    FACT_MEMORY,
    FACT_TRAPS,
} Fact;

static const char *const fact_names[] = {
    "nothing",         "registers read", "registers written", "flags read", "flags written",
    "flags undefined", "flow",           "accesses",          "traps",
};

/* Of one instruction, or of all of a category. */
typedef struct Difference {
    const char *name;
    u16 mnemonic, category; /* 0: the other */
    u8 fact;
    const char *reason;
} Difference;

static const Difference differences[] = {
#define NAMED(mnemonic, fact, reason) {#mnemonic, ZYDIS_MNEMONIC_##mnemonic, 0, FACT_##fact, reason},
#define CATEGORY(category, fact, reason) {#category, 0, ZYDIS_CATEGORY_##category, FACT_##fact, reason},
#include "facts_differences.def"
#undef NAMED
#undef CATEGORY
};

typedef struct Test {
    ZydisDecoder zydis;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    const u8 *bytes;
    bool seen[ARRAY_LEN(differences)];
    bool complained[ZYDIS_MNEMONIC_MAX_VALUE + 1];
    size_t compared, failures;
} Test;

static bool is_known(Test *t, Fact fact) {
    for (size_t i = 0; i < ARRAY_LEN(differences); i++)
        if (differences[i].fact == fact && (differences[i].category ? differences[i].category == t->in.meta.category
                                                                    : differences[i].mnemonic == t->in.mnemonic))
            return t->seen[i] = true;
    return false;
}

/* Once for each instruction. */
static void complain(Test *t, Fact fact, u64 got, u64 want) {
    if (is_known(t, fact))
        return;
    if (t->complained[t->in.mnemonic] || ++t->failures > MAX_COMPLAINTS)
        return;
    t->complained[t->in.mnemonic] = true;
    printf("%s: %s: %#llx, and Zydis says %#llx:", ZydisMnemonicGetString(t->in.mnemonic), fact_names[fact],
           (unsigned long long)got, (unsigned long long)want);
    for (size_t i = 0; i < t->in.length; i++)
        printf(" %02x", t->bytes[i]);
    printf("\n");
}

/* ----------------------------------------------------------------------------------------------------------- registers */

/* Adds a register by its largest enclosing one: a vector register with as much of it as `bits` are, or all of it. */
static void add_enclosing(RegSet *s, ZydisRegister r, u32 bits) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
    u32 id = (u32)(u8)ZydisRegisterGetId(whole == ZYDIS_REGISTER_NONE ? r : whole);
    switch (ZydisRegisterGetClass(whole == ZYDIS_REGISTER_NONE ? r : whole)) {
    case ZYDIS_REGCLASS_GPR64:
        regset_add(s, (Reg)(RAX + id));
        return;
    case ZYDIS_REGCLASS_MASK:
        regset_add(s, (Reg)(K0 + id));
        return;
    case ZYDIS_REGCLASS_ZMM:
        regset_add(s, (Reg)(XMM0 + id));
        if (bits > 128)
            regset_add(s, (Reg)(YMM0_HIGH + id));
        if (bits > 256)
            regset_add(s, (Reg)(ZMM0_HIGH + id));
        return;
    default:
        return;
    }
}

static void zydis_registers(const Test *t, RegSet *reads, RegSet *writes) {
    bool newer = t->in.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    for (u32 i = 0; i < t->in.operand_count; i++) {
        const ZydisDecodedOperand *o = &t->ops[i];
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
            add_enclosing(reads, o->reg.value, o->size);
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            add_enclosing(writes, o->reg.value, newer ? 512 : o->size);
        if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            add_enclosing(reads, o->mem.base, 64);
            add_enclosing(reads, o->mem.index, ZydisRegisterGetWidth(t->in.machine_mode, o->mem.index));
        }
    }
}

static RegSet flags_only(const RegSet *s, bool flags) {
    RegSet mask = {{(u64)0x7f << CF}}, r = *s;
    if (flags)
        regset_keep(&r, &mask);
    else
        regset_drop(&r, &mask);
    return r;
}

static void compare_sets(Test *t, Fact fact, RegSet got, RegSet want) {
    for (size_t i = 0; i < ARRAY_LEN(got.word); i++)
        if (got.word[i] != want.word[i])
            complain(t, fact, got.word[i], want.word[i]);
}

static void compare_registers(Test *t, const X86Facts *f) {
    RegSet reads = {0}, writes = {0}, all = f->reads;
    zydis_registers(t, &reads, &writes);
    regset_join(&all, &f->address);
    compare_sets(t, FACT_READS, flags_only(&all, false), reads);
    compare_sets(t, FACT_WRITES, flags_only(&f->writes, false), writes);
    RegSet beyond = f->kills;
    regset_join(&beyond, &f->undefined);
    regset_drop(&beyond, &f->writes);
    CHECK(!beyond.word[0] && !beyond.word[1], "what is overwritten or undefined is written");
}

/* --------------------------------------------------------------------------------------------------------------- flags */

static RegSet zydis_flags(u32 mask) {
    static const u32 order[] = {ZYDIS_CPUFLAG_CF, ZYDIS_CPUFLAG_PF, ZYDIS_CPUFLAG_AF, ZYDIS_CPUFLAG_ZF,
                                ZYDIS_CPUFLAG_SF, ZYDIS_CPUFLAG_OF, ZYDIS_CPUFLAG_DF};
    RegSet s = {0};
    for (u32 i = 0; i < ARRAY_LEN(order); i++)
        if (mask & order[i])
            regset_add(&s, (Reg)(CF + i));
    return s;
}

static void compare_flags(Test *t, const X86Facts *f) {
    static const ZydisAccessedFlags none;
    const ZydisAccessedFlags *z = t->in.cpu_flags ? t->in.cpu_flags : &none;
    compare_sets(t, FACT_FLAGS_READ, flags_only(&f->reads, true), zydis_flags(z->tested));
    compare_sets(t, FACT_FLAGS_WRITTEN, flags_only(&f->writes, true),
                 zydis_flags(z->modified | z->set_0 | z->set_1 | z->undefined));
    compare_sets(t, FACT_FLAGS_UNDEFINED, f->undefined, zydis_flags(z->undefined));
}

/* -------------------------------------------------------------------------------------------------------------- memory */

/* The access with the size, direction and registers of the operand. */
static bool has_access(const X86Facts *f, const ZydisDecodedOperand *o) {
    u8 how = (u8)((o->actions & ZYDIS_OPERAND_ACTION_MASK_READ ? ACCESS_READ : 0) |
                  (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? ACCESS_WRITE : 0));
    RegSet want = {0}, got = {0};
    add_enclosing(&want, o->mem.base, 64);
    if (o->mem.type != ZYDIS_MEMOP_TYPE_VSIB)
        add_enclosing(&want, o->mem.index, 64);
    for (u32 i = 0; i < f->access_count; i++) {
        const InsnAccess *a = &f->access[i];
        got = (RegSet){0};
        if (a->at.base < X86_REG_COUNT)
            regset_add(&got, a->at.base);
        if (a->at.index < X86_REG_COUNT)
            regset_add(&got, a->at.index);
        bool implied = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
        if ((a->how & (ACCESS_READ | ACCESS_WRITE)) == how && a->bytes == o->size / 8 && got.word[0] == want.word[0] &&
            implied == ((a->how & ACCESS_IMPLIED) != 0))
            return true;
    }
    return false;
}

static void compare_memory(Test *t, const X86Facts *f) {
    u32 count = 0;
    for (u32 i = 0; i < t->in.operand_count; i++) {
        const ZydisDecodedOperand *o = &t->ops[i];
        if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN || !o->actions)
            continue;
        count++;
        if (!has_access(f, o))
            complain(t, FACT_MEMORY, f->access_count, o->size / 8);
    }
    if (f->access_count != count)
        complain(t, FACT_MEMORY, f->access_count, count);
}

/* ------------------------------------------------------------------------------------------------------------- control */

static bool writes_pc(const Test *t) {
    for (u32 i = 0; i < t->in.operand_count; i++) {
        const ZydisDecodedOperand *o = &t->ops[i];
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->reg.value == ZYDIS_REGISTER_RIP &&
            o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            return true;
    }
    return false;
}

static Flow flow_by_branch(const Test *t) {
    bool relative = t->ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && t->ops[0].imm.is_relative;
    switch (t->in.meta.category) {
    case ZYDIS_CATEGORY_CALL:
        return FLOW_CALL;
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_UINTR:
        return FLOW_RETURN;
    case ZYDIS_CATEGORY_COND_BR:
        return FLOW_BRANCH;
    case ZYDIS_CATEGORY_SYSCALL:
        return FLOW_SYSCALL;
    default:
        return relative ? FLOW_JUMP : FLOW_INDIRECT;
    }
}

static void compare_flow(Test *t, const X86Facts *f) {
    bool privileged = t->in.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED;
    if (((f->state & STATE_TRAP) != 0) != privileged)
        complain(t, FACT_TRAPS, (f->state & STATE_TRAP) != 0, privileged);
    Flow want = privileged || f->state & STATE_TRAP ? FLOW_STOP : writes_pc(t) ? flow_by_branch(t) : FLOW_NEXT;
    if (f->flow != want)
        complain(t, FACT_FLOW, f->flow, want);
    u64 target = want == FLOW_JUMP || want == FLOW_BRANCH || (want == FLOW_CALL && t->ops[0].imm.is_relative)
                     ? PC + t->in.length + (u64)t->in.raw.imm[0].value.s
                     : 0;
    if (f->target != target)
        complain(t, FACT_FLOW, f->target, target);
    CHECK(f->flow != FLOW_BRANCH || f->cond == COND_NONE || f->cond == (t->in.opcode & 15),
          "the condition is in the opcode");
}

/* ------------------------------------------------------------------------------------------- what quick code relies on */

/* emit.c and gs.c of src/run/client/host/x86_64/copy put the address of a memory operand into a register that the instruction does not name.
 * So none with such an operand may imply rsi or rdi, and rbx, which they take last, only cmpxchg8b and cmpxchg16b. */
static void check_implied_registers(Test *t, const X86Facts *f) {
    RegSet implied = f->reads;
    regset_join(&implied, &f->writes);
    for (u32 i = 0; i < f->operand_count; i++)
        if (x86_operand_register(&f->op[i]) != REG_NONE)
            regset_remove(&implied, x86_operand_register(&f->op[i]));
    bool pair = f->mnemonic == ZYDIS_MNEMONIC_CMPXCHG8B || f->mnemonic == ZYDIS_MNEMONIC_CMPXCHG16B;
    u64 kept = (u64)1 << RSI | (u64)1 << RDI | (u64)!pair << RBX;
    if (f->modrm_at && f->has_memory_operand && implied.word[0] & kept)
        complain(t, FACT_READS, implied.word[0], 0);
}

/* gs.c knows these by their opcodes. */
static bool is_moved_by_gs(const X86Facts *f) {
    switch (f->mnemonic) {
    case ZYDIS_MNEMONIC_CLZERO:
    case ZYDIS_MNEMONIC_CMPSB:
    case ZYDIS_MNEMONIC_CMPSD:
    case ZYDIS_MNEMONIC_CMPSQ:
    case ZYDIS_MNEMONIC_CMPSW:
    case ZYDIS_MNEMONIC_LODSB:
    case ZYDIS_MNEMONIC_LODSD:
    case ZYDIS_MNEMONIC_LODSQ:
    case ZYDIS_MNEMONIC_LODSW:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MOVSB:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVSQ:
    case ZYDIS_MNEMONIC_MOVSW:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_XLAT:
        return true;
    default:
        return f->state & STATE_TRAP;
    }
}

/* With the prefix of gs: memory that no operand names, and that gs moves. */
static void check_implied_gs(Test *t, const u8 *bytes) {
    enum { GS = 0x65, BYTES = 16 };
    u8 prefixed[BYTES] = {GS};
    X86Facts f;
    memcpy(prefixed + 1, bytes, BYTES - 1);
    if (!x86_facts(prefixed, BYTES, PC, &f))
        return;
    for (u32 i = 0; i < f.access_count; i++)
        if (f.access[i].how & ACCESS_IMPLIED && f.access[i].at.seg == SEG_GS && !is_moved_by_gs(&f))
            complain(t, FACT_MEMORY, f.access[i].at.base, SEG_GS);
}

/* ------------------------------------------------------------------------------------------------------- the comparison */

/* The Xeon Phi of 2012, whose encodings no other processor has. */
static bool is_of_knights_corner(const ZydisDecodedInstruction *z) {
    return z->meta.isa_ext == ZYDIS_ISA_EXT_KNC || z->meta.isa_set == ZYDIS_ISA_SET_KNCJKBR ||
           z->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
}

static void compare(void *self, const u8 *bytes, size_t size) {
    Test *t = self;
    X86Facts f;
    t->bytes = bytes;
    bool known = ZYAN_SUCCESS(ZydisDecoderDecodeFull(&t->zydis, bytes, size, &t->in, t->ops));
    if (x86_facts(bytes, size, PC, &f) != known) {
        printf("is it an instruction?\n");
        t->failures++;
        return;
    }
    if (!known || is_of_knights_corner(&t->in))
        return;
    t->compared++;
    CHECK(f.length == t->in.length && f.mnemonic == t->in.mnemonic, "the facts are of the same instruction");
    CHECK(!f.more_operands, "an instruction has at most so many operands");
    compare_registers(t, &f);
    compare_flags(t, &f);
    compare_memory(t, &f);
    compare_flow(t, &f);
    check_implied_registers(t, &f);
    check_implied_gs(t, bytes);
}

int main(void) {
    static Test t;
    ZydisDecoderInit(&t.zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    opcodes_each(compare, &t);
    for (size_t i = 0; i < ARRAY_LEN(differences); i++)
        if (!t.seen[i]) {
            printf("%s: %s: listed as a difference (%s), and there is none\n", differences[i].name,
                   fact_names[differences[i].fact], differences[i].reason);
            t.failures++;
        }
    printf("%zu instructions compared, %zu failures\n", t.compared, t.failures);
    return t.failures != 0 || !t.compared;
}
