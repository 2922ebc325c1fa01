/* facts.c: see guest.h. */
#include "run/client/core/guest.h"

#include <asm/siginfo.h>
#include <elf.h>
#include <linux/audit.h>

#include "guest_cpu.h"
#include "isa/riscv64/helpers.h"
#include "run/client/core/sys.h"
#include "run/protocol/protocol.h"

static const Helper *const helpers[] = {client_helpers, rv_bits_helpers, rv_float_helpers, NULL};

#define LETTER(c) ((u64)1 << ((c) - 'A'))

/* The RISC-V manual, table 70: names by bits 2–6 of a 32-bit instruction. */
static const char *const major_opcodes[32] = {
    "LOAD",   "LOAD-FP",  "custom-0", "MISC-MEM", "OP-IMM", "AUIPC", "OP-IMM-32", "48 bits",
    "STORE",  "STORE-FP", "custom-1", "AMO",      "OP",     "LUI",   "OP-32",     "64 bits",
    "MADD",   "MSUB",     "NMSUB",    "NMADD",    "OP-FP",  "OP-V",  "custom-2",  "48 bits",
    "BRANCH", "JALR",     "reserved", "JAL",      "SYSTEM", "OP-VE", "custom-3",  "80 bits or more",
};

/* Writes the instruction as manuals and listings do: as a number of 16 or 32 bits, the latter with its major opcode. */
void guest_describe(const u8 *bytes, size_t n, char *text, size_t size) {
    u32 word = 0;
    memcpy(&word, bytes, n < sizeof(word) ? n : sizeof(word));
    if ((word & 3) != 3)
        format_text(text, size, "%04x (compressed)", word & 0xffff);
    else
        format_text(text, size, "%08x (%s)", word, major_opcodes[word >> 2 & 31]);
}

const GuestFacts guest_facts = {
    .name = "riscv64",
    .machine = EM_RISCV,
    .arch = LATHE_ARCH_RISCV64,
    .audit_arch = AUDIT_ARCH_RISCV64,
    .more_hwcap = LETTER('I') | LETTER('M') | LETTER('A') | LETTER('F') | LETTER('D') | LETTER('C'),
    .signal_stack_least = 2048,
    .memory = MEMORY_WEAK,
    .illegal_code = ILL_ILLOPC,
    .break_code = TRAP_BRKPT,
    .cpuinfo =
        "processor\t: %u\nhart\t\t: %u\n"
        "isa\t\t: rv64imafdc_zicond_zicsr_zifencei_zfa_zfh_zfhmin_zba_zbb_zbc_zbkb_zbkc_zbkx_zbs\nmmu\t\t: sv48\n"
        "mvendorid\t: 0x0\nmarchid\t\t: 0x0\nmimpid\t\t: 0x0\n\n",
    .helpers = helpers,
};
