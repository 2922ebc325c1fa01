/* runner.h: what the tests and runner.c, a program for another machine with the lifted cases in it, say to each other: a question
 * on its standard input, an answer on its standard output, again and again. Each is followed by the guest state and the scratch
 * memory. */
#ifndef ISA_RUNNER_H
#define ISA_RUNNER_H

#include <stdint.h>

enum { RUNNER_CPU_MAX = 8192, RUNNER_MEMORY_BYTES = 4096 };
#define RUNNER_MEMORY 0x2f000000u

typedef struct RunnerQuestion {
    uint32_t index, cpu_bytes;
} RunnerQuestion;

typedef struct RunnerAnswer {
    int32_t signal, code; /* 0: it returned */
} RunnerAnswer;

#endif
