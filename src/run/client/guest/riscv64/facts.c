/* facts.c: see guest.h. */
#include "run/client/guest.h"

#include <elf.h>
#include <linux/audit.h>

#include "guest_cpu.h"
#include "isa/riscv64/helpers.h"
#include "run/protocol/protocol.h"

static const Helper *const helpers[] = {client_helpers, rv_bits_helpers, rv_float_helpers, NULL};

#define LETTER(c) ((u64)1 << ((c) - 'A'))

const GuestFacts guest_facts = {
    .name = "riscv64",
    .machine = EM_RISCV,
    .arch = LATHE_ARCH_RISCV64,
    .audit_arch = AUDIT_ARCH_RISCV64,
    .more_hwcap = LETTER('I') | LETTER('M') | LETTER('A') | LETTER('F') | LETTER('D') | LETTER('C'),
    .memory = MEMORY_WEAK,
    .helpers = helpers,
};
