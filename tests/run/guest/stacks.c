/* stacks.c: stack switching by hand: a generator that runs on a stack of its own, and a stack moved between call and return. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Saves the callee's registers and rsp in *from, goes on with to. */
void stack_switch(uint64_t **from, uint64_t *to);
/* Calls f(arg) on the stack that ends at top. */
long stack_call(long (*f)(long), long arg, void *top);
__asm__(".text\n.globl stack_switch\nstack_switch:\n"
        "push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
        "mov %rsp, (%rdi); mov %rsi, %rsp\n"
        "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
        "ret\n"
        ".globl stack_call\nstack_call:\n"
        "push %rbp; mov %rsp, %rbp; mov %rdx, %rsp\n"
        "mov %rdi, %rax; mov %rsi, %rdi; call *%rax\n"
        "leave; ret\n");

static uint64_t *mine, *other;
static long sent;

static void generator(void) {
    for (long a = 0, b = 1;; b += a, a = b - a) {
        sent = a;
        stack_switch(&other, mine);
    }
}

enum { STACK = 32 << 10 };

static uint64_t *new_stack(void (*entry)(void)) {
    char *memory = malloc(STACK);
    uint64_t *top = (uint64_t *)((uintptr_t)(memory + STACK) & ~15ull);
    *--top = 0; /* the entry's return address: it never returns */
    *--top = (uintptr_t)entry;
    for (int i = 0; i < 6; i++)
        *--top = 0;
    return top;
}

static long sum_to(long n) {
    volatile long here = n;
    return n ? sum_to(n - 1) + here : 0;
}

static long twice(long n) {
    char *memory = malloc(STACK);
    long sum = stack_call(sum_to, n, (void *)((uintptr_t)(memory + STACK) & ~15ull));
    free(memory);
    return 2 * sum;
}

int main(void) {
    other = new_stack(generator);
    unsigned long check = 0;
    for (int i = 0; i < 200000; i++) {
        stack_switch(&mine, other);
        check = check * 33 + (unsigned long)sent;
        if (i < 20)
            printf("%ld ", sent);
    }
    printf("\n%lu\n", check);
    char *memory = malloc(STACK);
    printf("%ld\n", stack_call(twice, 100, (void *)((uintptr_t)(memory + STACK) & ~15ull)));
    return 0;
}
