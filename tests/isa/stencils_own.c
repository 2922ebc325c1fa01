/* stencils_own.c: see stencil_machine.h: stencils in this process. */
#include <sys/mman.h>

#include "isa/isa.h"
#include "lifted.h"
#include "oracle.h"
#include "stencil/stencil.h"
#include "stencil_machine.h"

enum { AREA_SIZE = 1 << 20, CODE_BYTES = 4096, HELPER_BYTES = 16, EXIT_BYTES = 32 };

void stencils_enter(StencilFrame *frame);
void stencils_leave(void);
void stencils_help(void);

typedef struct Own {
    StencilMachine machine; /* first */
    u8 *area, *constants, *helpers, *exits;
    StencilFrame frame;
} Own;

static void *helper_named(const char *name) {
    const Isa *isa = isa_find(GUEST_ARCH);
    for (const Helper *const *table = isa->helpers; *table; table++)
        for (const Helper *h = *table; h->name; h++)
            if (!strcmp(h->name, name))
                return h->address;
    return NULL;
}

static u8 *put_bytes(u8 *at, const void *bytes, size_t count) {
    memcpy(at, bytes, count);
    return at + count;
}

static u8 *put_u32(u8 *at, u64 value) {
    return put_bytes(at, &(u32){(u32)value}, 4);
}

static u8 *put_u64(u8 *at, u64 value) {
    return put_bytes(at, &value, 8);
}

/* The way to each helper: a call of stencils_help by its address, and what that finds behind it. The area is too far away for a call by a distance. */
static void make_helpers(Own *s) {
    u8 *far = s->helpers - HELPER_BYTES;
    put_u64(put_bytes(far, "\xff\x25\0\0\0\0", 6), (u64)stencils_help); /* jmp *0(%rip) */
    for (u32 i = 0; stencil_helpers[i].name; i++) {
        u8 *at = s->helpers + i * HELPER_BYTES, *call = put_bytes(at, "\xe8", 1);
        call = put_u32(call, (u64)(far - (call + 4)));
        call = put_u64(call, (u64)helper_named(stencil_helpers[i].name));
        *call = stencil_helpers[i].with_state;
        CHECK(helper_named(stencil_helpers[i].name), "a helper that is none of the guest's");
    }
}

static void make_exits(Own *s) {
    for (u32 i = 0; i < EXITS; i++) {
        u8 *at = put_bytes(s->exits + i * EXIT_BYTES, "\x48\xb9", 2); /* mov $frame, %rcx */
        at = put_u64(at, (u64)&s->frame);
        at = put_bytes(at, "\xc7\x41", 2); /* movl $i, exit(%rcx) */
        *at++ = offsetof(StencilFrame, exit);
        at = put_u32(at, i);
        at = put_bytes(at, "\xff\x61", 2); /* jmp *leave(%rcx) */
        *at++ = offsetof(StencilFrame, leave);
    }
}

StencilMachine *machine_new(const HostedTools *tools) {
    CHECK(!tools->host, "there is another program for stencils of another host");
    Own *s = mem_new(sizeof(*s));
    u32 helpers = 0;
    while (stencil_helpers[helpers].name)
        helpers++;
    *s = (Own){.machine = {.host = host_own()->stencil, .exit_bytes = EXIT_BYTES, .helper_bytes = HELPER_BYTES}};
    s->area = mmap(NULL, AREA_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(s->area != MAP_FAILED, "no memory for code");
    s->exits = s->area + CODE_BYTES;
    s->helpers = s->exits + EXITS * EXIT_BYTES + HELPER_BYTES;
    s->constants = s->helpers + (helpers * HELPER_BYTES + 63) / 64 * 64;
    s->constants = (u8 *)(((u64)s->constants + 63) & ~(u64)63);
    CHECK(s->constants + stencil_constants_size <= s->area + AREA_SIZE, "more constants than expected");
    memcpy(s->constants, stencil_constants, stencil_constants_size);
    make_helpers(s);
    make_exits(s);
    s->machine.code = (u64)s->area;
    s->machine.exits = (u64)s->exits;
    s->machine.helpers = (u64)s->helpers;
    s->machine.constants = (u64)s->constants;
    return &s->machine;
}

void machine_free(StencilMachine *m) {
    Own *s = (Own *)m;
    munmap(s->area, AREA_SIZE);
    mem_free(s);
}

void machine_begin(StencilMachine *m, State *state) {
    (void)m;
    memcpy(state_memory(), state->memory, STATE_MEMORY_BYTES);
    guest_enter(&state->cpu);
}

void machine_end(StencilMachine *m, State *state) {
    (void)m;
    guest_leave(&state->cpu);
    memcpy(state->memory, state_memory(), STATE_MEMORY_BYTES);
}

/* native_call takes functions of the state. */
static StencilFrame *entered;
static void enter(void *cpu) {
    (void)cpu;
    stencils_enter(entered);
}

bool machine_run(StencilMachine *m, const u8 *code, u32 size, StencilFrame *frame, State *state, u32 *trap) {
    Own *s = (Own *)m;
    memcpy(s->area, code, size);
    s->frame = *frame;
    s->frame.cpu = (u64)&state->cpu;
    s->frame.code = (u64)s->area;
    s->frame.leave = (u64)stencils_leave;
    entered = &s->frame;
    NativeResult r = native_call(enter, &state->cpu);
    *frame = s->frame;
    *trap = r.signal ? lifted_trap_of(r) : 0;
    return !r.signal;
}
