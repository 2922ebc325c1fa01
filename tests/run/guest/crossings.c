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

int main(void) {
    unsigned long v = 1;
    for (int i = 0; i < 300000; i++)
        v = work(v, 1200);
    printf("%lx after %lu calls\n", v, calls);
    return 0;
}
