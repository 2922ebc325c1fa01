/* agent_guest.h: what the agent knows of riscv64. */
#ifndef ISA_RISCV64_AGENT_GUEST_H
#define ISA_RISCV64_AGENT_GUEST_H

#include "lathe/types.h"

typedef LatheRiscv64Cpu AgentCpu;

#endif
