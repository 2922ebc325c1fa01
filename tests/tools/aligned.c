/* aligned.c: a guest without a C library, for x86-64, aarch64 and riscv64, that makes a known number of accesses that are not aligned, and others that are. */
#include <stdint.h>

#ifdef __riscv
#define LOAD8(at, off) __asm__ volatile("ld t0, " #off "(%0)" : : "r"(at) : "t0")
#define LOAD2(at, off) __asm__ volatile("lhu t0, " #off "(%0)" : : "r"(at) : "t0")
#define STORE4(at, off) __asm__ volatile("sw zero, " #off "(%0)" : : "r"(at) : "memory")
#define LEAVE() __asm__ volatile("li a0, 5\n\tli a7, 94\n\tecall")
#elif defined(__aarch64__)
#define LOAD8(at, off) __asm__ volatile("ldr x9, [%0, #" #off "]" : : "r"(at) : "x9")
#define LOAD2(at, off) __asm__ volatile("ldrh w9, [%0, #" #off "]" : : "r"(at) : "x9")
#define STORE4(at, off) __asm__ volatile("str wzr, [%0, #" #off "]" : : "r"(at) : "memory")
#define LEAVE() __asm__ volatile("mov x0, #5\n\tmov x8, #94\n\tsvc 0")
#else
#define LOAD8(at, off) __asm__ volatile("mov " #off "(%0), %%rax" : : "r"(at) : "rax")
#define LOAD2(at, off) __asm__ volatile("movzwl " #off "(%0), %%eax" : : "r"(at) : "rax")
#define STORE4(at, off) __asm__ volatile("movl $0, " #off "(%0)" : : "r"(at) : "memory")
#define LEAVE() __asm__ volatile("mov $5, %%edi\n\tmov $231, %%eax\n\tsyscall" : : : "rax", "rdi")
#endif

static uint8_t room[128] __attribute__((aligned(64)));

__attribute__((noipa)) static void loads(const uint8_t *at) {
    LOAD8(at, 8);
    LOAD8(at, 1);  /* 100 that are not */
    LOAD8(at, 60); /* 100 that are not, and are in two cache lines */
}

__attribute__((noipa)) static void moving(const uint8_t *at) {
    LOAD2(at, 0); /* half of 100 are not */
}

__attribute__((noipa)) static void stores(uint8_t *at) {
    STORE4(at, 4);
    STORE4(at, 2); /* 100 that are not */
}

void _start(void) {
    for (int i = 0; i < 100; i++) {
        loads(room);
        moving(room + i % 64);
        stores(room);
    }
    LEAVE();
}
