/* stencil_machine.h: where stencils run: in this process (stencils_own.c), or in a program for another host (stencils_hosted.c). A program has one of these. */
#ifndef ISA_STENCIL_MACHINE_H
#define ISA_STENCIL_MACHINE_H

#include "host/host.h"
#include "host/stencil.h"
#include "program.h"
#include "stencil_frame.h"

typedef struct StencilMachine {
    const HostStencil *host;
    u64 code, exits, helpers, constants; /* addresses, there */
    u32 exit_bytes, helper_bytes;
} StencilMachine;

/* tools: as the options say it; no host: this one. */
StencilMachine *machine_new(const HostedTools *tools);
void machine_free(StencilMachine *m);

/* Before and after the instructions of a case. */
void machine_begin(StencilMachine *m, State *s);
void machine_end(StencilMachine *m, State *s);

/* Runs code with the registers of the frame. False: a signal ended it, and *trap says what that stands for. */
bool machine_run(StencilMachine *m, const u8 *code, u32 size, StencilFrame *frame, State *s, u32 *trap);

#endif
