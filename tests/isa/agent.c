/* agent.c: runs guest code with given registers and memory, and tells what became of them. Without libc.
 *
 * The kernel (that is, qemu) does the work: a trap of our own raises a signal, whose handler writes the guest's registers
 * into the frame and returns into the guest. Whatever ends the run is again a signal, because everything around the code is
 * such a trap; then the frame holds the guest's registers, and our own are put back.
 */
#include "agent_machine.h"

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
enum { TIMEOUT_US = 200000 }; /* of CPU time: other work on the machine ends no run */

typedef struct Info {
    int32_t number, error, code;
    u64 address;
} Info;

static AgentRun run;
static enum { OURS, ENTERING, GUEST } phase;
static Context ours;
static u8 stack[0x10000];

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

/* Leaving the code is no signal to whoever asked: a landing on our trap, or a fetch where there is no code. */
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
        put_guest(c, &run.cpu);
        phase = GUEST;
    } else if (phase == GUEST) {
        get_guest(c, &run.cpu);
        int left = has_left(number, info, start);
        run.signal = left ? 0 : number;
        run.code = left ? 0 : info->code;
        *c = ours;
        *context_pc(c) += OWN_TRAP_BYTES;
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
    for (u64 i = 0; i < size; i += sizeof(Filler))
        *(Filler *)(at + i) = (Filler)FILLER;
}

static void run_guest(u8 *memory) {
    u8 *code = (u8 *)run.cpu.pc;
    memcpy(memory, run.memory, AGENT_MEMORY_BYTES);
    memcpy(code, run.bytes, run.size);
    end_reservation();
    phase = ENTERING;
    set_timer(TIMEOUT_US);
    own_trap();
    set_timer(0);
    fill((u8 *)((u64)code & -sizeof(Filler)), run.size + sizeof(Filler));
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

/* Registers are as the kernel leaves them: nothing here is linked relative to one. */
void _start(void) {
    serve();
    call(SYS_EXIT, 0, 0, 0, 0, 0, 0);
}
