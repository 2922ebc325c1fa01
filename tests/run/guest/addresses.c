/* addresses.c: code at all kinds of addresses, low and high, that the program wishes for or insists on, called and jumped to in turns from one place. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long Code(long);

static __attribute__((noinline)) long twice(long v) {
    return 2 * v;
}

/* lea n(%rdi), %rax; ret */
static void write_add(uint8_t *at, int8_t n) {
    const uint8_t code[] = {0x48, 0x8d, 0x47, (uint8_t)n, 0xc3};
    memcpy(at, code, sizeof(code));
}

/* push %rdi; mov $twice, %rax; call *%rax; pop %rdi; lea (%rax,%rdi), %rax; lea 1f(%rip), %rcx; jmp *%rcx; ud2; 1: stc; ret $0 */
static void write_back(uint8_t *at) {
    const uint8_t head[] = {0x57, 0x48, 0xb8}, tail[] = {0xff, 0xd0, 0x5f, 0x48, 0x8d, 0x04, 0x38, 0x48, 0x8d, 0x0d, 4,
                                                         0,    0,    0,    0xff, 0xe1, 0x0f, 0x0b, 0xf9, 0xc2, 0,    0};
    Code *to = twice;
    memcpy(at, head, sizeof(head));
    memcpy(at + sizeof(head), &to, sizeof(to));
    memcpy(at + sizeof(head) + sizeof(to), tail, sizeof(tail));
}

/* One place that calls all of them. */
static __attribute__((noinline)) long call(void *code, long v) {
    return ((Code *)(uintptr_t)code)(v);
}

static void try_code(const char *name, uint8_t *at) {
    if (at == MAP_FAILED) {
        printf("%s: none\n", name);
        return;
    }
    write_add(at, 5);
    write_back(at + 64);
    long sum = 0;
    for (int i = 0; i < 1000; i++)
        sum = sum * 3 % 1000003 + call(at, i) + call((void *)(uintptr_t)twice, i) + call(at + 64, i);
    write_add(at, 6);
    sum += call(at, 1);
    printf("%s: %ld\n", name, sum);
}

static uint8_t *map_code(uintptr_t at, int flags) {
    return mmap((void *)at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void try_fixed(uintptr_t at) {
    char name[64];
    uint8_t *p = map_code(at, MAP_FIXED_NOREPLACE);
    snprintf(name, sizeof(name), "fixed at %lx", (long)at);
    try_code(name, p);
    if (p != MAP_FAILED && at % 3)
        munmap(p, 4096);
}

static void try_wish(uintptr_t at) {
    char name[64];
    uint8_t *p = map_code(at, 0);
    snprintf(name, sizeof(name), "wish for %lx, %s", (long)at, (uintptr_t)p == at ? "granted" : "elsewhere");
    try_code(name, p);
}

static void try_segment(uintptr_t at) {
    int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0700);
    uint8_t *p = shmat(id, (void *)at, SHM_EXEC);
    char name[64];
    snprintf(name, sizeof(name), "segment at %lx", (long)at);
    try_code(name, p);
    shmdt(p);
    shmctl(id, IPC_RMID, NULL);
    printf("then free: %d\n", map_code(at, MAP_FIXED_NOREPLACE) == (void *)at);
}

static volatile int ended;

static void *go_on_calling(void *result) {
    long sum = 0;
    for (int i = 0; !ended || i < 100000; i++)
        sum += call((void *)(uintptr_t)twice, 1) - 2;
    *(long *)result = sum;
    return NULL;
}

int main(void) {
    try_code("anywhere", map_code(0, 0));
    try_fixed(0x20000000);
    try_fixed(0x40000000);
    try_fixed(0x50005000);
    try_fixed(0x60000000);
    try_fixed(0x70000000);
    try_wish(0x28000000);
    try_wish(0x44444000);
    uint8_t *low = map_code(0, MAP_32BIT);
    printf("low: %d\n", (uintptr_t)low < 0x80000000);
    try_code("low", low);
    try_segment(0x48000000);
    try_fixed(0x500000000000);
    try_wish(0x600000000000);
    pthread_t other;
    long result = 1;
    pthread_create(&other, NULL, go_on_calling, &result);
    try_fixed(0x180000000);
    try_fixed(0x10000000000);
    try_fixed(0x7ffe0000);
    ended = 1;
    pthread_join(other, NULL);
    printf("other thread: %ld\n", result);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        try_fixed(0x140000000);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    try_code("at the end", map_code(0, 0));
    return 0;
}
