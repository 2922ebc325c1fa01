/* crossings.c: functions with a loop that gets optimised code, and calls behind it that do not: returns lead from the one kind of
 * code to the other, at any moment interrupted by what looks for hot code. */
#include <stdio.h>

static volatile unsigned long calls;

__attribute__((noinline)) static unsigned long step(unsigned long v) {
    calls++;
    return v * 6364136223846793005u + 1442695040888963407u;
}

__attribute__((noinline)) static unsigned long work(unsigned long v, int rounds) {
    for (int i = 0; i < rounds; i++)
        v = (v >> 7 ^ v) * 0x9e3779b97f4a7c15u + i;
    v = step(v);
    v = step(v ^ 1);
    return step(v) + step(~v);
}

/* A loop in a frame of eight bytes, and a computed jump behind it: the stack is then as it would be behind a return from where the loop began. What is in the
 * frame is no address. */
__attribute__((noinline)) static unsigned long jumps_on(unsigned long v, int rounds) {
    void *next;
    __asm__ volatile("    sub $128, %%rsp\n" /* the compiler may have values there */
                     "    call 1f\n"
                     "    jmp 3f\n"
                     "1:  push $77\n"
                     "2:  imul $77, %0, %0\n"
                     "    add $1, %0\n"
                     "    sub $1, %1\n"
                     "    jnz 2b\n"
                     "    add $8, %%rsp\n"
                     "    lea 4f(%%rip), %2\n"
                     "    jmp *%2\n"
                     "4:  ret\n"
                     "3:  add $128, %%rsp\n"
                     : "+r"(v), "+r"(rounds), "=&r"(next)
                     :
                     : "cc", "memory");
    return v;
}

int main(void) {
    unsigned long v = 1;
    for (int i = 0; i < 300000; i++)
        v = work(v, 1200);
    for (int i = 0; i < 3; i++)
        v = jumps_on(v, 40000000);
    printf("%lx after %lu calls\n", v, calls);
    return 0;
}
