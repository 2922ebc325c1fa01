/* shape.c: shape_of against Zydis: on every opcode, on the code of real files and on random bytes that end at an
 * unreadable page; and against the manuals, in cases by hand, where Zydis is silent or not the judge.
 *
 * shape [--count=N] [--seed=N] [--text=MEGABYTES] [FILE]...: without files, the libraries of this process and the
 * shell. */
#include <Zydis/Zydis.h>

#include "corpus.h"
#include "isa/x86_64/facts.h"
#include "isa/x86_64/shape.h"
#include "opcodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { PAGE = 4096, MAX_LENGTH = 15, MAX_COMPLAINTS = 20 };

typedef struct Decoded {
    X86Facts facts;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
} Decoded;

typedef struct Test {
    ZydisDecoder zydis;
    u64 seed;
    size_t compared, refused, failures;
} Test;

static void complain(Test *t, const u8 *bytes, size_t size, const char *what, long got, long want) {
    if (++t->failures > MAX_COMPLAINTS)
        return;
    printf("%s: %ld instead of %ld:", what, got, want);
    for (size_t i = 0; i < size && i < MAX_LENGTH; i++)
        printf(" %02x", bytes[i]);
    printf("\n");
}

/* --------------------------------------------------------------------------------------- what Zydis says of a shape */

static bool decode(const Test *t, const u8 *bytes, size_t size, Decoded *d) {
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&t->zydis, bytes, size, &d->in, d->ops)) &&
           x86_facts(bytes, size, 0, &d->facts);
}

/* The opcodes of three bytes, and those of VEX, EVEX and XOP, are all plain to it: those that trap do so by themselves. */
static bool always_traps(const Decoded *d) {
    bool listed = d->in.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
                  (d->in.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT || d->in.opcode_map == ZYDIS_OPCODE_MAP_0F);
    return listed && d->facts.state & STATE_TRAP;
}

/* Control and debug registers have no name of their own for mov. */
static bool moves_control(const Decoded *d) {
    if (d->in.mnemonic != ZYDIS_MNEMONIC_MOV)
        return false;
    for (int i = 0; i < 2; i++) {
        if (d->ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
            ZydisRegisterClass class = ZydisRegisterGetClass(d->ops[i].reg.value);
            if (class == ZYDIS_REGCLASS_CONTROL || class == ZYDIS_REGCLASS_DEBUG)
                return true;
        }
    }
    return false;
}

static bool has_prefix(const Decoded *d, u8 prefix) {
    for (u8 i = 0; i < d->in.raw.prefix_count; i++) {
        if (d->in.raw.prefixes[i].value == prefix)
            return true;
    }
    return false;
}

static bool uses_gs(const Decoded *d) {
    if (has_prefix(d, 0x65))
        return true;
    for (u8 i = 0; i < d->in.operand_count; i++) {
        const ZydisDecodedOperand *op = &d->ops[i];
        bool written = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == ZYDIS_REGISTER_GS && written)
            return true;
    }
    return d->in.mnemonic == ZYDIS_MNEMONIC_RDGSBASE || d->in.mnemonic == ZYDIS_MNEMONIC_WRGSBASE;
}

static bool has_base(const Decoded *d, ZydisRegister base) {
    for (u8 i = 0; i < d->in.operand_count; i++) {
        if (d->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY && d->ops[i].mem.base == base)
            return true;
    }
    return false;
}

static ShapeKind branch_kind(const Decoded *d) {
    if (d->in.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
        return SHAPE_OTHER;
    bool direct = d->in.raw.imm[0].size != 0;
    switch (d->in.mnemonic) {
    case ZYDIS_MNEMONIC_CALL:
        return direct ? SHAPE_CALL : SHAPE_CALL_INDIRECT;
    case ZYDIS_MNEMONIC_JMP:
        return direct ? SHAPE_JMP : SHAPE_JMP_INDIRECT;
    case ZYDIS_MNEMONIC_RET:
        return SHAPE_RET;
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
    case ZYDIS_MNEMONIC_JRCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
        return SHAPE_COUNTED;
    default:
        return SHAPE_JCC;
    }
}

static ShapeKind expected_kind(const Decoded *d) {
    if (uses_gs(d))
        return SHAPE_OTHER;
    if (always_traps(d))
        return SHAPE_TRAP;
    switch (d->in.mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
        return SHAPE_SYSCALL;
    case ZYDIS_MNEMONIC_CPUID:
        return SHAPE_CPUID;
    case ZYDIS_MNEMONIC_ENCLU:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_UIRET:
    case ZYDIS_MNEMONIC_XABORT:
    case ZYDIS_MNEMONIC_XBEGIN:
        return SHAPE_OTHER;
    default:
        return d->in.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE ? SHAPE_PLAIN : branch_kind(d);
    }
}

/* --------------------------------------------------------------------------------------------------- the comparison */

/* Where Zydis 4.0 is not the judge: 3DNow! is refused; Knights Corner's MVEX and its jkzd and jknzd are decoded without
 * having been asked for, where no other CPU has an instruction; MPX ignores the prefix 67, which on CPUs without MPX
 * belongs to a nop. */
static bool is_exempt(const Decoded *d) {
    ZydisISASet set = d->in.meta.isa_set;
    return set == ZYDIS_ISA_SET_AMD3DNOW || set == ZYDIS_ISA_SET_KNCJKBR ||
           d->in.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX || (set == ZYDIS_ISA_SET_MPX && has_prefix(d, 0x67));
}

static bool is_vector(const Decoded *d) {
    bool bmi = d->in.meta.category == ZYDIS_CATEGORY_BMI1 || d->in.meta.category == ZYDIS_CATEGORY_BMI2;
    switch (d->in.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_VEX:
        return !bmi;
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
    case ZYDIS_INSTRUCTION_ENCODING_XOP:
        return true;
    default:
        return false;
    }
}

/* What is said of the flags is true of some form with the same opcode and ModRM.reg: it may be too much. */
static void compare_flags(Test *t, const u8 *bytes, const Decoded *d, const Shape *shape) {
    u64 status = (u64)0x3f << CF;
    u8 flags = (d->facts.reads.word[0] & status ? SHAPE_READS_FLAGS : 0) |
               (d->facts.writes.word[0] & status ? SHAPE_WRITES_FLAGS : 0);
    if (!(shape->flags & SHAPE_FLAGS_UNKNOWN) && flags & ~shape->flags)
        complain(t, bytes, d->in.length, "flags", shape->flags, flags);
    if (shape->flags & SHAPE_KILLS_FLAGS && (d->facts.kills.word[0] & status) != status)
        complain(t, bytes, d->in.length, "flags that are all written", shape->flags, flags);
}

static void compare_values(Test *t, const u8 *bytes, const Decoded *d, const Shape *shape) {
    const ZydisDecodedInstruction *in = &d->in;
    if (shape->opcode != in->opcode)
        complain(t, bytes, in->length, "opcode", shape->opcode, in->opcode);
    if (bytes[shape->opcode_at] != in->opcode)
        complain(t, bytes, in->length, "byte at opcode_at", bytes[shape->opcode_at], in->opcode);
    if (shape->modrm_at != in->raw.modrm.offset && !moves_control(d))
        complain(t, bytes, in->length, "modrm_at", shape->modrm_at, in->raw.modrm.offset);
    if (shape->vector != is_vector(d))
        complain(t, bytes, in->length, "vector", shape->vector, is_vector(d));
    u8 disp_at = has_base(d, ZYDIS_REGISTER_RIP) || has_base(d, ZYDIS_REGISTER_EIP) ? in->raw.disp.offset : 0;
    if (shape->disp_at != disp_at)
        complain(t, bytes, in->length, "disp_at", shape->disp_at, disp_at);
    bool has_target = shape->kind >= SHAPE_JCC && shape->kind <= SHAPE_COUNTED;
    i64 target = has_target ? in->raw.imm[0].value.s : 0;
    if (shape->target != target)
        complain(t, bytes, in->length, "target", (long)shape->target, (long)target);
    u64 dropped = shape->kind == SHAPE_RET ? in->raw.imm[0].value.u : 0;
    if (shape->immediate != dropped)
        complain(t, bytes, in->length, "immediate", shape->immediate, (long)dropped);
}

static void compare(Test *t, const u8 *bytes, size_t size, const Decoded *d) {
    Shape shape;
    if (is_exempt(d))
        return;
    t->compared++;
    if (!shape_of(bytes, size, &shape)) {
        complain(t, bytes, d->in.length, "refused, length", 0, d->in.length);
        return;
    }
    if (shape.length != d->in.length) {
        complain(t, bytes, size, "length", shape.length, d->in.length);
        return;
    }
    if (shape.kind != expected_kind(d))
        complain(t, bytes, d->in.length, "kind", shape.kind, expected_kind(d));
    compare_values(t, bytes, d, &shape);
    compare_flags(t, bytes, d, &shape);
}

/* ------------------------------------------------------------------------------------------------------- real files */

static u64 cpu_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
}

/* ns per accepted instruction, the best of some rounds. */
static double measure(const u8 *text, size_t size) {
    double best = 0;
    for (int round = 0; round < 4; round++) {
        u64 start = cpu_ns();
        size_t accepted = 0;
        for (size_t at = 0; at < size;) {
            Shape shape;
            bool good = shape_of(text + at, size - at, &shape);
            accepted += good;
            at += good ? shape.length : 1;
        }
        double ns = (double)(cpu_ns() - start) / (double)(accepted ? accepted : 1);
        best = round == 0 || ns < best ? ns : best;
    }
    return best;
}

static void sweep(void *self, const char *path, const u8 *text, size_t size) {
    Test *t = self;
    size_t insns = 0;
    for (size_t at = 0; at < size;) {
        Decoded d;
        if (decode(t, text + at, size - at, &d)) {
            compare(t, text + at, size - at, &d);
            at += d.in.length;
            insns++;
        } else {
            at++;
        }
    }
    printf("%s: %zu bytes, %zu instructions, %.1f ns each\n", path, size, insns, measure(text, size));
}

/* ----------------------------------------------------------------------------------------------------- every opcode */

static void compare_bytes(void *self, const u8 *bytes, size_t size) {
    Test *t = self;
    Decoded d;
    if (decode(t, bytes, size, &d))
        compare(t, bytes, size, &d);
}

static void compare_all(Test *t) {
    t->compared = 0;
    opcodes_each(compare_bytes, t);
    printf("every opcode: %zu instructions compared\n", t->compared);
}

/* ----------------------------------------------------------------------------------------------------- random bytes */

/* The answer depends on the bytes of the instruction alone; one byte less than these is no instruction. */
static void compare_sizes(Test *t, const u8 *bytes, size_t size) {
    u8 wide[64];
    Shape here, there;
    memset(wide, 0xcc, sizeof wide);
    memcpy(wide, bytes, size);
    bool accepted = shape_of(bytes, size, &here);
    bool possible = shape_of(wide, sizeof wide, &there) && there.length <= size;
    if (accepted != possible || (accepted && memcmp(&here, &there, sizeof here) != 0))
        complain(t, bytes, size, "answer by size", accepted, possible);
    if (accepted && shape_of(bytes + size - here.length, here.length - 1u, &there) && size == here.length)
        complain(t, bytes, size, "accepted when cut short", there.length, 0);
    t->refused += !accepted;
}

static void compare_random(Test *t, size_t count) {
    u8 *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages + PAGE, PAGE, PROT_NONE) == 0, "two pages must be had");
    t->compared = 0;
    for (size_t i = 0; i < count; i++) {
        Decoded d;
        size_t size = corpus_below(&t->seed, 2) ? MAX_LENGTH + 1 : 1 + corpus_below(&t->seed, MAX_LENGTH + 1);
        u8 *bytes = pages + PAGE - size;
        corpus_fill(&t->seed, bytes, size);
        if (decode(t, bytes, size, &d))
            compare(t, bytes, size, &d);
        compare_sizes(t, bytes, size);
    }
    printf("random: %zu instructions compared, %zu of %zu byte strings refused\n", t->compared, t->refused, count);
    munmap(pages, 2 * PAGE);
}

/* ---------------------------------------------------------------------------------------------------------- by hand */

typedef struct Case {
    const char *bytes; /* followed by 90 */
    u8 length;         /* 0: refused */
    u8 kind, disp_at;
    i64 target;
} Case;

/* clang-format off */
static const Case cases[] = {
    /* SDM 2A, 2.2.1: REX counts directly before the opcode only, and the last of several. */
    {"b8",                          5, SHAPE_PLAIN, 0, 0},
    {"48 b8",                      10, SHAPE_PLAIN, 0, 0},
    {"66 48 b8",                   11, SHAPE_PLAIN, 0, 0},
    {"48 66 b8",                    5, SHAPE_PLAIN, 0, 0},
    {"48 40 b8",                    7, SHAPE_PLAIN, 0, 0},
    {"67 a1",                       6, SHAPE_PLAIN, 0, 0},
    {"a1",                          9, SHAPE_PLAIN, 0, 0},
    /* Near branches have 64-bit operands whatever the prefix 66 says: Intel. */
    {"66 e9 02 00 00 00",           6, SHAPE_JMP, 0, 2},
    {"66 e8 fa ff ff ff",           6, SHAPE_CALL, 0, -6},
    {"66 0f 84 00 00 00 80",        7, SHAPE_JCC, 0, INT32_MIN},
    {"66 c7 f8 00 01",              5, SHAPE_OTHER, 0, 0}, /* xbegin is an exception */
    {"c7 f8 00 01 00 00",           6, SHAPE_OTHER, 0, 0},
    {"c6 f8 01",                    3, SHAPE_OTHER, 0, 0},
    /* bnd, notrack and rep before branches; branch hints; endbr64. */
    {"f2 e8 00 00 00 00",           6, SHAPE_CALL, 0, 0},
    {"f2 ff 25 00 00 00 00",        7, SHAPE_JMP_INDIRECT, 3, 0},
    {"3e ff e0",                    3, SHAPE_JMP_INDIRECT, 0, 0},
    {"41 ff d3",                    3, SHAPE_CALL_INDIRECT, 0, 0},
    {"f3 c3",                       2, SHAPE_RET, 0, 0},
    {"2e 75 fd",                    3, SHAPE_JCC, 0, -3},
    {"67 e3 05",                    3, SHAPE_COUNTED, 0, 5},
    {"f3 0f 1e fa",                 4, SHAPE_PLAIN, 0, 0},
    {"67 ff 25 00 00 00 00",        7, SHAPE_JMP_INDIRECT, 3, 0}, /* eip-relative */
    {"ff 2d 00 00 00 00",           6, SHAPE_OTHER, 2, 0}, /* far */
    /* gs. */
    {"65 48 8b 04 25 28 00 00 00",  9, SHAPE_OTHER, 0, 0},
    {"64 48 8b 04 25 28 00 00 00",  9, SHAPE_PLAIN, 0, 0},
    {"8e e8",                       2, SHAPE_OTHER, 0, 0},
    {"8e e0",                       2, SHAPE_PLAIN, 0, 0},
    {"0f a8",                       2, SHAPE_PLAIN, 0, 0},
    {"0f a9",                       2, SHAPE_OTHER, 0, 0},
    {"f3 48 0f ae d8",              5, SHAPE_OTHER, 0, 0},
    {"f3 48 0f ae d0",              5, SHAPE_PLAIN, 0, 0},
    /* mov cr: mod is ignored, so 05 is no rip-relative operand. */
    {"0f 20 05",                    3, SHAPE_TRAP, 0, 0},
    {"0f b9 05 00 00 00 00",        7, SHAPE_TRAP, 3, 0}, /* ud1, ud0: with ModRM */
    {"0f ff c0",                    3, SHAPE_TRAP, 0, 0},
    /* Immediates that depend on ModRM and prefixes. */
    {"f7 05",                      10, SHAPE_PLAIN, 2, 0},
    {"66 f7 05",                    9, SHAPE_PLAIN, 3, 0},
    {"f7 15",                       6, SHAPE_PLAIN, 2, 0},
    {"66 0f 78 c0 01 02",           6, SHAPE_PLAIN, 0, 0},
    {"c8 10 00 00",                 4, SHAPE_PLAIN, 0, 0},
    {"41 81 05",                   11, SHAPE_PLAIN, 3, 0}, /* REX.B makes no r13 of rip */
    {"41 81 04 25",                12, SHAPE_PLAIN, 0, 0}, /* nor of SIB's missing base */
    /* VEX, EVEX and XOP: no other SIMD prefix, LOCK or REX before them; Knights Corner's are refused. */
    {"c5 f8 77",                    3, SHAPE_PLAIN, 0, 0},
    {"c4 e3 7b f0 05 00 00 00 00 07", 10, SHAPE_PLAIN, 5, 0},
    {"62 f1 7c 48 28 05",          10, SHAPE_PLAIN, 6, 0},
    {"8f ea 78 10 c0",              9, SHAPE_PLAIN, 0, 0},
    {"8f c0",                       2, SHAPE_PLAIN, 0, 0},
    {"8f e0",                       0, 0, 0, 0},
    {"48 c5 f8 77",                 0, 0, 0, 0},
    {"f0 c5 f8 77",                 0, 0, 0, 0},
    {"66 62 f1 7c 48 28 05",        0, 0, 0, 0},
    {"62 f1 78 48 28 05",           0, 0, 0, 0},
    {"62 f4 7c 48 28 05",           0, 0, 0, 0}, /* APX */
    {"c5 f8 85 c0",                 0, 0, 0, 0},
    /* Not in 64-bit mode, or nowhere. */
    {"06",                          0, 0, 0, 0},
    {"d5 0a",                       0, 0, 0, 0},
    {"9a",                          0, 0, 0, 0},
    {"ff f8",                       2, SHAPE_PLAIN, 0, 0}, /* copied, it faults as here */
    {"0f 0f c0 9e",                 0, 0, 0, 0},
    /* 15 bytes are the most. */
    {"66 66 66 66 66 66 66 66 66 66 66 66 66 66 90",    15, SHAPE_PLAIN, 0, 0},
    {"66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", 0, 0, 0, 0},
    {"66 66 66 66 66 66 66 66 66 66 66 66 66 66 89 c0", 0, 0, 0, 0},
};
/* clang-format on */

static void check_case(Test *t, const Case *c) {
    u8 bytes[32];
    size_t len = 0;
    memset(bytes, 0x90, sizeof bytes);
    for (const char *p = c->bytes; *p; len++) {
        char *end;
        bytes[len] = (u8)strtoul(p, &end, 16);
        p = end;
    }
    Shape shape = {0};
    bool accepted = shape_of(bytes, sizeof bytes, &shape);
    if (!accepted || shape.length != c->length) {
        if (accepted || c->length)
            complain(t, bytes, len, "by hand, length", shape.length, c->length);
        return;
    }
    if (shape.kind != c->kind)
        complain(t, bytes, len, "by hand, kind", shape.kind, c->kind);
    if (shape.disp_at != c->disp_at)
        complain(t, bytes, len, "by hand, disp_at", shape.disp_at, c->disp_at);
    bool has_target = shape.kind >= SHAPE_JCC && shape.kind <= SHAPE_COUNTED;
    if (has_target && shape.target != c->target)
        complain(t, bytes, len, "by hand, target", (long)shape.target, (long)c->target);
}

/* Instructions without any effect on the flags, and some that read or write them: their flags are exact. */
static void check_flags(Test *t) {
    static const struct {
        u8 bytes[4], flags;
    } instructions[] = {
        {{0x89, 0xc8}, 0},                                         /* mov */
        {{0x48, 0x8d, 0x00}, 0},                                   /* lea */
        {{0x50}, 0},                                               /* push */
        {{0xf3, 0xa4}, 0},                                         /* rep movsb: of the flags only DF */
        {{0xf7, 0xd0}, 0},                                         /* not */
        {{0x0f, 0x28, 0xc1}, 0},                                   /* movaps */
        {{0xf7, 0xd8}, SHAPE_WRITES_FLAGS | SHAPE_KILLS_FLAGS},    /* neg */
        {{0x83, 0xc0, 1}, SHAPE_WRITES_FLAGS | SHAPE_KILLS_FLAGS}, /* add */
        {{0xff, 0xc0}, SHAPE_WRITES_FLAGS},                        /* inc */
        {{0x83, 0xd0, 1}, SHAPE_READS_FLAGS | SHAPE_WRITES_FLAGS | SHAPE_KILLS_FLAGS}, /* adc */
        {{0xd1, 0xd0}, SHAPE_READS_FLAGS | SHAPE_WRITES_FLAGS},                        /* rcl */
        {{0xf3, 0xa6}, SHAPE_WRITES_FLAGS},                                            /* repe cmpsb */
        {{0x0f, 0x44, 0xc1}, SHAPE_READS_FLAGS},                                       /* cmove */
        {{0x75, 0x00}, SHAPE_READS_FLAGS},                                             /* jne */
        {{0xe0, 0x00}, SHAPE_READS_FLAGS},                                             /* loopne */
        {{0x9f}, SHAPE_READS_FLAGS},                                                   /* lahf */
    };
    for (size_t i = 0; i < ARRAY_LEN(instructions); i++) {
        Shape shape = {0};
        if (!shape_of(instructions[i].bytes, sizeof instructions[i].bytes, &shape) ||
            shape.flags != instructions[i].flags)
            complain(t, instructions[i].bytes, sizeof instructions[i].bytes, "by hand, flags", shape.flags,
                     instructions[i].flags);
    }
}

/* ------------------------------------------------------------------------------------------------------------- main */

static bool option(const char *arg, const char *name, u64 *value) {
    size_t len = strlen(name);
    if (strncmp(arg, name, len) != 0)
        return false;
    *value = strtoull(arg + len, NULL, 0);
    return true;
}

int main(int argc, char **argv) {
    Test t = {0};
    u64 count = 2000000, seed = 1, megabytes = 8;
    int first = 1;
    while (first < argc && (option(argv[first], "--count=", &count) || option(argv[first], "--seed=", &seed) ||
                            option(argv[first], "--text=", &megabytes)))
        first++;
    t.seed = corpus_seed(seed);
    ZydisDecoderInit(&t.zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_case(&t, &cases[i]);
    check_flags(&t);
    compare_all(&t);
    corpus_texts(argv + first, argc - first, megabytes << 20, sweep, &t);
    compare_random(&t, count);
    printf("%zu failures\n", t.failures);
    return t.failures != 0;
}
