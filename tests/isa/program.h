/* program.h: runner.c with code for another host, linked into one program in a folder of its own, which qemu runs. */
#ifndef ISA_PROGRAM_H
#define ISA_PROGRAM_H

#include <sys/types.h>

#include "cases.h"
#include "runner.h"

/* With what a program for the host is made: a C compiler that links, and objects besides those in the folder: runner.c, helpers. */
typedef struct HostedTools {
    LatheHost host;
    const char *cc, *with;
} HostedTools;

typedef struct Program {
    const HostedTools *tools;
    char folder[32];
    pid_t pid;
    int fd;
} Program;

void program_new(Program *p, const HostedTools *tools);
void program_free(Program *p);
void program_save(const Program *p, const char *name, const void *data, size_t size);
/* Links `what` in the folder with these options, and starts it. Ends the process if that fails. */
void program_link(Program *p, const char *options, const char *what);

/* False: it died of it, and was started again. */
bool program_ask(Program *p, u32 index, void *cpu, size_t cpu_bytes, u8 *memory, RunnerAnswer *answer);
/* Of an answer with a signal. */
u32 program_trap(const RunnerAnswer *answer, u32 expected);

#endif
