/* host.c: aarch64 as a host. Code can be generated for it; nothing runs translated programs on it yet. */
#include "host/host.h"

static const HostForeign foreign = {
    .features = "+neon",
    .entry = "\t.section lathe_entries, \"ax\"\n\t.p2align 3\n\t.globl %s\n\t.hidden %s\n"
             "\t.8byte %s - .\n%s:\tadrp x16, %s\n\tadd x16, x16, :lo12:%s\n\tb lathe_raise_enter\n\t.text\n",
    .entry_for_memory =
        "\t.section lathe_entries, \"ax\"\n\t.p2align 3\n\t.globl %s\n\t.hidden %s\n"
        "\t.8byte %s - .\n%s:\tmov x7, x6\n\tmov x6, x5\n\tmov x5, x4\n\tmov x4, x3\n\tmov x3, x2\n\tmov x2, x1\n"
        "\tmov x1, x0\n\tmov x0, x8\n\tadrp x16, %s\n\tadd x16, x16, :lo12:%s\n\tb lathe_raise_enter\n\t.text\n",
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
    .foreign = &foreign,
};
