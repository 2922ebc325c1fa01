/* codegen.c: a guest that makes code: written and made executable, written again, unmapped and replaced, copied, from a file. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int Code(int);

/* lea eax, [rdi + n]; ret */
static size_t make_add(uint8_t *at, int32_t n) {
    uint8_t code[] = {0x8d, 0x87, 0, 0, 0, 0, 0xc3};
    memcpy(code + 2, &n, 4);
    memcpy(at, code, sizeof(code));
    return sizeof(code);
}

static int call(void *at, int v) {
    return ((Code *)(uintptr_t)at)(v);
}

static void protect_cycle(void) {
    uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long sum = 0;
    for (int i = 0; i < 50; i++) {
        mprotect(p, 4096, PROT_READ | PROT_WRITE);
        make_add(p, i * 100);
        mprotect(p, 4096, PROT_READ | PROT_EXEC);
        sum = sum * 3 + call(p, i) + call(p, 1);
    }
    printf("mprotect: %ld\n", sum);
    munmap(p, 4096);
}

static void replaced(void) {
    long sum = 0;
    for (int i = 0; i < 30; i++) {
        uint8_t *p =
            mmap((void *)0x20000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        make_add(p, i);
        mprotect(p, 4096, PROT_READ | PROT_EXEC);
        sum = sum * 5 % 1000003 + call(p, 7);
        if (i % 2)
            munmap(p, 4096);
    }
    printf("replaced: %ld\n", sum);
}

static void from_files(void) {
    long sum = 0;
    for (int i = 0; i < 5; i++) {
        uint8_t code[64] = {0};
        make_add(code, 1000 * i);
        int fd = open("codegen.tmp", O_RDWR | O_CREAT | O_TRUNC, 0700);
        if (fd < 0 || write(fd, code, sizeof(code)) != sizeof(code))
            return;
        void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        close(fd);
        sum = sum * 3 + call(p, 3);
        munmap(p, 4096);
    }
    unlink("codegen.tmp");
    printf("files: %ld\n", sum);
}

/* Many small functions that call each other forward. */
static void many(void) {
    size_t size = 64 << 10;
    uint8_t *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *at = p;
    for (int i = 0; i < 200; i++) {
        at = p + i * 32;
        at[0] = 0x81, at[1] = 0xc7; /* add edi, i */
        memcpy(at + 2, &i, 4);
        int32_t next = 32 - 11;
        at[6] = 0xe8; /* call the next one */
        memcpy(at + 7, &next, 4);
        at[11] = 0xc3;
    }
    make_add(p + 200 * 32, 5);
    mprotect(p, size, PROT_READ | PROT_EXEC);
    printf("many: %d %d\n", call(p, 0), call(p + 190 * 32, 0));
}

int main(void) {
    protect_cycle();
    replaced();
    from_files();
    many();
    return 0;
}
