/* nowhere.c: calls, jumps and returns to where nothing is, also through read-only stacks, with a handler that goes on elsewhere. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static sigjmp_buf back;
static volatile int code, here;

static void leave(int sig, siginfo_t *info, void *context) {
    code = info->si_code;
    here = (uintptr_t)info->si_addr == (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    siglongjmp(back, sig);
}

static void call_null(void) {
    __asm__ volatile("xor %%eax, %%eax; call *%%rax" ::: "rax", "memory");
}
static void jump_null(void) {
    __asm__ volatile("xor %%eax, %%eax; jmp *%%rax" ::: "rax", "memory");
}
static void return_null(void) {
    __asm__ volatile("push $0; ret" ::: "memory");
}
static void call_last(void) {
    __asm__ volatile("mov $-1, %%rax; call *%%rax" ::: "rax", "memory");
}
static void return_last(void) {
    __asm__ volatile("push $-1; ret" ::: "memory");
}
static void divide(void) {
    __asm__ volatile("xor %%eax, %%eax; xor %%edx, %%edx; div %%eax" ::: "rax", "rdx");
}
static void undefined(void) {
    __asm__ volatile("ud2");
}

/* The stack is a list of what to do: inc %eax; ret, and at last back to the real one, which is in r8. */
static void return_read_only(void) {
    uint8_t *text = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void **list = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(text, "\xff\xc0\xc3", 3);
    memcpy(text + 16, "\x4c\x89\xc4\xc3", 4);
    for (int i = 0; i < 10; i++)
        list[i] = text;
    list[10] = text + 16;
    mprotect(list, 4096, PROT_READ);
    long count = 0;
    for (int i = 0; i < 3; i++)
        __asm__ volatile(
            "sub $256, %%rsp; lea 1f(%%rip), %%rcx; push %%rcx; mov %%rsp, %%r8; mov %1, %%rsp; ret; 1: add $256, %%rsp"
            : "+a"(count)
            : "r"(list)
            : "rcx", "r8", "memory");
    printf("read-only stack: %ld\n", count);
}

static void attempt(const char *name, void (*f)(void)) {
    int sig = sigsetjmp(back, 1);
    if (sig == 0)
        f();
    else
        printf("%s: signal %d code %d%s\n", name, sig, code, here ? " there" : "");
}

int main(void) {
    struct sigaction action = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO};
    for (const int *sig = (int[]){SIGSEGV, SIGFPE, SIGILL, 0}; *sig; sig++)
        sigaction(*sig, &action, NULL);
    for (int i = 0; i < 3; i++) {
        attempt("call 0", call_null);
        attempt("jump 0", jump_null);
        attempt("return 0", return_null);
        attempt("call -1", call_last);
        attempt("return -1", return_last);
        attempt("divide", divide);
        attempt("undefined", undefined);
        attempt("list", return_read_only);
    }
    return 0;
}
