/* host.c: riscv64 (rv64gc) as a host. Code can be generated for it; nothing runs translated programs on it yet. */
#include "host/host.h"

static const HostForeign foreign = {
    .features = "+unaligned-scalar-mem",
    .entry = "\t.section lathe_entries, \"ax\"\n\t.p2align 3\n\t.globl %s\n\t.hidden %s\n"
             "\t.8byte %s - .\n%s:\tlla t0, %s\n\ttail lathe_raise_enter\n\t.text\n",
    .entry_for_memory = "\t.section lathe_entries, \"ax\"\n\t.p2align 3\n\t.globl %s\n\t.hidden %s\n"
                        "\t.8byte %s - .\n%s:\tlla t0, %s\n\ttail lathe_raise_enter_for_memory\n\t.text\n",
    .entry_direct = "\t.section lathe_entries, \"ax\"\n\t.p2align 3\n\t.globl %s\n\t.hidden %s\n"
                    "\t.8byte %s - .\n%s:\ttail %s\n\t.text\n",
    .order_loads = "fence r, rw",
    .order_stores = "fence w, w",
    .order_all = "fence rw, rw",
    .linker = "riscv64-linux-gnu-gcc",
};

const Host host_riscv64 = {
    .id = LATHE_HOST_RISCV64,
    .name = "riscv64",
    .triple = "riscv64-unknown-linux-gnu",
    .common_cpu = "generic-rv64",
    .least_features = ",+m,+a,+f,+d,+c",
    .left_out = "",
    .low_features = "",
    .signed_arguments = true,
    .boxed_floats = true,
    .foreign = &foreign,
};
