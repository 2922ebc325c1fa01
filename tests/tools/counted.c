/* counted.c: counted WHAT: a guest whose instructions can be counted: it has no C library, and does the same in each run. */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <stdint.h>

#include "counted.h"

static word call(word number, word a, word b, word c, word d) {
    word result;
    register word r10 __asm__("r10") = d;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}

__attribute__((noreturn)) static void leave(int status) {
    for (;;)
        call(__NR_exit_group, status, 0, 0, 0);
}

/* --------------------------------------------------------------------------------------------------------------- flags */

/* Runs of instructions in which the flags are read, and instructions that only some processors' forms write all flags of. */
static word flags(void) {
    word x = 1;
    for (int i = 0; i < 500; i++)
        __asm__ volatile("add $-1, %0\n\tadc $7, %0\n\tsetc %%al\n\trcl $3, %0\n\tjc 1f\n\tinc %0\n1:\tsbb %%rcx, "
                         "%%rcx\n\tlahf\n\tsahf\n\tjp 2f\n\tnot %0\n2:"
                         : "+r"(x)
                         :
                         : "rax", "rcx", "cc");
    return x;
}

/* --------------------------------------------------------------------------------------------------------------- signals */

struct action {
    void (*handler)(int, void *, void *);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

enum { SIGILL_ = 4, SIGUSR1_ = 10, SIGSEGV_ = 11, WITH_INFO = 4, WITH_RESTORER = 0x04000000 };

void restorer(void);
__asm__("restorer: mov $15, %eax\n\tsyscall");

static volatile int seen;

/* The instruction that faulted has `load`'s length; the place of rip in the frame is the kernel's. */
enum { CONTEXT_RIP = 21, FAULT_BYTES = 3 };
static void skip(int sig, void *info, void *context) {
    (void)info;
    seen++;
    if (sig == SIGSEGV_)
        ((uint64_t *)context)[CONTEXT_RIP] += FAULT_BYTES;
    if (sig == SIGILL_)
        ((uint64_t *)context)[CONTEXT_RIP] += 2;
}

static void handle(int sig) {
    struct action a = {skip, WITH_INFO | WITH_RESTORER, restorer, 0};
    call(__NR_rt_sigaction, sig, (word)&a, 0, 8);
}

/* Faults in the middle of instructions that are always executed together. A breakpoint is not among them: nobody can step through its handler. */
static word faults(void) {
    handle(SIGSEGV_), handle(SIGILL_);
    word x = 0;
    for (int i = 0; i < 20; i++)
        __asm__ volatile("add $1, %0\n\txor %%eax, %%eax\n\tmov (%%rax), %%rcx\n\tadd $2, %0\n\tud2\n\tadd $4, %0"
                         : "+r"(x)
                         :
                         : "rax", "rcx", "cc");
    return x + seen;
}

/* Signals that it sends itself. */
static word signals(void) {
    handle(SIGUSR1_);
    word pid = call(__NR_getpid, 0, 0, 0, 0), x = 0;
    for (int i = 0; i < 20; i++)
        x += call(__NR_kill, pid, SIGUSR1_, 0, 0) + i;
    return x + seen;
}

/* ------------------------------------------------------------------------------------------------------------------ code */

/* Code that changes itself: the bytes of `add $n, %eax` behind the store that writes them. */
static word changing(void) {
    word x = 0;
    word page = (word) && here & -4096;
    call(__NR_mprotect, page, 8192, 7, 0);
    for (int i = 0; i < 10; i++) {
    here:
        __asm__ volatile("movb %b1, 1f+3(%%rip)\n\tadd $1, %0\n1:\tadd $1, %0\n\tadd $1, %0"
                         : "+r"(x)
                         : "q"(i)
                         : "cc", "memory");
    }
    return x;
}

/* Repeated string instructions are one instruction each. */
static word strings(void) {
    static char from[300], to[300];
    word rest;
    for (int i = 0; i < 5; i++)
        __asm__ volatile("lea %1, %%rsi\n\tlea %2, %%rdi\n\tmov %3, %%ecx\n\trep movsb\n\tmov %%rcx, %0"
                         : "=r"(rest)
                         : "m"(from), "m"(to), "r"(i * 60)
                         : "rcx", "rsi", "rdi", "memory");
    return rest;
}

/* --------------------------------------------------------------------------------------------------- threads and processes */

/* So many threads that each do the same, and the process ends with the last of them: nobody waits, which could take any number of instructions. */
enum { STACK_BYTES = 4096, THREAD_FLAGS = 0x10f00 /* VM, FS, FILES, SIGHAND, THREAD */ };

static void start_thread(void) {
    static char stacks[9][STACK_BYTES] __attribute__((aligned(16)));
    static int used;
    word number = __NR_clone;
    __asm__ volatile("syscall\n\ttest %%eax, %%eax\n\tjnz 1f\n\tmov $5000, %%ecx\n2:\tadd $3, %%rdx\n\tdec "
                     "%%ecx\n\tjnz 2b\n\tmov $60, %%eax\n\txor %%edi, %%edi\n\tsyscall\n1:"
                     : "+a"(number)
                     : "D"(THREAD_FLAGS), "S"(stacks[used++] + STACK_BYTES)
                     : "rcx", "rdx", "r11", "cc", "memory");
}

static word threads(int count) {
    for (int i = 0; i < count; i++)
        start_thread();
    for (;;)
        call(__NR_exit, 0, 0, 0, 0);
}

/* Parent and child do the same, one after the other. */
static word forks(void) {
    word child = call(__NR_fork, 0, 0, 0, 0);
    if (child)
        call(__NR_wait4, child, 0, 0, 0);
    return 3;
}

static word many_loops(void) {
    word sum = 0;
    for (int i = 0; i < 100; i++)
        sum += loops() + computed();
    return sum;
}

/* ------------------------------------------------------------------------------------------------------------------ ends */

static word dies(void) {
    word x = 1;
    __asm__ volatile("add $1, %0\n\txor %%eax, %%eax\n\tmov (%%rax), %%rcx\n\tadd $2, %0"
                     : "+r"(x)
                     :
                     : "rax", "rcx", "cc");
    return x;
}

static word (*const whats[])(void) = {loops, computed, flags, faults, signals, changing, strings, dies};

__attribute__((used)) static void start(word *stack) {
    const char *argument = (const char *)stack[2];
    unsigned what = stack[0] > 1 ? (unsigned)(argument[0] - '0') : 9;
    if (stack[0] > 1 && argument[0] == 't')
        threads(argument[1] - '0');
    if (stack[0] > 1 && argument[0] == 'l') /* for long enough to be optimised */
        leave((int)(many_loops() & 63));
    if (stack[0] > 1 && argument[0] == 'f')
        leave((int)forks());
    if (stack[0] > 1 && argument[0] == 'e') /* the same program again, by exec */
        call(__NR_execve, stack[1], (word)(word[]){stack[1], (word) "1", 0}, 0, 0);
    leave(what < sizeof(whats) / sizeof(*whats) ? (int)(whats[what]() & 63) : 99);
}

__asm__(".globl _start\n_start:\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start");
