/* frame.c: signal frames of the guest: its whole state to the stack and back, in the layout of riscv64 Linux.
 *
 * A handler returns to two instructions, which Linux has in its vdso. Here they are on a page that the guest gets at its start. */
#include "run/client/core/frame.h"

#include "isa/riscv64/helpers_host.h"
#include "run/client/core/guest.h"
#include "run/client/guest/generic/handler_return.h"
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

const u32 handler_return_code[2] = {0x08b00893, 0x00000073}; /* li a7, 139; ecall */

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

/* The guest's fcsr, with exceptions that its instructions have raised and that are still in the host's registers only. */
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
    c->x[REG_RA] = handler_return_address();
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
