/* host.c: riscv64 (rv64gc) as a host. */
#include "host/host.h"

/* The write without a change ors zero to a word, as one access. */
static const HostAccess access = {
    .ints = {{"lb $0, $1", "sb $1, $0", "r"},
             {"lh $0, $1", "sh $1, $0", "r"},
             {"lw $0, $1", "sw $1, $0", "r"},
             {"ld $0, $1", "sd $1, $0", "r"}},
    .floats = {{"flw $0, $1", "fsw $1, $0", "f"}, {"fld $0, $1", "fsd $1, $0", "f"}},
    .look = "lb zero, $0",
    .claim = "amoor.w zero, zero, $0",
    .claim_bytes = 4,
    .touch_memory = "*A",
    .touch_clobbers = "",
};

static const HostForeign foreign = {
    .features = "",
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
    /* Linux has programs access memory at any address. */
    .least_features = ",+m,+a,+f,+d,+c,+unaligned-scalar-mem",
    .left_out = "",
    .low_features = "",
    .signed_arguments = true,
    .boxed_floats = true,
    /* No convention: LLVM returns two integers in registers at most. */
    .access = &access,
    .read_stack_pointer = "mv $0, sp",
    .nops = 0x0001000100010001,
    .foreign = &foreign,
};
