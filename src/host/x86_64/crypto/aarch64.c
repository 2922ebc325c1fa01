/* aarch64.c: AES, SHA-256 and carry-less products of aarch64 guests by the host's instructions, where it has them.
 *
 * Code of stencils calls this while xmm0 to xmm11 are the guest's, and the client is compiled without vector registers: only xmm12 to xmm15 are used, and xmm0, which SHA-256 wants, is put
 * back. */
#include <cpuid.h>

#include "isa/aarch64/helpers_host.h"

enum { KNOWN = 1, HAS_AES = 2, HAS_SHA = 4, HAS_PRODUCTS = 8 };
enum { LEAF_1_PCLMULQDQ = 1 << 1, LEAF_1_SSSE3 = 1 << 9, LEAF_1_AES = 1 << 25, LEAF_7_SHA = 1 << 29 };

#ifdef __SSE2__
#define USED "xmm12", "xmm13", "xmm14", "xmm15", "memory"
#else
#define USED "memory"
#endif

static u32 ask(void) {
    u32 a, b, c, d, all = KNOWN;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return all;
    all |= c & LEAF_1_AES ? HAS_AES : 0;
    all |= c & LEAF_1_PCLMULQDQ ? HAS_PRODUCTS : 0;
    if (c & LEAF_1_SSSE3 && __get_cpuid_count(7, 0, &a, &b, &c, &d))
        all |= b & LEAF_7_SHA ? HAS_SHA : 0;
    return all;
}

/* Whoever asks finds the same. */
static bool has(u32 what) {
    static u32 known;
    u32 all = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!all) {
        all = ask();
        __atomic_store_n(&known, all, __ATOMIC_RELAXED);
    }
    return all & what;
}

/* With a key of zeros. The last round of decryption and a round of encryption leave mixing of columns alone. */
bool a64_host_aes(A64Aes what, A64Block *state) {
    if (!has(HAS_AES))
        return false;
    switch (what) {
    case A64_AES_ENCRYPT:
        __asm__ volatile(
            "movdqu (%0), %%xmm12\n\tpxor %%xmm13, %%xmm13\n\taesenclast %%xmm13, %%xmm12\n\tmovdqu %%xmm12, (%0)"
            :
            : "r"(state)
            : USED);
        break;
    case A64_AES_DECRYPT:
        __asm__ volatile(
            "movdqu (%0), %%xmm12\n\tpxor %%xmm13, %%xmm13\n\taesdeclast %%xmm13, %%xmm12\n\tmovdqu %%xmm12, (%0)"
            :
            : "r"(state)
            : USED);
        break;
    case A64_AES_MIX:
        __asm__ volatile("movdqu (%0), %%xmm12\n\tpxor %%xmm13, %%xmm13\n\taesdeclast %%xmm13, %%xmm12\n\t"
                         "aesenc %%xmm13, %%xmm12\n\tmovdqu %%xmm12, (%0)"
                         :
                         : "r"(state)
                         : USED);
        break;
    case A64_AES_UNMIX:
        __asm__ volatile("movdqu (%0), %%xmm12\n\taesimc %%xmm12, %%xmm12\n\tmovdqu %%xmm12, (%0)"
                         :
                         : "r"(state)
                         : USED);
        break;
    }
    return true;
}

/* SDM 2B, SHA256RNDS2: two rounds. One operand has f, e, b and a from its lowest lane on, the other h, g, d and c, and they change places. */
bool a64_host_sha256(A64Block *abcd, A64Block *efgh, const A64Block *schedule) {
    if (!has(HAS_SHA))
        return false;
    __asm__ volatile("movdqu (%1), %%xmm12\n\t"
                     "movdqu (%0), %%xmm14\n\t"
                     "movdqa %%xmm12, %%xmm13\n\t"
                     "punpcklqdq %%xmm14, %%xmm12\n\t"
                     "punpckhqdq %%xmm14, %%xmm13\n\t"
                     "pshufd $0xb1, %%xmm12, %%xmm12\n\t"
                     "pshufd $0xb1, %%xmm13, %%xmm13\n\t"
                     "movdqa %%xmm0, %%xmm15\n\t"
                     "movdqu (%2), %%xmm0\n\t"
                     "sha256rnds2 %%xmm0, %%xmm12, %%xmm13\n\t"
                     "pshufd $0x0e, %%xmm0, %%xmm0\n\t"
                     "sha256rnds2 %%xmm0, %%xmm13, %%xmm12\n\t"
                     "movdqa %%xmm15, %%xmm0\n\t"
                     "pshufd $0xb1, %%xmm12, %%xmm12\n\t"
                     "pshufd $0xb1, %%xmm13, %%xmm13\n\t"
                     "movdqa %%xmm12, %%xmm14\n\t"
                     "punpckhqdq %%xmm13, %%xmm14\n\t"
                     "punpcklqdq %%xmm13, %%xmm12\n\t"
                     "movdqu %%xmm14, (%0)\n\t"
                     "movdqu %%xmm12, (%1)"
                     :
                     : "r"(abcd), "r"(efgh), "r"(schedule)
                     : USED);
    return true;
}

/* d + the words behind the first one of n and m + what depends on the last two. */
bool a64_host_sha256_schedule(A64Block *d, const A64Block *n, const A64Block *m) {
    if (!has(HAS_SHA))
        return false;
    __asm__ volatile("movdqu (%0), %%xmm12\n\t"
                     "movdqu (%1), %%xmm14\n\t"
                     "movdqu (%2), %%xmm13\n\t"
                     "movdqa %%xmm13, %%xmm15\n\t"
                     "palignr $4, %%xmm14, %%xmm13\n\t"
                     "paddd %%xmm13, %%xmm12\n\t"
                     "sha256msg2 %%xmm15, %%xmm12\n\t"
                     "movdqu %%xmm12, (%0)"
                     :
                     : "r"(d), "r"(n), "r"(m)
                     : USED);
    return true;
}

bool a64_host_product(u64 a, u64 b, A64Block *product) {
    if (!has(HAS_PRODUCTS))
        return false;
    __asm__ volatile("movq %0, %%xmm12\n\tmovq %1, %%xmm13\n\tpclmulqdq $0, %%xmm13, %%xmm12\n\tmovdqu %%xmm12, (%2)"
                     :
                     : "r"(a), "r"(b), "r"(product)
                     : USED);
    return true;
}
