/* facts.c: see guest.h. */
#include "run/client/core/guest.h"

#include <asm/siginfo.h>
#include <elf.h>
#include <linux/audit.h>

#include "guest_cpu.h"
#include "guest_processor.h"
#include "isa/x86_64/helpers/helpers.h"
#include "run/client/core/sys.h"
#include "run/protocol/protocol.h"

static const Helper cpuid[] = {{SYMBOL_CPUID, (void *)guest_cpuid}, {NULL, NULL}};

static const Helper *const helpers[] = {
    client_helpers, cpuid, x86_system_helpers, x86_x87_helpers, x86_state_helpers, GUEST_PLAIN_HELPERS NULL,
};

void guest_describe(const u8 *bytes, size_t n, char *text, size_t size) {
    for (size_t i = 0; i < n; i++)
        format_text(text + 2 * i, size - 2 * i, "%02x", bytes[i]);
}

const GuestFacts guest_facts = {
    .name = "x86-64",
    .platform = "x86_64",
    .machine = EM_X86_64,
    .arch = LATHE_ARCH_X86_64,
    .audit_arch = AUDIT_ARCH_X86_64,
    .signal_stack_least = 2048,
    .memory = MEMORY_STRONG,
    .illegal_code = ILL_ILLOPN,
    .break_code = SI_KERNEL,
    .helpers = helpers,
    GUEST_PROCESSOR,
};
