/* host.c: aarch64 as a host. */
#include "host/aarch64/parts.h"

/* The write without a change adds zero, as one access: ARMv8.1 has that. */
static const HostAccess access = {
    .ints = {{"ldrb ${0:w}, $1", "strb ${1:w}, $0", "r"},
             {"ldrh ${0:w}, $1", "strh ${1:w}, $0", "r"},
             {"ldr ${0:w}, $1", "str ${1:w}, $0", "r"},
             {"ldr ${0:x}, $1", "str ${1:x}, $0", "r"}},
    .floats = {{"ldr ${0:s}, $1", "str ${1:s}, $0", "w"}, {"ldr ${0:d}, $1", "str ${1:d}, $0", "w"}},
    .look = "ldrb wzr, $0",
    .claim = ".arch_extension lse\n\tstaddb wzr, $0",
    .touch_memory = "*m",
    .touch_clobbers = "",
};

static const HostForeign foreign = {
    .features = "+neon",
    .entry = "\t.section lathe_entries, \"ax\"\n\t.p2align 3\n\t.globl %s\n\t.hidden %s\n"
             "\t.8byte %s - .\n%s:\tadrp x16, %s\n\tadd x16, x16, :lo12:%s\n\tb lathe_raise_enter\n\t.text\n",
    .entry_for_memory =
        "\t.section lathe_entries, \"ax\"\n\t.p2align 3\n\t.globl %s\n\t.hidden %s\n"
        "\t.8byte %s - .\n%s:\tmov x7, x6\n\tmov x6, x5\n\tmov x5, x4\n\tmov x4, x3\n\tmov x3, x2\n\tmov x2, x1\n"
        "\tmov x1, x0\n\tmov x0, x8\n\tadrp x16, %s\n\tadd x16, x16, :lo12:%s\n\tb lathe_raise_enter\n\t.text\n",
    .result_apart = true,
    .entry_direct = "\t.section lathe_entries, \"ax\"\n\t.p2align 3\n\t.globl %s\n\t.hidden %s\n"
                    "\t.8byte %s - .\n%s:\tb %s\n\t.text\n",
    .order_loads = "dmb ishld",
    .order_stores = "dmb ishst",
    .order_all = "dmb ish",
    .linker = "aarch64-linux-gnu-gcc",
};

const Host host_aarch64 = {
    .id = LATHE_HOST_AARCH64,
    .name = "aarch64",
    .triple = "aarch64-unknown-linux-gnu",
    .common_cpu = "generic",
    .least_features = "",
    .left_out = "",
    .low_features = "",
    /* C's convention passes and returns eight integers and eight vectors in the same registers. The last integer is for the guest state and the pc. */
    .convention = {.cc = 0, .ints = 7, .vectors = 8},
    .access = &access,
    .read_stack_pointer = "mov $0, sp",
    .nops = 0xd503201fd503201f,
    .load_low = "movz $0, #:abs_g1_s:$1\n\tmovk $0, #:abs_g0_nc:$1",
    .load_wide =
        "movz $0, #:abs_g0_nc:$1\n\tmovk $0, #:abs_g1_nc:$1\n\tmovk $0, #:abs_g2_nc:$1\n\tmovk $0, #:abs_g3:$1",
    .stencil_cpu = "generic",
    .stencil = &aarch64_stencil,
    .foreign = &foreign,
};
