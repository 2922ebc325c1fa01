/* litmus.c: functions whose accesses other threads see in an order that x86-64 promises, called while there is a second thread. Without libraries; litmus.sh looks at what they
 * become on a host with a weaker order. */
#define LITMUS __attribute__((noinline, used))

static long call(long number, long a, long b, long c, long d, long e) {
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e;
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
    return number;
}

/* Message passing: the data come before the flag, for those who write and for those who read. Independent readers of independent writes do the same. */
LITMUS void message_write(volatile int *data, volatile int *flag) {
    *data = 1;
    *flag = 1;
}

LITMUS int message_read(volatile int *flag, volatile int *data) {
    int f = *flag;
    return f + 2 * *data;
}

/* Store buffering: x86-64, too, may do the load first, unless there is a fence. */
LITMUS int buffered(volatile int *mine, volatile int *other) {
    *mine = 1;
    return *other;
}

LITMUS int buffered_fenced(volatile int *mine, volatile int *other) {
    *mine = 1;
    __asm__ volatile("mfence" : : : "memory");
    return *other;
}

/* Load buffering: never. */
LITMUS int load_store(volatile int *from, volatile int *to) {
    int v = *from;
    *to = 1;
    return v;
}

/* A lock is taken by an exchange, which orders everything, and given back by a store. */
LITMUS int lock(volatile int *lock, volatile int *data) {
    int taken = 1;
    __asm__ volatile("xchg %0, %1" : "+r"(taken), "+m"(*lock) : : "memory");
    return taken + *data;
}

LITMUS void unlock(volatile int *data, volatile int *lock) {
    *data = 2;
    *lock = 0;
}

/* What is loaded is only returned, and is no return address. */
LITMUS long only_read(volatile long *flag, volatile long *data) {
    if (*flag)
        return *data;
    return 0;
}

/* Nobody else sees a function's own frame, which is larger than the red zone: that may belong to a function in whose middle the code begins. */
LITMUS int own(int a, int b) {
    volatile int mine[64];
    mine[0] = a;
    mine[1] = b;
    return mine[0] + mine[1];
}

/* What is a C function on other hosts stores behind what the program stored before. */
LITMUS void saved(volatile int *data, void *state) {
    *data = 7;
    __asm__ volatile("fnsave (%0)" : : "r"(state) : "memory");
}

static int x __attribute__((aligned(8))), rest, y __attribute__((aligned(8))), other_rest;
static char state[512] __attribute__((aligned(16)));
static char stack[4096] __attribute__((aligned(16)));

/* The second thread waits until the process ends. */
void second(void) {
    for (;;)
        call(34 /* pause */, 0, 0, 0, 0, 0);
}

static void start_second(void) {
    enum { CLONE = 56, THREAD = 0x10f00 /* memory, files, handlers, of one process */ };
    register long number __asm__("rax") = CLONE;
    __asm__ volatile("syscall\n\ttest %%eax, %%eax\n\tjnz 1f\n\tcall second\n1:"
                     : "+r"(number)
                     : "D"(THREAD), "S"(stack + sizeof(stack)), "d"(0)
                     : "rcx", "r11", "memory", "cc");
}

static int (*const volatile all[])() = {(int (*)())message_write, message_read,        buffered,
                                        buffered_fenced,          load_store,          lock,
                                        (int (*)())unlock,        (int (*)())only_read};
static int (*const volatile own_frame)(int, int) = own;
static void (*const volatile with_state)(volatile int *, void *) = saved;

__attribute__((used)) void begin(void) {
    int sum = 0;
    start_second();
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        all[i](&x, &y);
    with_state(&other_rest, state);
    sum = own_frame(20, 20);
    call(231 /* exit_group */, sum + x + y, 0, 0, 0, 0);
}

__asm__(".globl _start\n_start: xor %ebp, %ebp\n and $-16, %rsp\n call begin\n");
