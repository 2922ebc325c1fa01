/* machine.c: what a program learns of the machine that it runs on. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/utsname.h>
#include <unistd.h>

static void cpuinfo(void) {
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[1024];
    long count = 0;
    while (fgets(line, sizeof(line), f)) {
        count += !strncmp(line, "processor\t", 10);
        if (count == 1 && strncmp(line, "processor", 9) && *line != '\n')
            fputs(line, stdout);
    }
    fclose(f);
    printf("all processors: %d\n", count == sysconf(_SC_NPROCESSORS_ONLN));
}

/* Four flags of open are elsewhere on the host. */
static void flags(void) {
    int dir = open("/", O_RDONLY | O_DIRECTORY), file = open("/proc/self/exe", O_RDONLY | O_DIRECTORY);
    printf("directory %d, no directory %d\n", dir >= 0, file < 0 && errno == ENOTDIR);
    int shown = fcntl(dir, F_GETFL);
    printf("its flags: %o\n", shown & (O_DIRECTORY | O_NOFOLLOW | O_DIRECT));
    int link = open("/proc/self/exe", O_RDONLY | O_NOFOLLOW);
    printf("no link %d\n", link < 0 && errno == ELOOP);
    int ends[2];
    int failed = pipe2(ends, O_DIRECT | O_CLOEXEC);
    printf("packets %d, %o, %o\n", failed, fcntl(ends[0], F_GETFL), fcntl(ends[1], F_GETFL));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    printf("streams %o\n", fcntl(ends[0], F_GETFL));
}

/* Registers that Linux reads for programs. */
#define REGISTER(name)                                                                                                 \
    ({                                                                                                                 \
        uint64_t value_;                                                                                               \
        __asm__("mrs %0, " #name : "=r"(value_));                                                                      \
        value_;                                                                                                        \
    })

static void identity(void) {
    printf("midr %lx, pfr0 %lx, pfr1 %lx\n", REGISTER(midr_el1), REGISTER(id_aa64pfr0_el1), REGISTER(id_aa64pfr1_el1));
    printf("isar0 %lx, isar1 %lx, isar2 %lx\n", REGISTER(id_aa64isar0_el1), REGISTER(id_aa64isar1_el1),
           REGISTER(s3_0_c0_c6_2));
}

static uint64_t line_bytes(void) {
    uint64_t ctr, dczid;
    __asm__("mrs %0, ctr_el0\n mrs %1, dczid_el0" : "=r"(ctr), "=r"(dczid));
    return 4u << (ctr & 15) | (uint64_t)(4u << (dczid & 15)) << 16;
}

static void small_stack(void) {
    static char stack[65536];
    stack_t s = {.ss_sp = stack, .ss_size = 5119};
    int small = sigaltstack(&s, NULL), error = errno;
    s.ss_size = 5120;
    printf("stack: %d %d, %d\n", small, error == ENOMEM, sigaltstack(&s, NULL));
}

int main(int argc, char **argv) {
    struct utsname names;
    (void)argv;
    if (argc > 1)
        __asm__ volatile(".4byte 0x2538c000"); /* mov z0.b, #0 */
    uname(&names);
    printf("%s, %s, hwcap %lx, %lx, signals take %lu\n", names.machine, (const char *)getauxval(AT_PLATFORM),
           getauxval(AT_HWCAP), getauxval(AT_HWCAP2), getauxval(AT_MINSIGSTKSZ));
    cpuinfo();
    identity();
    flags();
    printf("lines %lx\n", (unsigned long)line_bytes());
    small_stack();
    errno = 0;
    printf("traced: %ld %d\n", ptrace(PTRACE_TRACEME, 0, 0, 0), errno);
    void *low =
        mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | 0x40, -1, 0); /* another machine's MAP_32BIT */
    printf("anywhere: %d\n", low != MAP_FAILED && (uintptr_t)low >> 32 != 0);
    return 0;
}
