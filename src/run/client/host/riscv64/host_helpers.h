/* host_helpers.h: functions that LLVM calls on this host in code of any guest: rows of client_helpers. */
#ifndef RUN_CLIENT_HOST_HELPERS_H
#define RUN_CLIENT_HOST_HELPERS_H

#include "host/riscv64/round.h"

#define HOST_HELPERS {"nearbyint", (void *)riscv64_round_double}, {"nearbyintf", (void *)riscv64_round_float},

#endif
