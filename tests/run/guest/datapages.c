/* datapages.c: pages with code and data, as compilers in a process make them. Writes to the data leave the code as it is; writes to code may change it, change it back, or change
 * only what is beside it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, ALL = PROT_READ | PROT_WRITE | PROT_EXEC, ROUNDS = 300 };

static uint8_t *pages(int count) {
    return mmap(NULL, (size_t)count * PAGE_BYTES, ALL, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* mov $value, %eax; ret */
static void put(uint8_t *at, int value) {
    at[0] = 0xb8;
    memcpy(at + 1, &value, 4);
    at[5] = 0xc3;
}

/* call callee; add $1, %eax; ret */
static void put_caller(uint8_t *at, const uint8_t *callee) {
    int32_t distance = (int32_t)(callee - (at + 5));
    at[0] = 0xe8;
    memcpy(at + 1, &distance, 4);
    memcpy(at + 5, "\x83\xc0\x01\xc3", 4);
}

static int run(const uint8_t *at) {
    return ((int (*)(void))(uintptr_t)at)();
}

static void data_beside(void) {
    uint8_t *p = pages(1);
    volatile int *counter = (volatile int *)(p + 2048);
    long sum = 0;
    put(p, 5);
    put_caller(p + 64, p);
    for (int i = 0; i < ROUNDS; i++) {
        sum += run(p + 64) + run(p);
        *counter += i;
    }
    printf("data %ld %d\n", sum, *counter);
}

/* The caller stays, what it calls changes, at first for good and then back again. */
static void code_beside(void) {
    uint8_t *p = pages(1);
    unsigned long sum = 0;
    put(p, 0);
    put_caller(p + 64, p);
    for (int i = 0; i < ROUNDS; i++) {
        put(p, i % 3 ? i : 7);
        sum = sum * 3 + (unsigned)run(p + 64);
    }
    printf("code %lu\n", sum);
}

/* One instruction lies on both pages; the writes are to the second. */
static void across(void) {
    uint8_t *p = pages(2), *at = p + PAGE_BYTES - 2;
    long sum = 0;
    put(at, 1);
    for (int i = 0; i < ROUNDS; i++) {
        p[PAGE_BYTES + 512] = (uint8_t)i;
        sum += run(at);
        if (i % 4 == 3)
            put(at, i << 20);
    }
    printf("across %ld\n", sum);
}

/* The same address is other memory then, with the same code or with another. */
static void mapped_again(void) {
    uint8_t *p = pages(1);
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        put(p + 16, i / 2);
        sum += run(p + 16);
        p[1024] = 1;
        if (mmap(p, PAGE_BYTES, ALL, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p)
            return;
        put(p + 16, i / 2 + i % 2);
        sum += run(p + 16);
    }
    printf("mapped %ld\n", sum);
}

/* Code at the end of memory, whose last instruction nobody has come to; then there is memory behind it. */
static void at_the_end(void) {
    uint8_t *p = pages(2), *at = p + PAGE_BYTES - 12;
    munmap(p + PAGE_BYTES, PAGE_BYTES);
    memcpy(at, "\x31\xc0\x85\xff\x74\x01\xc3\x83\xc0\x05\xff\xc0", 12); /* xor; test %edi, %edi; je; ret; add $5; inc */
    int (*f)(int) = (int (*)(int))(uintptr_t)at;
    int first = f(1);
    p[0] = 1;
    int second = f(1);
    p[0] = 2;
    if (mmap(p + PAGE_BYTES, PAGE_BYTES, ALL, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        return;
    p[PAGE_BYTES] = 0xc3;
    printf("end %d %d %d %d\n", first, second, f(1), f(0));
}

static atomic_int stop;
static atomic_int wrong;

static void *call_it(void *at) {
    while (!atomic_load(&stop)) {
        int got = run(at);
        if (got != 12 && got != 13)
            atomic_fetch_add(&wrong, 1);
    }
    return NULL;
}

/* Two threads call, and one writes: data, and the byte of a constant, which is one store. */
static void by_threads(void) {
    uint8_t *p = pages(1);
    pthread_t callers[2];
    put(p, 11);
    put_caller(p + 64, p);
    for (int i = 0; i < 2; i++)
        pthread_create(&callers[i], NULL, call_it, p + 64);
    for (int i = 0; i < 20 * ROUNDS; i++) {
        ((volatile uint8_t *)p)[3000] = (uint8_t)i;
        ((volatile uint8_t *)p)[1] = (uint8_t)(11 + i % 2);
        if (run(p) != 11 + i % 2)
            atomic_fetch_add(&wrong, 1);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(callers[i], NULL);
    printf("threads %d\n", atomic_load(&wrong));
}

int main(void) {
    data_beside();
    code_beside();
    across();
    mapped_again();
    at_the_end();
    by_threads();
    return 0;
}
