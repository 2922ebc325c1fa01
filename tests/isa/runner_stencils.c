/* runner_stencils.c: what runner.c runs in place of cases: a stencil that it is given, in an area with exits, helpers and constants. Compiled for the host. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "stencil_frame.h"

typedef struct Helper {
    void (*address)(void);
    long with_state;
} Helper;

/* Made by stencils_hosted.c. */
extern const Helper runner_helpers[];
extern const size_t runner_constants_size;
extern const unsigned char runner_constants[];

/* In assembly: a stencil's frame; where exits lead to; and, by way of the area, from a stencil to a helper, whose first argument may be the state. The code in the area, of which words
 * are changed to what it is for: exits to a number, and both have addresses at their ends. */
void stencils_enter(StencilFrame *frame);
void stencils_leave(void);
void stencils_help(void);
void stencils_help_state(void);
extern const unsigned char stencils_exit[], stencils_exit_end[], stencils_helper[], stencils_helper_end[];

/* Code that has two words at its end. */
static void put(uintptr_t at, const unsigned char *code, const unsigned char *end, uint64_t a, uint64_t b) {
    size_t size = (size_t)(end - code);
    memcpy((void *)at, code, size);
    memcpy((char *)at + size - 16, &a, 8);
    memcpy((char *)at + size - 8, &b, 8);
}

static void prepare(void) {
    void *area = (void *)(uintptr_t)AREA;
    if (mmap(area, AREA_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        area)
        exit(98);
    for (unsigned i = 0; i < EXITS; i++)
        put(AREA_EXITS + i * AREA_EXIT_BYTES, stencils_exit, stencils_exit_end, i, (uint64_t)stencils_leave);
    for (unsigned i = 0; runner_helpers[i].address; i++)
        put(AREA_HELPERS + i * AREA_HELPER_BYTES, stencils_helper, stencils_helper_end,
            (uint64_t)runner_helpers[i].address,
            (uint64_t)(runner_helpers[i].with_state ? stencils_help_state : stencils_help));
    memcpy((void *)(uintptr_t)AREA_CONSTANTS, runner_constants, runner_constants_size);
    __builtin___clear_cache((char *)area, (char *)area + AREA_BYTES);
}

static void visit(void *at) {
    static int is_prepared;
    StencilVisit *v = at;
    if (!is_prepared++)
        prepare();
    memcpy((void *)(uintptr_t)AREA, v->code, v->size);
    __builtin___clear_cache((char *)(uintptr_t)AREA, (char *)(uintptr_t)AREA + v->size);
    v->frame.code = AREA;
    v->frame.cpu = (uint64_t)v->cpu;
    stencils_enter(&v->frame);
}

void (*const case_entries[])(void *cpu) = {visit};
