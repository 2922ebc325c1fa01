/* stencils_hosted.c: see stencil_machine.h: stencils in a program for another host, with runner_stencils.c in it. */
#include <stdio.h>

#include "isa/isa.h"
#include "oracle.h"
#include "stencil/stencil.h"
#include "stencil_machine.h"

_Static_assert(sizeof(StencilVisit) <= RUNNER_CPU_MAX && sizeof(GuestCpu) <= sizeof((StencilVisit *)0)->cpu,
               "the runner has room");

typedef struct HostedMachine {
    StencilMachine machine; /* first */
    Program program;
    StencilVisit visit;
} HostedMachine;

/* The addresses of helpers, each with whether the state comes first, and constants: a C source. */
static void save_tables(const Program *p) {
    Arena arena = {0};
    const char *text = "#include <stddef.h>\n", *list = "";
    for (u32 i = 0; stencil_helpers[i].name; i++) {
        const StencilHelper *h = &stencil_helpers[i];
        text = arena_printf(&arena, "%svoid %s(void);\n", text, h->name);
        list = arena_printf(&arena, "%s{%s,%d},\n", list, h->name, h->with_state);
    }
    text =
        arena_printf(&arena,
                     "%sconst struct { void (*address)(void); long with_state; } runner_helpers[] = {\n%s{NULL, 0}};\n"
                     "const size_t runner_constants_size = %u;\nconst unsigned char runner_constants[] = {",
                     text, list, stencil_constants_size);
    for (u32 i = 0; i < stencil_constants_size; i++)
        text = arena_printf(&arena, "%s%u,", text, stencil_constants[i]);
    text = arena_printf(&arena, "%s0};\n", text);
    program_save(p, "tables.c", text, strlen(text));
    arena_free(&arena);
}

StencilMachine *machine_new(const HostedTools *tools) {
    HostedMachine *m = mem_new(sizeof(*m));
    const Host *host = host_find(tools->host);
    CHECK(tools->host && host->stencil, "--host, of which there are stencils");
    *m = (HostedMachine){.machine = {.host = host->stencil,
                                     .code = AREA,
                                     .exits = AREA_EXITS,
                                     .exit_bytes = AREA_EXIT_BYTES,
                                     .helpers = AREA_HELPERS,
                                     .helper_bytes = AREA_HELPER_BYTES,
                                     .constants = AREA_CONSTANTS}};
    program_new(&m->program, tools);
    save_tables(&m->program);
    program_link(&m->program, "", "tables.c");
    return &m->machine;
}

void machine_free(StencilMachine *m) {
    program_free(&((HostedMachine *)m)->program);
    mem_free(m);
}

void machine_begin(StencilMachine *m, State *s) {
    (void)m, (void)s;
}

void machine_end(StencilMachine *m, State *s) {
    (void)m, (void)s;
}

bool machine_run(StencilMachine *m, const u8 *code, u32 size, StencilFrame *frame, State *s, u32 *trap) {
    HostedMachine *h = (HostedMachine *)m;
    StencilVisit *v = &h->visit;
    RunnerAnswer answer;
    v->frame = *frame;
    v->size = size;
    memcpy(v->code, code, size);
    memcpy(v->cpu, &s->cpu, sizeof(s->cpu));
    *trap = TRAP_SIGNAL;
    if (!program_ask(&h->program, 0, v, sizeof(*v), s->memory, &answer))
        return false;
    memcpy(&s->cpu, v->cpu, sizeof(s->cpu));
    *frame = v->frame;
    *trap = answer.signal ? program_trap(&answer, LATHE_TRAP_MISALIGNED) : 0;
    return !answer.signal;
}
