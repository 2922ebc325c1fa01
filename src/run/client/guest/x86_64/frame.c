/* frame.c: signal frames of the guest: its whole state to the stack and back. */
#include "run/client/core/frame.h"
#include "guest_context.h"
#include "guest_flags.h"

#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"
#include "xstate.h"

enum { REDZONE_BYTES = 128 };
enum { CONTEXT_XSTATE = 1, CONTEXT_SS = 2, CONTEXT_STRICT_SS = 4 }; /* uc_flags */
enum { USER_CS = 0x33, USER_SS = 0x2b };

enum { /* rflags */
       CF = 1 << 0,
       FIXED = 1 << 1,
       PF = 1 << 2,
       AF = 1 << 4,
       ZF = 1 << 6,
       SF = 1 << 7,
       IF = 1 << 9,
       DF = 1 << 10,
       OF = 1 << 11,
       ID = 1 << 21,
};

typedef struct Frame {
    u64 restorer;
    GuestContext context;
    SignalInfo info;
} Frame;

/* --------------------------------------------------------------------------------------------------- to the frame */

u64 frame_flags(const LatheX86Cpu *c) {
    return (u64)FIXED | IF | (c->cf ? CF : 0) | (c->pf ? PF : 0) | (c->af ? AF : 0) | (c->zf ? ZF : 0) |
           (c->sf ? SF : 0) | (c->df ? DF : 0) | (c->of ? OF : 0) | (c->id ? ID : 0);
}

void frame_save_general(const LatheX86Cpu *c, GuestContext *s) {
    s->rax = c->gp[LATHE_RAX], s->rcx = c->gp[LATHE_RCX], s->rdx = c->gp[LATHE_RDX], s->rbx = c->gp[LATHE_RBX];
    s->rsp = c->gp[LATHE_RSP], s->rbp = c->gp[LATHE_RBP], s->rsi = c->gp[LATHE_RSI], s->rdi = c->gp[LATHE_RDI];
    s->r8 = c->gp[LATHE_R8], s->r9 = c->gp[LATHE_R9], s->r10 = c->gp[LATHE_R10], s->r11 = c->gp[LATHE_R11];
    s->r12 = c->gp[LATHE_R12], s->r13 = c->gp[LATHE_R13], s->r14 = c->gp[LATHE_R14], s->r15 = c->gp[LATHE_R15];
    s->rip = c->pc;
    s->rflags = frame_flags(c);
    s->cs = USER_CS;
    s->ss = USER_SS;
}

/* The state that has the vector and floating-point registers; NULL: they are in those of the host. */
static LatheX86Cpu *vectors_of(Thread *t) {
    return t->tier.optimised ? &t->cpu : NULL;
}

static void enter_handler(LatheX86Cpu *c, Frame *frame, u64 handler) {
    c->gp[LATHE_RSP] = (u64)frame;
    c->gp[LATHE_RDI] = (u64)frame->info.number;
    c->gp[LATHE_RSI] = (u64)&frame->info;
    c->gp[LATHE_RDX] = (u64)&frame->context;
    c->gp[LATHE_RAX] = 0;
    c->pc = handler;
    c->df = 0;
}

static bool is_on_altstack(const Thread *t, u64 sp) {
    return sp - t->signal.altstack < t->signal.altstack_size;
}

bool frame_push(Thread *t, const SignalInfo *info, u64 mask, u64 handler, u64 restorer, u64 altstack) {
    LatheX86Cpu *c = &t->cpu;
    u64 sp = altstack ? altstack : c->gp[LATHE_RSP] - REDZONE_BYTES;
    u64 area = (sp - xstate_size()) & -(u64)XSTATE_ALIGN;
    /* At the handler's first instruction rsp has to be as after a call: 8 less than a multiple of 16. */
    Frame *frame = (Frame *)(((area - sizeof(Frame)) & ~(u64)15) - 8);
    if ((altstack || is_on_altstack(t, c->gp[LATHE_RSP])) && !is_on_altstack(t, (u64)frame))
        return false;
    memset(&frame->context, 0, sizeof(frame->context));
    frame->restorer = restorer;
    frame->info = *info;
    GuestContext *s = &frame->context;
    s->flags = CONTEXT_SS | CONTEXT_STRICT_SS | (xstate_features() ? CONTEXT_XSTATE : 0);
    s->stack = t->signal.altstack;
    s->stack_flags = t->signal.altstack_flags | (t->signal.altstack_size ? 0 : SS_DISABLE);
    s->stack_size = t->signal.altstack_size;
    s->mask = s->old_mask = mask;
    s->fpstate = area;
    s->error = t->signal.fault_error, s->trap = t->signal.fault_trap;
    s->cr2 = info->number == SIGSEGV ? info->address : 0;
    frame_save_general(c, s);
    xstate_save(vectors_of(t), (void *)area);
    xstate_reset(vectors_of(t)); /* the kernel also resets them for handlers */
    enter_handler(c, frame, handler);
    return true;
}

/* ------------------------------------------------------------------------------------------------- from the frame */

void frame_set_flags(LatheX86Cpu *c, u64 flags) {
    c->cf = !!(flags & CF), c->pf = !!(flags & PF), c->af = !!(flags & AF), c->zf = !!(flags & ZF);
    c->sf = !!(flags & SF), c->df = !!(flags & DF), c->of = !!(flags & OF), c->id = !!(flags & ID);
}

void frame_take_general(LatheX86Cpu *c, const GuestContext *s) {
    c->gp[LATHE_RAX] = s->rax, c->gp[LATHE_RCX] = s->rcx, c->gp[LATHE_RDX] = s->rdx, c->gp[LATHE_RBX] = s->rbx;
    c->gp[LATHE_RSP] = s->rsp, c->gp[LATHE_RBP] = s->rbp, c->gp[LATHE_RSI] = s->rsi, c->gp[LATHE_RDI] = s->rdi;
    c->gp[LATHE_R8] = s->r8, c->gp[LATHE_R9] = s->r9, c->gp[LATHE_R10] = s->r10, c->gp[LATHE_R11] = s->r11;
    c->gp[LATHE_R12] = s->r12, c->gp[LATHE_R13] = s->r13, c->gp[LATHE_R14] = s->r14, c->gp[LATHE_R15] = s->r15;
}

static const GuestContext *context_of(const Thread *t) {
    /* The handler's ret has popped the restorer. */
    const Frame *frame = (const Frame *)(t->cpu.gp[LATHE_RSP] - sizeof(u64));
    return &frame->context;
}

FrameFacts frame_look(const Thread *t) {
    const GuestContext *s = context_of(t);
    return (FrameFacts){s->mask, {s->stack, s->stack_flags, 0, s->stack_size}};
}

void frame_pop(Thread *t) {
    const GuestContext *s = context_of(t);
    frame_take_general(&t->cpu, s);
    t->cpu.pc = s->rip;
    u8 id = t->cpu.id; /* the kernel also leaves this flag as it is */
    frame_set_flags(&t->cpu, s->rflags);
    t->cpu.id = id;
    bool ok = s->fpstate && xstate_load(vectors_of(t), s->fpstate);
    if (!ok)
        xstate_reset(vectors_of(t));
    if (!ok && s->fpstate)
        t->cpu.trap = LATHE_TRAP_PRIVILEGED; /* becomes SIGSEGV, as in the kernel */
}

bool frame_prepare(void) {
    return true;
}

bool frame_read_action(u64 from, Action *a) {
    return guest_read(from, a, sizeof(*a)) == sizeof(*a);
}

bool frame_write_action(u64 to, const Action *a) {
    return guest_write(to, a, sizeof(*a)) == sizeof(*a);
}
