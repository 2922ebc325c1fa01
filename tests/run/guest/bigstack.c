/* bigstack.c: large frames, alloca, and a stack that grows by megabytes. */
#include <alloca.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

__attribute__((noinline)) static unsigned large(unsigned seed) {
    unsigned char buffer[4 << 20];
    memset(buffer, (int)seed, sizeof(buffer));
    buffer[seed % sizeof(buffer)] = 1;
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof(buffer); i += 4096)
        sum += buffer[i];
    return sum;
}

__attribute__((noinline)) static unsigned dynamic(size_t n) {
    volatile unsigned char *p = alloca(n);
    for (size_t i = 0; i < n; i += 512)
        p[i] = (unsigned char)i;
    unsigned sum = 0;
    for (size_t i = 0; i < n; i += 512)
        sum += p[i] + (unsigned)i;
    return n > 10000 ? sum + dynamic(n / 2) : sum;
}

__attribute__((noinline)) static int lengths(int n) {
    int values[n];
    for (int i = 0; i < n; i++)
        values[i] = i * n;
    return n == 0 ? 0 : values[n - 1] + lengths(n - 1);
}

int main(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    printf("%u %u %d\n", large(3), dynamic(2 << 20), lengths(300));
    printf("%u\n", large(200));
    return 0;
}
