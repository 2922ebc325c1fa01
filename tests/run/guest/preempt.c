/* preempt.c: a handler that makes the interrupted code call something, as Go's scheduler does it: the place that was interrupted goes
 * on with the flags that popf brings back, across a return. Functions whose result is a flag. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <ucontext.h>

void preempted(void), loop_start(void), loop_end(void);
long count_down(long turns), carry(long value), sign(long value);

__asm__(".text\n"
        "preempted:\n" /* changes every flag that there is, and a register */
        "  push %rax\n"
        "  pushfq\n"
        "  incl preemptions(%rip)\n"
        "  xor %eax, %eax\n"
        "  cmp $1, %eax\n"
        "  popfq\n"
        "  pop %rax\n"
        "  ret\n"
        "count_down:\n"
        "  xor %eax, %eax\n"
        "loop_start:\n"
        "  inc %rax\n"
        "  cmp %rax, %rdi\n"
        "  nop\n"
        "  nop\n"
        "  jne loop_start\n"
        "loop_end:\n"
        "  ret\n"
        "odd:\n"
        "  test $1, %dil\n"
        "  stc\n"
        "  jnz 1f\n"
        "  clc\n"
        "1: ret\n"
        "compare:\n"
        "  push %rbx\n"
        "  cmp $0, %rdi\n"
        "  pop %rbx\n"
        "  ret\n"
        "carry:\n"
        "  call odd\n"
        "  sbb %rax, %rax\n"
        "  ret\n"
        "sign:\n"
        "  call compare\n"
        "  mov $1, %eax\n"
        "  jg 1f\n"
        "  mov $0, %eax\n"
        "  je 1f\n"
        "  mov $-1, %rax\n"
        "1: ret\n");

volatile int preemptions;

static void tick(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)info;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (r[REG_RIP] < (greg_t)loop_start || r[REG_RIP] >= (greg_t)loop_end)
        return;
    r[REG_RSP] -= 8;
    *(greg_t *)r[REG_RSP] = r[REG_RIP];
    r[REG_RIP] = (greg_t)preempted;
}

int main(void) {
    struct sigaction action = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {.it_value = {.tv_usec = 500}, .it_interval = {.tv_usec = 500}}, never = {0};
    setitimer(ITIMER_REAL, &often, NULL);
    long wrong = 0;
    while (preemptions < 50)
        wrong += count_down(1000000) != 1000000;
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%ld wrong\n", wrong);
    for (long i = -2; i <= 2; i++)
        printf("%ld: carry %ld sign %ld\n", i, carry(i), sign(i));
    return 0;
}
