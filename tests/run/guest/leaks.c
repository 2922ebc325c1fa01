/* leaks.c: for a build with the address sanitizer: poisoned memory, what its leak checker finds, and memory that only a register of another
 * thread knows. */
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *__asan_default_options(void) {
    return "log_path=/dev/null";
}

static volatile int ready, stop;

/* The thread has the address in rbx alone, in a loop. */
static void *keep(void *arg) {
    char *memory = malloc(100);
    (void)arg;
    __asm__ volatile("mov %0, %%rbx\n"
                     "xor %0, %0\n"
                     "movl $1, %1\n"
                     "1: mov %2, %%eax\n"
                     "test %%eax, %%eax\n"
                     "jz 1b\n"
                     "mov %%rbx, %0\n"
                     : "+r"(memory), "=m"(ready)
                     : "m"(stop)
                     : "rax", "rbx", "memory");
    free(memory);
    return NULL;
}

static __attribute__((noinline)) void lose(size_t size) {
    char *volatile memory = malloc(size);
    memory[0] = 1;
    memory = NULL;
}

/* So that nothing below has what was lost. */
static __attribute__((noinline)) void clean(void) {
    volatile char stack[4096];
    memset((char *)stack, 0, sizeof(stack));
}

int main(void) {
    char *memory = malloc(10);
    printf("inside %d, behind %d\n", __asan_address_is_poisoned(memory + 9), __asan_address_is_poisoned(memory + 10));
    free(memory);
    printf("freed %d\n", __asan_address_is_poisoned(memory));
    pthread_t thread;
    pthread_create(&thread, NULL, keep, NULL);
    while (!ready)
        ;
    printf("in a register: %d\n", __lsan_do_recoverable_leak_check());
    stop = 1;
    pthread_join(thread, NULL);
    for (int i = 0; i < 20; i++)
        lose(50);
    clean();
    printf("lost: %d\n", __lsan_do_recoverable_leak_check());
    fflush(stdout);
    return 0;
}
