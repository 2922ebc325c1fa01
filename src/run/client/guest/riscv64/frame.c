/* frame.c: signal frames of the guest: its whole state to the stack and back, in the layout of riscv64 Linux.
 *
 * A handler returns to two instructions, which Linux has in its vdso. Here they are on a page that the guest gets at its start. */
#include "run/client/core/frame.h"

#include "isa/riscv64/helpers_host.h"
#include "run/client/core/guest.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"

typedef struct GuestContext { /* ucontext_t, up to the floating-point registers of the D extension */
    u64 flags, link;
    AltStack stack;
    u64 mask;
    u8 unused[120];
    __attribute__((aligned(16))) u64 pc;
    u64 x[31]; /* from x1 on */
    u64 f[32];
    u32 fcsr;
    u8 rest[268];
} GuestContext;

typedef struct Frame {
    SignalInfo info;
    GuestContext context;
} Frame;

_Static_assert(offsetof(GuestContext, pc) == 176 && sizeof(GuestContext) == 176 + 256 + 528, "the kernel's layout");

static u64 return_code; /* li a7, 139; ecall */

bool frame_prepare(void) {
    static const u32 code[] = {0x08b00893, 0x00000073};
    i64 page = space_mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sys_failed(page))
        return false;
    memcpy((void *)page, code, sizeof(code));
    return_code = (u64)page;
    return !space_mprotect((u64)page, PAGE, PROT_READ | PROT_EXEC);
}

/* Optimised code of this guest has the exact state, so it is never replaced by quick code. */
void frame_become_quick(Thread *t) {
    (void)t;
    die("optimised code of this guest does not give way to quick code");
}

/* ------------------------------------------------------------------------------------------------------------- handlers */

/* struct sigaction has no restorer on riscv64. */
typedef struct GuestAction {
    u64 handler, flags, mask;
} GuestAction;

bool frame_read_action(u64 from, Action *a) {
    GuestAction in;
    if (guest_read(from, &in, sizeof(in)) != sizeof(in))
        return false;
    *a = (Action){in.handler, in.flags, 0, in.mask};
    return true;
}

bool frame_write_action(u64 to, const Action *a) {
    GuestAction out = {a->handler, a->flags, a->mask};
    return guest_write(to, &out, sizeof(out)) == sizeof(out);
}

/* --------------------------------------------------------------------------------------------------------------- frames */

/* The guest's fcsr. Flags that its instructions have raised are in the host's environment until somebody looks. */
static u32 get_fcsr(const GuestCpu *c) {
    return (u32)c->frm << 5 | rv_host_flags() | c->fflags;
}

static void set_fcsr(GuestCpu *c, u32 fcsr) {
    c->frm = fcsr >> 5 & 7;
    c->fflags = fcsr & 31;
    rv_host_begin(c->frm);
}

bool frame_push(Thread *t, const SignalInfo *info, u64 mask, u64 handler, u64 restorer, u64 altstack) {
    GuestCpu *c = &t->cpu;
    (void)restorer;
    Frame *frame = (Frame *)(((altstack ? altstack : guest_sp(c)) - sizeof(Frame)) & ~(u64)15);
    if (altstack && (u64)frame < t->signal.altstack)
        return false;
    GuestContext *g = &frame->context;
    frame->info = *info;
    memset(g, 0, sizeof(*g));
    g->stack = (AltStack){t->signal.altstack, t->signal.altstack_flags | (t->signal.altstack_size ? 0 : SS_DISABLE), 0,
                          t->signal.altstack_size};
    g->mask = mask;
    g->pc = c->pc;
    memcpy(g->x, c->x + 1, sizeof(g->x));
    memcpy(g->f, c->f, sizeof(g->f));
    g->fcsr = get_fcsr(c);
    c->x[REG_A0] = (u64)info->number;
    c->x[REG_A0 + 1] = (u64)&frame->info;
    c->x[REG_A0 + 2] = (u64)g;
    c->x[REG_RA] = return_code;
    guest_set_sp(c, (u64)frame);
    c->pc = handler;
    return true;
}

FrameFacts frame_look(const Thread *t) {
    const GuestContext *g = &((const Frame *)guest_sp(&t->cpu))->context;
    return (FrameFacts){g->mask, g->stack};
}

void frame_pop(Thread *t) {
    const GuestContext *g = &((const Frame *)guest_sp(&t->cpu))->context;
    GuestCpu *c = &t->cpu;
    set_fcsr(c, g->fcsr);
    memcpy(c->f, g->f, sizeof(g->f));
    c->pc = g->pc;
    memcpy(c->x + 1, g->x, sizeof(g->x));
    c->reserved_address = ~(u64)0;
}
