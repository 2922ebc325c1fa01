/* enter.c: where native code and raised functions call each other, on a machine that the program was not made for.
 *
 * The frames of raised functions are on the thread's own stack. The program's frames are on another one, whose pointer is a value
 * like any other in raised code: it is mapped when native code first enters a raised function in the thread, and unmapped when the thread ends. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "raise/runtime/runtime.h"

enum { STACK_BYTES = 64 << 20, GUARD_BYTES = 65536, SIGNAL_GAP = 1 << 20, STATE_ALIGN = 64 };

__thread u64 lathe_raise_stack;

/* Of the program: its thread-local variables, and where the thread pointer is among them. */
extern __thread u8 lathe_raise_thread[];
extern const u64 lathe_raise_thread_offset;
/* Its image, which has no code any more. */
extern const u8 lathe_image[];
extern const u64 lathe_raise_image_base, lathe_raise_image_bytes;
/* All entries of functions are in one section; before each is the distance from there to its bridge. */
extern const u8 __start_lathe_entries[], __stop_lathe_entries[];

/* ------------------------------------------------------------------------------------------------------------------ stop */

_Noreturn void lathe_raise_stop(const char *text, u64 size, u64 pc) {
    dprintf(STDERR_FILENO, "lathe: raised code stopped at 0x%lx: %.*s\n", pc, (int)size, text);
    signal(SIGILL, SIG_DFL);
    raise(SIGILL);
    _exit(132);
}

static _Noreturn void stop(const char *text, u64 pc) {
    lathe_raise_stop(text, strlen(text), pc);
}

static void send_to_self(int number, int code, u64 pc) {
    siginfo_t info = {.si_signo = number, .si_code = code, .si_addr = (void *)pc};
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, &info) != 0)
        raise(number);
}

/* As for an instruction that traps: nobody can block or ignore the signal, and the instruction is tried again if its handler returns. */
_Noreturn void lathe_raise_signal(u64 number, u64 code, u64 pc) {
    struct sigaction action;
    sigset_t own, blocked;
    sigemptyset(&own);
    sigaddset(&own, (int)number);
    for (;;) {
        sigaction((int)number, NULL, &action);
        pthread_sigmask(SIG_UNBLOCK, &own, &blocked);
        if (action.sa_handler == SIG_IGN || sigismember(&blocked, (int)number))
            signal((int)number, SIG_DFL);
        send_to_self((int)number, (int)code, pc);
    }
}

void lathe_raise_syscall(GuestCpu *cpu) {
    (void)cpu;
    stop("a system call of another machine", 0);
}

/* ---------------------------------------------------------------------------------------------------------------- stacks */

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_stack(void *low) {
    lathe_raise_stack = 0;
    munmap(low, STACK_BYTES);
}

static void make_key(void) {
    pthread_key_create(&key, free_stack);
}

static u64 new_stack(void) {
    u8 *low =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (low == MAP_FAILED)
        stop("there is no memory for a stack", 0);
    mprotect(low, GUARD_BYTES, PROT_NONE);
    pthread_once(&once, make_key);
    pthread_setspecific(key, low);
    /* Callees look at arguments above it that they were not given. */
    return lathe_raise_stack = (u64)low + STACK_BYTES - 256;
}

/* A signal may come while raised code runs, which has frames below the last known place. */
static u64 free_place(void) {
    u64 stack = lathe_raise_stack;
    if (stack & 1)
        return (stack & ~(u64)1) - SIGNAL_GAP;
    return stack ? stack : new_stack();
}

/* -------------------------------------------------------------------------------------------------------------- in and out */

void lathe_raise_entered(ForeignRegs *regs, void (*bridge)(GuestCpu *cpu)) {
    u8 space[guest_cpu_bytes + STATE_ALIGN];
    GuestCpu *cpu = (GuestCpu *)(((u64)space + STATE_ALIGN - 1) & -(u64)STATE_ALIGN);
    u64 stack = guest_push_arguments(free_place(), regs), before = lathe_raise_stack;
    guest_enter(cpu, regs, stack, lathe_raise_thread + lathe_raise_thread_offset);
    lathe_raise_stack = stack | 1;
    bridge(cpu);
    lathe_raise_stack = before;
    guest_results(cpu, regs);
}

/* An exception has come to a raised function, by way of frames that have not put this back. */
void lathe_raise_landed(u64 stack) {
    lathe_raise_stack = stack | 1;
}

/* Of the C++ library, which only programs with exceptions have. */
extern void *__cxa_begin_catch(void *exception) __attribute__((weak));
extern void _ZSt9terminatev(void) __attribute__((weak));

void lathe_raise_terminate(u64 exception) {
    __cxa_begin_catch((void *)exception);
    _ZSt9terminatev();
}

typedef void Bridge(GuestCpu *cpu);

static Bridge *bridge_of(u64 target) {
    i64 distance;
    if (target - (u64)__start_lathe_entries >= (u64)(__stop_lathe_entries - __start_lathe_entries))
        return NULL;
    const u8 *at = (const u8 *)target - sizeof(distance);
    memcpy(&distance, at, sizeof(distance));
    return (Bridge *)(at + distance);
}

/* Which functions return in memory is remembered: twice the address, and 1 for those that do. */
static u64 known[256];

static bool returns_in_memory(u64 target, u64 object) {
    u64 *place = &known[target / 2 % ARRAY_LEN(known)], row = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (row >> 1 != target) {
        row = target << 1 | host_returns_in_memory(target, object);
        __atomic_store_n(place, row, __ATOMIC_RELAXED);
    }
    return row & 1;
}

/* The address of a result in memory is the first integer where there is no register of its own for it, and there the result, too. */
static void call_for_memory(u64 target, ForeignRegs *regs) {
    enum { MOVED_BYTES = sizeof(regs->ints) - sizeof(regs->ints[0]) };
    u64 result = guest_result_apart ? regs->result : regs->ints[0];
    if (guest_result_apart) {
        memmove(&regs->ints[1], &regs->ints[0], MOVED_BYTES);
        regs->ints[0] = result;
    } else {
        memmove(&regs->ints[0], &regs->ints[1], MOVED_BYTES);
        regs->result = result;
    }
    host_call(target, regs);
    regs->ints[0] = result;
}

void lathe_raise_call(GuestCpu *cpu) {
    u64 target = guest_target(cpu), inside = lathe_raise_stack;
    Bridge *bridge = bridge_of(target);
    if (bridge) {
        bridge(cpu);
        return;
    }
    if (target - (u64)lathe_image < lathe_raise_image_bytes)
        stop("a computed call or jump leads there, and no function was found",
             target - (u64)lathe_image + lathe_raise_image_base);
    ForeignRegs regs = {0};
    guest_arguments(cpu, &regs);
    lathe_raise_stack = regs.stack & ~(u64)1;
    if (guest_result_apart != host_result_apart && returns_in_memory(target, regs.ints[0]))
        call_for_memory(target, &regs);
    else
        host_call(target, &regs);
    lathe_raise_stack = inside;
    guest_set_results(cpu, &regs);
}
