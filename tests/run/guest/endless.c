/* endless.c: handlers that interrupt loops without calls, which only the handler ends; a program in such a loop that is killed; a loop that
 * goes through several places that are each jumped to from elsewhere; a handler for faults that is installed while another thread is in such
 * a loop, and while the registers of the floating-point unit have values. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { TICKS = 20 };

static sigjmp_buf away;
static volatile sig_atomic_t ticks;
static volatile unsigned long counted;
static int ends[2];

static void tick(int sig) {
    (void)sig;
    if (ticks < TICKS && ++ticks == TICKS)
        siglongjmp(away, 1);
}

static void every(int us) {
    struct itimerval often = {{0, us}, {0, us}};
    setitimer(ITIMER_REAL, &often, NULL);
}

/* -------------------------------------------------------------------------------------------------------------- loops */

static void in_memory(void) {
    for (;;)
        counted++;
}

static void in_registers(void) {
    for (unsigned long x = 1;; x = x * 25 + 3)
        __asm__ volatile("" : "+r"(x));
}

/* Each tick goes on at another place of the loop, so that code for each of them is made. */
void between(void);
__asm__(".text\n"
        "between:\n"
        "  xor %eax, %eax\n"
        "1: inc %rax\n"
        "  test $1, %al\n"
        "  jz 3f\n"
        "2: add $3, %rax\n"
        "  test $2, %al\n"
        "  jnz 1b\n"
        "3: sub $5, %rax\n"
        "  test $4, %al\n"
        "  jz 2b\n"
        "  jmp 1b\n");

/* One computed jump after the other. */
void computed(void);
__asm__(".text\n"
        "computed:\n"
        "  lea 1f(%rip), %rcx\n"
        "  lea 2f(%rip), %rdx\n"
        "1: inc %rax\n"
        "  jmp *%rdx\n"
        "  ud2\n"
        "2: dec %rax\n"
        "  jmp *%rcx\n");

static void interrupt(const char *name, void (*loop)(void)) {
    ticks = 0;
    if (!sigsetjmp(away, 1)) {
        every(1000);
        loop();
    }
    every(0);
    printf("%s: %d\n", name, ticks);
}

/* ------------------------------------------------------------------------------------------------------------- killed */

static void tell(int sig) {
    (void)sig;
    if (write(ends[1], "", 1) != 1)
        _exit(2);
}

static void kill_in_loop(void) {
    char byte;
    int status = 0;
    pid_t child = fork();
    if (!child) {
        kill(getpid(), SIGUSR1);
        in_memory();
    }
    for (int i = 0; i < 3; i++) {
        if (read(ends[0], &byte, 1) != 1)
            return;
        kill(child, SIGUSR1);
    }
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    printf("killed: %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
}

/* ------------------------------------------------------------------------------------------------------------- faults */

volatile int go, looping;
volatile long seen[3];
void wait_and_fault(void), resume_here(void);

__asm__(".text\n"
        "wait_and_fault:\n"
        "  push %r12\n"
        "  mov $0x12345, %r12d\n"
        "  movl $1, looping(%rip)\n"
        "1: inc %r12\n"
        "  dec %r12\n"
        "  cmpl $0, go(%rip)\n"
        "  je 1b\n"
        "  xor %eax, %eax\n"
        "  stc\n"
        "  mov %rax, (%rax)\n"
        "  ud2\n"
        "resume_here:\n"
        "  pop %r12\n"
        "  ret\n");

static void on_fault(int sig, siginfo_t *info, void *context) {
    (void)sig;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    seen[0] = r[REG_R12], seen[1] = r[REG_EFL] & 1, seen[2] = (long)info->si_addr;
    r[REG_RIP] = (greg_t)resume_here;
}

static void *run_waiting(void *arg) {
    wait_and_fault();
    return arg;
}

/* What the registers of the floating-point unit have is the same on both sides of the system call. */
static long install_with_values(const void *action) {
    struct {
        double x87[2], vector;
        unsigned short control;
    } out = {.control = 0xe7f};
    long result = SYS_rt_sigaction;
    register long size __asm__("r10") = 8;
    __asm__ volatile(
        "fldcw %[control]\n fld1\n fldpi\n movapd %[in], %%xmm9\n syscall\n fstpl %[x0]\n fstpl %[x1]\n movsd %%xmm9, "
        "%[v]\n"
        "fnstcw %[control]\n"
        : "+a"(result), [x0] "=m"(out.x87[0]), [x1] "=m"(out.x87[1]), [v] "=m"(out.vector), [control] "+m"(out.control)
        : "D"(SIGSEGV), "S"(action), "d"(0), "r"(size), [in] "x"(2.5)
        : "rcx", "r11", "xmm9", "memory");
    __asm__ volatile("fninit");
    printf("floating point: %f %f %f %x\n", out.x87[0], out.x87[1], out.vector, out.control);
    return result;
}

/* As the kernel has it; the restorer is libc's. */
static void install(void) {
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        unsigned long mask;
    } action;
    struct sigaction by_libc = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR2, &by_libc, NULL);
    syscall(SYS_rt_sigaction, SIGUSR2, NULL, &action, 8);
    printf("installed: %ld\n", install_with_values(&action));
}

int main(void) {
    pthread_t thread;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (pipe(ends))
        return 1;
    signal(SIGALRM, tick);
    signal(SIGUSR1, tell);
    interrupt("in memory", in_memory);
    interrupt("in registers", in_registers);
    interrupt("between places", between);
    interrupt("computed jumps", computed);
    kill_in_loop();
    pthread_create(&thread, NULL, run_waiting, NULL);
    while (!looping)
        ;
    install();
    go = 1;
    pthread_join(thread, NULL);
    printf("fault: r12 %lx, carry %ld, address %lx\n", seen[0], seen[1], seen[2]);
    return 0;
}
