/* host.c: aarch64 as a host. Code can be generated for it; nothing runs translated programs on it yet. */
#include "host/host.h"

const Host host_aarch64 = {
    .id = LATHE_HOST_AARCH64,
    .name = "aarch64",
    .triple = "aarch64-unknown-linux-gnu",
    .common_cpu = "generic",
    .least_features = "",
    .left_out = "",
    .low_features = "",
};
