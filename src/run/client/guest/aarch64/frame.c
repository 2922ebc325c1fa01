/* frame.c: signal frames of the guest: its whole state to the stack and back, in the layout of aarch64 Linux.
 *
 * A handler returns to the restorer that its action names, or to two instructions, which Linux has in its vdso. Here they are on a page that the guest gets at its start.
 * Behind the general registers there are records: that of the vector registers, that of the syndrome after a fault, and an empty one. */
#include "run/client/core/frame.h"

#include "isa/aarch64/helpers_host.h"
#include "run/client/core/guest.h"
#include "run/client/guest/generic/handler_return.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"

enum { FPSIMD_MAGIC = 0x46508001, ESR_MAGIC = 0x45535201 };

typedef struct Record {
    u32 magic, size;
} Record;

typedef struct VectorRecord {
    Record head;
    u32 fpsr, fpcr;
    u8 vec[32][16];
} VectorRecord;

typedef struct SyndromeRecord {
    Record head;
    u64 esr;
} SyndromeRecord;

typedef struct GuestContext { /* ucontext_t */
    u64 flags, link;
    AltStack stack;
    u64 mask;
    u8 unused[120];
    __attribute__((aligned(16))) u64 fault_address;
    u64 x[31];
    u64 sp, pc, pstate;
    __attribute__((aligned(16))) u8 records[4096];
} GuestContext;

typedef struct Frame {
    SignalInfo info;
    GuestContext context;
} Frame;

/* What the handler's x29 points to: as if the interrupted code had called it. */
typedef struct FrameLink {
    u64 fp, lr;
} FrameLink;

_Static_assert(offsetof(GuestContext, fault_address) == 176 && offsetof(GuestContext, records) == 176 + 288 &&
                   sizeof(Frame) == 4688 && sizeof(VectorRecord) == 528,
               "the kernel's layout");

const u32 handler_return_code[2] = {0xd2801168, 0xd4000001}; /* mov x8, #139; svc #0 */

/* struct sigaction is laid out as the host's, but its restorer counts only if a flag says so. */
bool frame_read_action(u64 from, Action *a) {
    enum { RESTORER = 0x04000000 };
    if (guest_read(from, a, sizeof(*a)) != sizeof(*a))
        return false;
    if (!(a->flags & RESTORER))
        a->restorer = 0;
    return true;
}

bool frame_write_action(u64 to, const Action *a) {
    return guest_write(to, a, sizeof(*a)) == sizeof(*a);
}

/* -------------------------------------------------------------------------------------------------------------- records */

/* Bits of the error code of the host's page faults (SDM 3, 4.7): the page is there, it was a write, it was a fetch of code. */
enum { HOST_PRESENT = 1, HOST_WRITE = 2, HOST_FETCH = 16 };

/* The manual, ESR_EL1: an abort of a lower level, of data or instructions; at the last level of tables nothing was there, or it was not permitted. */
static u64 syndrome(u64 host_error) {
    u64 class = host_error & HOST_FETCH ? 0x20 : 0x24, status = host_error & HOST_PRESENT ? 15 : 7;
    return class << 26 | 1u << 25 | (host_error & HOST_WRITE ? 1u << 6 : 0) | status;
}

static bool is_memory_fault(const SignalInfo *info) {
    return (info->number == SIGSEGV || info->number == SIGBUS) && info->code > 0 && info->code != SI_KERNEL;
}

/* Writes the records. Exceptions of floating point that the guest's instructions have raised may still be in the host's registers, so these are added
 * to fpsr. */
static void put_records(const Thread *t, const SignalInfo *info, u8 *at) {
    const GuestCpu *c = &t->cpu;
    VectorRecord vectors = {{FPSIMD_MAGIC, sizeof(vectors)}, c->fpsr | a64_host_flags(), c->fpcr, {{0}}};
    memcpy(vectors.vec, c->vec, sizeof(vectors.vec));
    memcpy(at, &vectors, sizeof(vectors));
    if (is_memory_fault(info)) {
        SyndromeRecord fault = {{ESR_MAGIC, sizeof(fault)}, syndrome(t->signal.fault_error)};
        memcpy(at + sizeof(vectors), &fault, sizeof(fault));
    }
}

/* Finds the record of the vector registers; NULL: the handler has removed it. */
static const VectorRecord *find_vectors(const GuestContext *g) {
    u32 at = 0;
    while (at + sizeof(VectorRecord) <= sizeof(g->records)) {
        const Record *r = (const Record *)(g->records + at);
        if (r->magic == FPSIMD_MAGIC)
            return r->size == sizeof(VectorRecord) ? (const VectorRecord *)r : NULL;
        if (!r->magic || r->size < sizeof(Record) || r->size % 16)
            return NULL;
        at += r->size;
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------------- frames */

static void put_state(const Thread *t, const SignalInfo *info, u64 mask, GuestContext *g) {
    const GuestCpu *c = &t->cpu;
    memset(g, 0, sizeof(*g));
    g->stack = (AltStack){t->signal.altstack, t->signal.altstack_flags | (t->signal.altstack_size ? 0 : SS_DISABLE), 0,
                          t->signal.altstack_size};
    g->mask = mask;
    g->fault_address = is_memory_fault(info) ? info->address : 0;
    memcpy(g->x, c->x, sizeof(g->x));
    g->sp = c->sp;
    g->pc = c->pc;
    g->pstate = guest_pstate(c);
    put_records(t, info, g->records);
}

bool frame_push(Thread *t, const SignalInfo *info, u64 mask, u64 handler, u64 restorer, u64 altstack) {
    GuestCpu *c = &t->cpu;
    FrameLink *link = (FrameLink *)(((altstack ? altstack : c->sp) - sizeof(FrameLink)) & ~(u64)15);
    Frame *frame = (Frame *)((u64)link - sizeof(Frame));
    if (altstack && (u64)frame < t->signal.altstack)
        return false;
    *link = (FrameLink){c->x[REG_FP], c->x[REG_LR]};
    frame->info = *info;
    put_state(t, info, mask, &frame->context);
    c->x[0] = (u64)info->number;
    c->x[1] = (u64)&frame->info;
    c->x[2] = (u64)&frame->context;
    c->x[REG_FP] = (u64)link;
    c->x[REG_LR] = restorer ? restorer : handler_return_address();
    c->sp = (u64)frame;
    c->pc = handler;
    return true;
}

static const GuestContext *context_of(const Thread *t) {
    return &((const Frame *)t->cpu.sp)->context;
}

FrameFacts frame_look(const Thread *t) {
    const GuestContext *g = context_of(t);
    return (FrameFacts){g->mask, g->stack};
}

void frame_pop(Thread *t) {
    const GuestContext *g = context_of(t);
    const VectorRecord *vectors = find_vectors(g);
    GuestCpu *c = &t->cpu;
    if (vectors) {
        c->fpcr = vectors->fpcr;
        c->fpsr = vectors->fpsr;
        a64_host_begin(c->fpcr);
        memcpy(c->vec, vectors->vec, sizeof(c->vec));
    } else {
        c->trap = LATHE_TRAP_PRIVILEGED; /* becomes SIGSEGV, as in the kernel */
    }
    memcpy(c->x, g->x, sizeof(g->x));
    c->sp = g->sp;
    c->pc = g->pc;
    guest_set_pstate(c, g->pstate);
    c->reserved_address = ~(u64)0;
}
