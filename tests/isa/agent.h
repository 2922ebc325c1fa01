/* agent.h: what the tests and the agent, a small program of the guest's kind that qemu runs for them, say to each other: a question on
 * the agent's standard input, an answer on its standard output, again and again. */
#ifndef ISA_AGENT_H
#define ISA_AGENT_H

#include "agent_guest.h"

enum { AGENT_CODE_BYTES = 1024, AGENT_MEMORY_BYTES = 4096, AGENT_AREA_BYTES = 0x10000 };

/* Where code and scratch memory are: as in the tests' own process. */
#define AGENT_CODE 0x1f008000u
#define AGENT_MEMORY 0x2f000000u

/* The code runs at cpu.pc, which lies in the area of AGENT_AREA_BYTES around AGENT_CODE. */
typedef struct AgentRun {
    AgentCpu cpu;
    uint8_t memory[AGENT_MEMORY_BYTES];
    uint32_t size;
    int32_t signal, code; /* the answer's: 0 if control left the code, else what stopped it, and its si_code */
    uint8_t bytes[AGENT_CODE_BYTES];
} AgentRun;

#endif
