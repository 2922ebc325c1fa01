/* host.c: riscv64 (rv64gc) as a host. Code can be generated for it; nothing runs translated programs on it yet. */
#include "host/host.h"

const Host host_riscv64 = {
    .id = LATHE_HOST_RISCV64,
    .name = "riscv64",
    .triple = "riscv64-unknown-linux-gnu",
    .common_cpu = "generic-rv64",
    .least_features = ",+m,+a,+f,+d,+c",
    .left_out = "",
    .low_features = "",
    .signed_arguments = true,
};
