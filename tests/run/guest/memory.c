/* memory.c: mmap, mprotect, mremap, munmap, brk, and files in memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned sum(const unsigned char *p, size_t n) {
    unsigned s = 0;
    for (size_t i = 0; i < n; i++)
        s = s * 31 + p[i];
    return s;
}

static void anonymous(void) {
    size_t size = 1 << 20;
    unsigned char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < size; i++)
        p[i] = (unsigned char)(i * i >> 7);
    printf("sum %u", sum(p, size));
    p = mremap(p, size, 4 * size, MREMAP_MAYMOVE);
    printf(" moved %u, beyond %u", sum(p, size), sum(p + size, 3 * size));
    printf(", unmapped %d", munmap(p + size, size));
    printf(", hole %s", msync(p + size, 4096, MS_ASYNC) && errno == ENOMEM ? "ENOMEM" : "?");
    unsigned char *fixed = mmap(p + size, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    printf(", fixed %d", fixed == p + size);
    printf(", mprotect %d", mprotect(fixed, size, PROT_READ | PROT_WRITE));
    fixed[5] = 5;
    printf(", %d", fixed[5]);
    printf(" %d\n", munmap(p, 4 * size));
    int result = munmap((void *)1, 1);
    printf("%d %s\n", result, strerror(errno));
    p = mmap((void *)0x10000000, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
             0);
    printf("%p\n", (void *)p);
    p = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
             0);
    printf("%s\n", p == MAP_FAILED ? strerror(errno) : "?");
    p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    printf("32 bit: %d\n", (uintptr_t)p < 1ull << 32);
}

static void breaks(void) {
    char *start = sbrk(0);
    char *got = sbrk(1 << 20);
    memset(got, 7, 1 << 20);
    printf("brk %d, %d", got == start, got[(1 << 20) - 1]);
    sbrk(-(1 << 20));
    printf(", back %d", sbrk(0) == start);
    sbrk(1 << 20);
    printf(", zero again %d\n", start[4096 * 10]);
}

static void files(void) {
    char name[] = "memory.tmp";
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, 10000))
        return;
    char *shared = mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *private = mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    strcpy(shared + 5000, "written through memory");
    strcpy(private, "not written");
    char text[30] = "";
    printf("pread %zd", pread(fd, text, 22, 5000));
    printf(" '%s', private sees '%s'", text, private + 5000);
    printf(", file begins %d\n", pread(fd, text, 1, 0) == 1 ? text[0] : -1);
    munmap(shared, 10000);
    munmap(private, 10000);
    close(fd);
    unlink(name);
}

static void heap(void) {
    uint32_t seed = 1, check = 0;
    char *blocks[500] = {0};
    size_t sizes[500] = {0};
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525 + 1013904223;
        unsigned k = (seed >> 8) % 500;
        for (size_t j = 0; j < sizes[k]; j += 97)
            check = check * 33 + (unsigned char)blocks[k][j];
        sizes[k] = (seed >> 16) % (i % 100 ? 3000 : 300000);
        blocks[k] = realloc(blocks[k], sizes[k] + 1);
        memset(blocks[k], (int)seed, sizes[k]);
    }
    printf("heap %u\n", check);
}

int main(void) {
    anonymous();
    breaks();
    files();
    heap();
    return 0;
}
