/* host_cpu.h: the aarch64 CPU that runs the client. Its vector registers are saved by the kernel for each thread, whatever they are. */
#ifndef RUN_CLIENT_HOST_CPU_H
#define RUN_CLIENT_HOST_CPU_H

#include "base/base.h"

#endif
