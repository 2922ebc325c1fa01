/* facts.c: see guest.h. */
#include "run/client/core/guest.h"

#include <asm/siginfo.h>
#include <elf.h>
#include <linux/audit.h>

#include "guest_cpu.h"
#include "isa/aarch64/helpers.h"
#include "isa/aarch64/hwcap.h"
#include "run/client/core/sys.h"
#include "run/protocol/protocol.h"

static const Helper *const helpers[] = {client_helpers,   a64_bits_helpers,   a64_float_helpers,   a64_fma_helpers,
                                        a64_simd_helpers, a64_crypto_helpers, a64_stencil_helpers, NULL};

#define FEATURE(word, bit, name, ...) " " #name
static const char cpuinfo[] = "processor\t: %u\nBogoMIPS\t: 100.00\nFeatures\t:"
#include "isa/aarch64/features.def"
                              "\nCPU implementer\t: 0x00\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: "
                              "0x000\nCPU revision\t: 0\n\n";
#undef FEATURE

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
    .more_hwcap = A64_HWCAP,
    .more_hwcap2 = A64_HWCAP2,
    .signal_stack = 4720,
    .signal_stack_least = 5120,
    .memory = MEMORY_WEAK,
    .illegal_code = ILL_ILLOPC,
    .break_code = TRAP_BRKPT,
    .cpuinfo = cpuinfo,
    .helpers = helpers,
};
