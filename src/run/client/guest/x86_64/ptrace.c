/* ptrace.c: ptrace of the guest.
 *
 * Requests go to the kernel. Tracees that share this memory need care: leak checkers start a process beside their program (CLONE_VM), which
 * stops the program's threads and searches their registers for pointers. Such a thread must not be stopped while it holds a lock of the
 * client that the tracer needs, and its registers must be shown as the guest's. For other tracees the host's registers are shown. */
#include "run/client/os/calls.h"

#include <linux/elf.h>
#include <linux/ptrace.h>
#include <linux/wait.h>

#include "host_context.h"
#include "run/client/code/tier.h"
#include "run/client/code/translated.h"
#include "run/client/memory/space.h"
#include "run/client/os/signal/waits.h"

typedef struct Registers { /* struct user_regs_struct */
    u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax, rip, cs, rflags, rsp, ss;
    u64 fs_base, gs_base, ds, es, fs, gs;
} Registers;

/* With the lock of translated code; NULL: no thread in this memory. */
static Thread *find_thread(u32 tid) {
    Thread *t = the.threads;
    while (t && t->tid != tid)
        t = t->next;
    return t;
}

static bool is_here(u32 tid) {
    translated_lock();
    bool here = find_thread(tid);
    translated_unlock();
    return here;
}

/* Attaches to the tracee. This thread holds the client's locks meanwhile, so a tracee in the same memory holds none when it stops. From then on its
 * registers have to be exact. */
static i64 attach(Thread *t, const u64 a[6]) {
    if (is_here((u32)a[1]))
        tier_keep_state(t);
    translated_lock();
    space_lock();
    i64 result = syscall_repeated(t, __NR_ptrace, a);
    if (!result && find_thread((u32)a[1]))
        sys5(__NR_waitid, P_PID, a[1], 0, WSTOPPED | WEXITED | WNOWAIT | __WALL, 0);
    space_unlock();
    translated_unlock();
    return result;
}

/* For a thread in C code, or on the way there: the guest's registers are in the Thread. */
static void set_from_thread(Registers *r, const Thread *t) {
    const u64 *gp = t->cpu.gp;
    r->rax = gp[LATHE_RAX], r->rcx = gp[LATHE_RCX], r->rdx = gp[LATHE_RDX], r->rbx = gp[LATHE_RBX];
    r->rsp = gp[LATHE_RSP], r->rbp = gp[LATHE_RBP], r->rsi = gp[LATHE_RSI], r->rdi = gp[LATHE_RDI];
    r->r8 = gp[LATHE_R8], r->r9 = gp[LATHE_R9], r->r10 = gp[LATHE_R10], r->r11 = gp[LATHE_R11];
    r->r12 = gp[LATHE_R12], r->r13 = gp[LATHE_R13], r->r14 = gp[LATHE_R14], r->r15 = gp[LATHE_R15];
    r->rip = t->cpu.pc;
    r->rflags = t->quick.flags;
}

static void set_spilled(Registers *r, const Thread *t, const QuickPlace *place) {
    u64 *const by_number[] = {&r->rax, &r->rcx, &r->rdx, &r->rbx, &r->rsp, &r->rbp, &r->rsi, &r->rdi};
    for (u32 i = 0; i < 2 && place->spilled[i] >= 0; i++)
        memcpy(by_number[place->spilled[i]], (const u8 *)t + place->spill_off[i], 8);
    if (place->based >= 0)
        *by_number[place->based] -= t->cpu.gsbase;
}

static void show_guest(Registers *r, u32 tid) {
    QuickPlace place;
    bool quick = translated_locate(r->rip, &place);
    translated_lock();
    const Thread *t = find_thread(tid);
    if (t && quick) {
        r->rip = place.pc;
        set_spilled(r, t, &place);
    } else if (t) {
        set_from_thread(r, t);
    }
    if (t)
        r->gs_base = t->cpu.gsbase;
    translated_unlock();
}

static i64 get_registers(Thread *t, const u64 a[6]) {
    i64 result = syscall_repeated(t, __NR_ptrace, a);
    if (!result)
        show_guest((Registers *)a[3], (u32)a[1]);
    return result;
}

static i64 get_register_set(Thread *t, const u64 a[6]) {
    i64 result = syscall_repeated(t, __NR_ptrace, a);
    const struct iovec *v = (const struct iovec *)a[3];
    if (!result && a[2] == NT_PRSTATUS && v->iov_len == sizeof(Registers))
        show_guest(v->iov_base, (u32)a[1]);
    return result;
}

i64 guest_ptrace(Thread *t, const u64 a[6]) {
    switch (a[0]) {
    case PTRACE_ATTACH:
        return attach(t, a);
    case PTRACE_GETREGS:
        return get_registers(t, a);
    case PTRACE_GETREGSET:
        return get_register_set(t, a);
    default:
        return syscall_repeated(t, __NR_ptrace, a);
    }
}
