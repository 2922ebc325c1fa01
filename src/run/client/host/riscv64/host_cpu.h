/* host_cpu.h: the riscv64 CPU that runs the client. Guests have nothing in its registers that is not in their state, too. */
#ifndef RUN_CLIENT_HOST_CPU_H
#define RUN_CLIENT_HOST_CPU_H

#include "base/base.h"

#endif
