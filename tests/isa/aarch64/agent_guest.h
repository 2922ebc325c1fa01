/* agent_guest.h: what the agent knows of aarch64. */
#ifndef ISA_AARCH64_AGENT_GUEST_H
#define ISA_AARCH64_AGENT_GUEST_H

#include "lathe/types.h"

typedef LatheAarch64Cpu AgentCpu;

#endif
