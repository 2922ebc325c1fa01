/* features.c: the program isa-features-aarch64: what programs are told that the CPU has (isa/aarch64/features.def) against the table of instructions. LLVM's disassembler says which
 * feature an instruction is of. */
#include <stdio.h>

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include "isa/aarch64/aarch64.h"
#include "isa/aarch64/encoding.h"
#include "isa/aarch64/hwcap.h"
#include "isa/aarch64/system.h"

#define TRIPLE "aarch64-unknown-linux-gnu"

static int failures;

static void fail(const char *what, const char *name, u64 value) {
    printf("FAIL %s: %s (%#llx)\n", name, what, (unsigned long long)value);
    failures++;
}

/* ------------------------------------------------------------------------------------------------------------- features */

/* LLVM's name of each, and a word of it; NULL: LLVM takes its words without being told. */
static const struct Known {
    const char *name, *llvm;
    u32 word;
} known[] = {
    {"fp", NULL, 0x1e622820},            /* fadd d0, d1, d2 */
    {"asimd", NULL, 0x4ea28420},         /* add v0.4s, v1.4s, v2.4s */
    {"aes", "aes", 0x4e284820},          /* aese v0.16b, v1.16b */
    {"pmull", "aes", 0x0ee2e020},        /* pmull v0.1q, v1.1d, v2.1d */
    {"sha1", "sha2", 0x5e020020},        /* sha1c q0, s1, v2.4s */
    {"sha2", "sha2", 0x5e024020},        /* sha256h q0, q1, v2.4s */
    {"crc32", "crc", 0x1ac24020},        /* crc32b w0, w1, w2 */
    {"atomics", "lse", 0xf8220020},      /* ldadd x2, x0, [x1] */
    {"fphp", "fullfp16", 0x1ee22820},    /* fadd h0, h1, h2 */
    {"asimdhp", "fullfp16", 0x4e421420}, /* fadd v0.8h, v1.8h, v2.8h */
    {"cpuid", NULL, 0xd5380000},         /* mrs x0, midr_el1 */
    {"asimdrdm", "rdm", 0x6e828420},     /* sqrdmlah v0.4s, v1.4s, v2.4s */
    {"jscvt", "jsconv", 0x1e7e0020},     /* fjcvtzs w0, d1 */
    {"fcma", "complxnum", 0x6ec2c420},   /* fcmla v0.2d, v1.2d, v2.2d, #0 */
    {"lrcpc", "rcpc", 0xf8bfc020},       /* ldapr x0, [x1] */
    {"dcpop", NULL, 0xd50b7c20},         /* dc cvap, x0 */
    {"sha3", "sha3", 0xce020c20},        /* eor3 v0.16b, v1.16b, v2.16b, v3.16b */
    {"sm3", "sm4", 0xce63c020},          /* sm3partw1 v0.4s, v1.4s, v3.4s */
    {"sm4", "sm4", 0xcec08420},          /* sm4e v0.4s, v1.4s */
    {"asimddp", "dotprod", 0x4e829420},  /* sdot v0.4s, v1.16b, v2.16b */
    {"sha512", "sha3", 0xce628020},      /* sha512h q0, q1, v2.2d */
    {"asimdfhm", "fp16fml", 0x4e22ec20}, /* fmlal v0.4s, v1.4h, v2.4h */
    {"dit", NULL, 0xd503415f},           /* msr dit, #1 */
    {"ilrcpc", "rcpc-immo", 0xd9400020}, /* ldapur x0, [x1] */
    {"flagm", "flagm", 0x3a00082d},      /* setf8 w1 */
    {"ssbs", NULL, 0xd503413f},          /* msr ssbs, #1 */
    {"sb", NULL, 0xd50330ff},
    {"dcpodp", NULL, 0xd50b7d20},     /* dc cvadp, x0 */
    {"flagm2", NULL, 0xd500405f},     /* axflag */
    {"frint", "fptoint", 0x1e684020}, /* frint32z d0, d1 */
    {"i8mm", "i8mm", 0x4e82a420},     /* smmla v0.4s, v1.16b, v2.16b */
    {"bf16", "bf16", 0x6e42fc20},     /* bfdot v0.4s, v1.8h, v2.8h */
    {"dgh", NULL, 0xd50320df},
    {"hbc", "hbc", 0x54000050}, /* bc.eq */
};

/* Instructions that are here and of which nothing is told; features.def has the reasons. Linux tells nothing of limited order regions. */
static const char *const untold = "+mops,+pauth,+lor";

typedef struct Told {
    const char *name;
    u32 word, bit, no, shift, value;
} Told;

static const Told told[] = {
#define FEATURE(word, bit, name, reg, shift, value) {#name, word, bit, A64_##reg, shift, value},
#include "isa/aarch64/features.def"
#undef FEATURE
};

static const struct Known *known_as(const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (!strcmp(known[i].name, name))
            return &known[i];
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- who decodes */

static LLVMDisasmContextRef open_llvm(const char *features) {
    LLVMDisasmContextRef c = LLVMCreateDisasmCPUFeatures(TRIPLE, "generic", features, NULL, 0, NULL, NULL);
    CHECK(c, "LLVM has a disassembler for aarch64");
    return c;
}

static bool llvm_decodes(LLVMDisasmContextRef c, u32 word) {
    char text[128];
    return LLVMDisasmInstruction(c, (u8 *)&word, sizeof(word), 0, text, sizeof(text)) == sizeof(word);
}

static bool we_decode(u32 word) {
    Insn in = {0};
    return a64_decode((const u8 *)&word, sizeof(word), 0, &in) == LATHE_OK;
}

static u32 draw(u64 *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (u32)(*state >> 32);
}

/* --------------------------------------------------------------------------------------------------------------- checks */

static void join(char *text, size_t size, const char *more) {
    size_t len = strlen(text);
    snprintf(text + len, size - len, "%s+%s", len ? "," : "", more);
}

/* The table has its word, LLVM has it by that name only, and the fields of registers say so. */
static void check_feature(const Told *f, LLVMDisasmContextRef plain) {
    const struct Known *k = known_as(f->name);
    char name[64] = "";
    u64 value = 0, hwcap = f->word == 1 ? A64_HWCAP : A64_HWCAP2;
    if (!k) {
        fail("this test does not know it", f->name, 0);
        return;
    }
    if (!we_decode(k->word))
        fail("its instruction is not in the table", f->name, k->word);
    if (k->llvm) {
        join(name, sizeof(name), k->llvm);
        LLVMDisasmContextRef c = open_llvm(name);
        if (!llvm_decodes(c, k->word) || llvm_decodes(plain, k->word))
            fail("LLVM has its instruction by another name", f->name, k->word);
        LLVMDisasmDispose(c);
    }
    if (!(hwcap >> f->bit & 1))
        fail("its bit is not set", f->name, f->bit);
    if (!a64_system_constant(f->no, &value) || (value >> f->shift & 15) < f->value)
        fail("its register does not have it", f->name, value);
}

/* Every row is of a feature that is told, or one of those above, and every instruction of a told one has a row. LLVM does not take words whose effect the manual leaves open,
 * so some of a row's words are enough. */
static void check_row(u32 row, LLVMDisasmContextRef plain, LLVMDisasmContextRef all, LLVMDisasmContextRef more,
                      u64 *state) {
    enum { DRAWS = 600 };
    bool seen = false;
    for (u32 i = 0; i < DRAWS; i++) {
        u32 word = (draw(state) & ~a64_encodings[row].mask) | a64_encodings[row].match;
        if (i % 8 == 0)
            word |= (31u << 16 | 31u << 10) &
                    ~a64_encodings[row].mask; /* what should be ones, of loads and stores that order others */
        if (i % 2)
            word ^= 1u << draw(state) % 32 | (i % 4 == 1 ? 1u << draw(state) % 32 : 0);
        if (we_decode(word))
            seen |= a64_find_row(word) == row && llvm_decodes(more, word);
        else if (llvm_decodes(all, word) && !llvm_decodes(plain, word))
            fail("not in the table", "an instruction of a feature that is told", word);
    }
    if (!seen)
        fail("of a feature that is not told", a64_names[row], row);
}

static void check_rows(LLVMDisasmContextRef plain) {
    char features[1024] = "";
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i].llvm)
            join(features, sizeof(features), known[i].llvm);
    LLVMDisasmContextRef all = open_llvm(features);
    snprintf(features + strlen(features), sizeof(features) - strlen(features), ",%s", untold);
    LLVMDisasmContextRef more = open_llvm(features);
    u64 state = 1;
    for (u32 row = 1; row < A64_ROW_COUNT; row++)
        check_row(row, plain, all, more, &state);
    LLVMDisasmDispose(all);
    LLVMDisasmDispose(more);
}

int main(void) {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64Disassembler();
    LLVMDisasmContextRef plain = open_llvm("");
    for (size_t i = 0; i < ARRAY_LEN(told); i++)
        check_feature(&told[i], plain);
    if (ARRAY_LEN(known) != ARRAY_LEN(told))
        fail("features that this test knows are not told", "number", ARRAY_LEN(known) - ARRAY_LEN(told));
    check_rows(plain);
    LLVMDisasmDispose(plain);
    printf("%zu features, %d failures\n", ARRAY_LEN(told), failures);
    return failures != 0;
}
