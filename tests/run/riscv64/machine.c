/* machine.c: what a program learns of the machine that it runs on, and calls that only this machine has. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { HWPROBE = 258, FLUSH_ICACHE = 259 };

static void cpuinfo(void) {
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];
    long harts = 0;
    while (fgets(line, sizeof(line), f)) {
        harts += !strncmp(line, "hart\t", 5);
        if (harts == 1 && strncmp(line, "processor", 9) && strncmp(line, "hart", 4) && *line != '\n')
            fputs(line, stdout);
    }
    fclose(f);
    printf("all harts: %d\n", harts == sysconf(_SC_NPROCESSORS_ONLN));
}

static void hwprobe(void) {
    struct {
        int64_t key;
        uint64_t value;
    } pairs[] = {{3, 0}, {4, 0}, {5, 0}, {1000, 5}};
    printf("hwprobe: %ld\n", syscall(HWPROBE, pairs, 4, 0, NULL, 0));
    for (int i = 0; i < 4; i++)
        printf("%ld %lx\n", (long)pairs[i].key, (unsigned long)pairs[i].value);
    printf("with flags: %ld %d\n", syscall(HWPROBE, pairs, 4, 0, NULL, 64), errno);
    printf("nowhere: %ld %d\n", syscall(HWPROBE, 16, 4, 0, NULL, 0), errno);
}

/* li a0, N; ret, which is written anew */
static void flush(void) {
    uint32_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (uint32_t n = 0; n < 5; n++) {
        code[0] = 0x00000513 | n * 111 << 20;
        code[1] = 0x00008067;
        printf("flush %ld", syscall(FLUSH_ICACHE, code, code + 2, n % 2));
        printf(", %d\n", ((int (*)(void))code)());
    }
    printf("flags: %ld %d\n", syscall(FLUSH_ICACHE, code, code + 2, 2), errno);
    code[0] = 0x00000513 | 999 << 20;
    __builtin___clear_cache((char *)code, (char *)(code + 2));
    printf("%d\n", ((int (*)(void))code)());
}

int main(void) {
    struct utsname names;
    uname(&names);
    printf("%s, hwcap %lx\n", names.machine, getauxval(AT_HWCAP));
    cpuinfo();
    hwprobe();
    flush();
    errno = 0;
    printf("traced: %ld %d\n", ptrace(PTRACE_TRACEME, 0, 0, 0), errno);
    void *low =
        mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | 0x40, -1, 0); /* another machine's MAP_32BIT */
    printf("anywhere: %d\n", low != MAP_FAILED && (uintptr_t)low >> 32 != 0);
    return 0;
}
