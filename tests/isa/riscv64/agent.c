/* agent.c: runs riscv64 code with given registers and memory, and tells what became of them. Without libc.
 *
 * The kernel (that is, qemu) does the work: an ebreak of our own raises a signal, whose handler writes the guest's registers
 * into the frame and returns into the guest. Whatever ends the run is again a signal, because everything around the code is
 * ebreak; then the frame holds the guest's registers, and our own are put back.
 */
#include "agent.h"

typedef uint64_t u64;
typedef uint8_t u8;

enum {
    SYS_READ = 63,
    SYS_WRITE = 64,
    SYS_EXIT = 93,
    SYS_SETITIMER = 103,
    SYS_SIGALTSTACK = 132,
    SYS_SIGACTION = 134,
    SYS_MMAP = 222,
    SYS_MPROTECT = 226,
};
enum { PROT_RW = 3, PROT_RWX = 7, MAP_FIXED_ANONYMOUS = 0x32, ITIMER_PROF = 2 };
enum { SIGNAL_ILL = 4, SIGNAL_TRAP = 5, SIGNAL_BUS = 7, SIGNAL_FPE = 8, SIGNAL_SEGV = 11, SIGNAL_PROF = 27 };
enum { SA_SIGINFO_ONSTACK_NODEFER = 4 | 0x08000000 | 0x40000000 };
enum { EBREAK_SHORT = 0x9002, TIMEOUT_US = 200000 }; /* of CPU time: other work on the machine ends no run */

/* The kernel's frame, as far as it is of interest. */
typedef struct Context {
    u64 flags, link, stack[3], mask[16];
    _Alignas(16) u64 regs[32]; /* pc, x1 … x31 */
    u64 f[32];
    uint32_t fcsr;
} Context;

typedef struct Info {
    int32_t number, error, code;
    u64 address;
} Info;

void *memcpy(void *to, const void *from, u64 size);

static AgentRun run;
static enum { OURS, ENTERING, GUEST } phase;
static Context ours;
static u8 stack[0x10000];

static long call(long n, long a, long b, long c, long d, long e, long f) {
    register long a7 __asm__("a7") = n, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d, a4 __asm__("a4") = e, a5 __asm__("a5") = f;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
    return a0;
}

/* The compiler calls it too. */
void *memcpy(void *to, const void *from, u64 size) {
    u8 *t = to;
    for (const u8 *f = from; size; size--)
        *t++ = *f++;
    return to;
}

static int whole(long number, int fd, void *at, u64 size) {
    for (u64 done = 0; done < size;) {
        long n = call(number, fd, (long)((u8 *)at + done), (long)(size - done), 0, 0, 0);
        if (n <= 0)
            return 0;
        done += (u64)n;
    }
    return 1;
}

static void set_timer(long us) {
    long value[4] = {0, 0, 0, us};
    call(SYS_SETITIMER, ITIMER_PROF, (long)value, 0, 0, 0, 0);
}

/* ---------------------------------------------------------------------------------------------------- state and frame */

static void put_guest(Context *c) {
    c->regs[0] = run.cpu.pc;
    memcpy(c->regs + 1, run.cpu.x + 1, 31 * 8);
    memcpy(c->f, run.cpu.f, 32 * 8);
    c->fcsr = run.cpu.fflags | (uint32_t)run.cpu.frm << 5;
}

static void get_guest(const Context *c) {
    run.cpu.pc = c->regs[0];
    memcpy(run.cpu.x + 1, c->regs + 1, 31 * 8);
    memcpy(run.cpu.f, c->f, 32 * 8);
    run.cpu.fflags = c->fcsr & 31;
    run.cpu.frm = (u8)(c->fcsr >> 5 & 7);
}

/* Leaving the code is no signal to whoever asked: a landing on our ebreak, or a fetch where there is no code. */
static int has_left(int number, const Info *info, u64 start) {
    u64 pc = run.cpu.pc;
    int outside = pc < start || pc >= start + run.size;
    return outside && (number == SIGNAL_TRAP || (number == SIGNAL_SEGV && info->address == pc));
}

static void on_signal(int number, Info *info, Context *c) {
    static u64 start;
    if (phase == ENTERING) {
        ours = *c;
        start = run.cpu.pc;
        put_guest(c);
        phase = GUEST;
    } else if (phase == GUEST) {
        get_guest(c);
        int left = has_left(number, info, start);
        run.signal = left ? 0 : number;
        run.code = left ? 0 : info->code;
        *c = ours;
        c->regs[0] += 4;
        phase = OURS;
    } else if (number != SIGNAL_PROF) {
        call(SYS_EXIT, 100 + number, 0, 0, 0, 0, 0);
    }
}

/* -------------------------------------------------------------------------------------------------------------- set-up */

static void catch_signals(void) {
    static const int numbers[] = {SIGNAL_ILL, SIGNAL_TRAP, SIGNAL_BUS, SIGNAL_FPE, SIGNAL_SEGV, SIGNAL_PROF};
    struct {
        void *sp;
        int flags;
        u64 size;
    } alternate = {stack, 0, sizeof(stack)};
    struct {
        void *handler;
        u64 flags, mask;
    } action = {(void *)on_signal, SA_SIGINFO_ONSTACK_NODEFER, 0};
    call(SYS_SIGALTSTACK, (long)&alternate, 0, 0, 0, 0, 0);
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        call(SYS_SIGACTION, numbers[i], (long)&action, 0, 8, 0, 0);
}

static u8 *map(u64 at, u64 size, long prot) {
    if (call(SYS_MMAP, (long)at, (long)size, prot, MAP_FIXED_ANONYMOUS, -1, 0) != (long)at)
        call(SYS_EXIT, 99, 0, 0, 0, 0, 0);
    return (u8 *)at;
}

static void fill(u8 *at, u64 size) {
    for (u64 i = 0; i < size; i += 2)
        *(uint16_t *)(at + i) = EBREAK_SHORT;
}

/* One of the run before would make a store of this one succeed. */
static void end_reservation(void) {
    static int word;
    __asm__ volatile("sc.w zero, zero, (%0)" ::"r"(&word) : "memory");
}

static void run_guest(u8 *memory) {
    u8 *code = (u8 *)run.cpu.pc;
    memcpy(memory, run.memory, AGENT_MEMORY_BYTES);
    memcpy(code, run.bytes, run.size);
    end_reservation();
    phase = ENTERING;
    set_timer(TIMEOUT_US);
    __asm__ volatile(".option push\n.option norvc\nfence.i\nebreak\n.option pop" ::: "memory");
    set_timer(0);
    fill((u8 *)((u64)code & ~(u64)1), (run.size + 2) & ~1u);
    memcpy(run.memory, memory, AGENT_MEMORY_BYTES);
}

static void serve(void) {
    u8 *area = map(AGENT_CODE & ~(u64)(AGENT_AREA_BYTES - 1), AGENT_AREA_BYTES, PROT_RWX);
    u8 *memory = map(AGENT_MEMORY - AGENT_MEMORY_BYTES, 3 * AGENT_MEMORY_BYTES, 0) + AGENT_MEMORY_BYTES;
    call(SYS_MPROTECT, AGENT_MEMORY, AGENT_MEMORY_BYTES, PROT_RW, 0, 0, 0);
    fill(area, AGENT_AREA_BYTES);
    catch_signals();
    while (whole(SYS_READ, 0, &run, sizeof(run))) {
        run_guest(memory);
        whole(SYS_WRITE, 1, &run, sizeof(run));
    }
}

/* gp is 0 without libc's start code: nothing here is linked relative to it. */
void _start(void) {
    serve();
    call(SYS_EXIT, 0, 0, 0, 0, 0, 0);
}
