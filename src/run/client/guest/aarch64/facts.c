/* facts.c: see guest.h. */
#include "run/client/core/guest.h"

#include <asm/siginfo.h>
#include <elf.h>
#include <linux/audit.h>

#include "guest_cpu.h"
#include "isa/aarch64/helpers.h"
#include "run/client/core/sys.h"
#include "run/protocol/protocol.h"

static const Helper *const helpers[] = {client_helpers,   a64_bits_helpers,   a64_float_helpers,   a64_fma_helpers,
                                        a64_simd_helpers, a64_crypto_helpers, a64_stencil_helpers, NULL};

/* Documentation/arch/arm64/elf_hwcaps.rst, by the numbers of the bits: what the tables of instructions have. Without CPUID, because the registers of identification are
 * zero, and without PACA and PACG, because pointers are not signed. */
// clang-format off
#define HWCAP(M)                                                                                                      \
    M(0, "fp") M(1, "asimd") M(3, "aes") M(4, "pmull") M(5, "sha1") M(6, "sha2") M(7, "crc32") M(8, "atomics")        \
    M(9, "fphp") M(10, "asimdhp") M(12, "asimdrdm") M(13, "jscvt") M(14, "fcma") M(15, "lrcpc") M(16, "dcpop")        \
    M(17, "sha3") M(18, "sm3") M(19, "sm4") M(20, "asimddp") M(21, "sha512") M(23, "asimdfhm") M(24, "dit")           \
    M(26, "ilrcpc") M(27, "flagm") M(28, "ssbs") M(29, "sb")
#define HWCAP2(M) M(0, "dcpodp") M(7, "flagm2") M(8, "frint") M(13, "i8mm") M(14, "bf16") M(15, "dgh")
// clang-format on
#define BIT(number, name) | (u64)1 << (number)
#define NAME(number, name) " " name

/* Writes the instruction as manuals and listings do: as a number of 32 bits. */
void guest_describe(const u8 *bytes, size_t n, char *text, size_t size) {
    u32 word = 0;
    memcpy(&word, bytes, n < sizeof(word) ? n : sizeof(word));
    format_text(text, size, "%08x", word);
}

const GuestFacts guest_facts = {
    .name = "aarch64",
    .platform = "aarch64",
    .machine = EM_AARCH64,
    .arch = LATHE_ARCH_AARCH64,
    .audit_arch = AUDIT_ARCH_AARCH64,
    .more_hwcap = 0 HWCAP(BIT),
    .more_hwcap2 = 0 HWCAP2(BIT),
    .signal_stack = 4720,
    .signal_stack_least = 5120,
    .memory = MEMORY_WEAK,
    .illegal_code = ILL_ILLOPC,
    .break_code = TRAP_BRKPT,
    .cpuinfo = "processor\t: %u\nBogoMIPS\t: 100.00\nFeatures\t:" HWCAP(NAME)
        HWCAP2(NAME) "\n"
                     "CPU implementer\t: 0x00\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0x000\nCPU "
                     "revision\t: 0\n\n",
    .helpers = helpers,
};
