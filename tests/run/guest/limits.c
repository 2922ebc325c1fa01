/* limits.c: limits of the address space and of data hold for mmap, brk, mremap and mprotect, are seen by who asks, and are handed on to
 * children and by exec; those of descriptors and of the stack are as large as they say. Sizes are printed roughly: what a C library maps before is not the same everywhere. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, LIMIT = 256 * MIB };

static void *get(size_t size, int prot, int flags) {
    return mmap(NULL, size, prot, flags | MAP_ANONYMOUS, -1, 0);
}

/* How many MiB there are, in steps of 32 from below: what is mapped before takes less. */
static int available(int prot, int flags) {
    char *pieces[1024];
    int count = 0;
    while (count < 1024 && (pieces[count] = get(MIB, prot, flags)) != MAP_FAILED)
        count++;
    int error = errno;
    for (int i = 0; i < count; i++)
        munmap(pieces[i], MIB);
    printf(" %d to %d MiB%s", count / 32 * 32, count / 32 * 32 + 32,
           count < 1024 ? (error == ENOMEM ? ", then ENOMEM" : ", ?") : "");
    return count;
}

static void set(int resource, rlim_t soft) {
    struct rlimit limit;
    getrlimit(resource, &limit);
    limit.rlim_cur = soft;
    if (setrlimit(resource, &limit))
        printf("setrlimit: %s\n", strerror(errno));
}

static void try_all(const char *what) {
    printf("%s: written", what);
    available(PROT_READ | PROT_WRITE, MAP_PRIVATE);
    printf("; only read");
    available(PROT_READ, MAP_PRIVATE);
    printf("; shared");
    available(PROT_READ | PROT_WRITE, MAP_SHARED);
    int pieces = 0;
    char *start = sbrk(0);
    while (pieces < 1024 && sbrk(MIB) != (void *)-1)
        pieces++;
    printf("; brk %s", pieces == 1024 ? "all" : pieces >= 160 && pieces < 256 ? "up to the limit" : "?");
    brk(start);
    char *p = get(128 * MIB, PROT_NONE, MAP_PRIVATE), *q = get(100 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    printf("; mremap %s", mremap(q, 100 * MIB, 300 * MIB, MREMAP_MAYMOVE) == MAP_FAILED ? strerror(errno) : "done");
    char *r = get(40 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    printf("; 40 MiB more %s", r == MAP_FAILED ? "ENOMEM" : "done");
    printf("; mprotect %s", mprotect(p, 128 * MIB, PROT_READ | PROT_WRITE) ? strerror(errno) : "done");
    printf("; in place %s\n", mmap(p, 128 * MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p
                                  ? "done"
                                  : strerror(errno));
    munmap(p, 128 * MIB);
    munmap(q, 100 * MIB);
    if (r != MAP_FAILED)
        munmap(r, 40 * MIB);
}

static void show_file(void) {
    FILE *f = fopen("/proc/self/limits", "r");
    char line[256];
    while (fgets(line, sizeof(line), f))
        if (strstr(line, "address space") || strstr(line, "data size"))
            fputs(line, stdout);
    fclose(f);
}

static void show(const char *who) {
    struct rlimit space, data;
    getrlimit(RLIMIT_AS, &space);
    prlimit(getpid(), RLIMIT_DATA, NULL, &data);
    printf("%s: %ld %ld\n", who, (long)space.rlim_cur, (long)data.rlim_cur);
    fflush(stdout);
}

static void wait_for_all(void) {
    while (wait(NULL) > 0)
        ;
}

static void hand_on(char *self) {
    set(RLIMIT_AS, LIMIT);
    fflush(stdout);
    if (!fork()) {
        show("child");
        printf("child:");
        available(PROT_READ, MAP_PRIVATE);
        printf("\n");
        exit(0);
    }
    wait_for_all();
    if (!fork()) {
        execl(self, self, "again", NULL);
        _exit(1);
    }
    wait_for_all();
    if (!vfork()) {
        set(RLIMIT_AS, 200 * MIB);
        execl(self, self, "again", NULL);
        _exit(1);
    }
    wait_for_all();
    show("parent of vfork");
    set(RLIMIT_AS, RLIM_INFINITY);
}

/* An exec that fails changes nothing, even if limits cannot be raised any more: programs are looked for in one directory after the other. */
static void search(char *self) {
    fflush(stdout);
    if (!fork()) {
        struct rlimit space = {LIMIT, LIMIT}, data = {48 * MIB, 48 * MIB};
        int fd = open("without-line", O_CREAT | O_WRONLY, 0755);
        write(fd, "exit 3\n", 7);
        close(fd);
        setrlimit(RLIMIT_AS, &space);
        setrlimit(RLIMIT_DATA, &data);
        execl("/nonexistent", "nonexistent", NULL);
        printf("not found: %s\n", strerror(errno));
        execl("./without-line", "without-line", NULL);
        printf("without a #! line: %s\n", strerror(errno));
        printf("then:");
        available(PROT_READ | PROT_WRITE, MAP_PRIVATE);
        printf("\n");
        fflush(stdout);
        execl(self, self, "again", NULL);
        _exit(1);
    }
    wait_for_all();
}

/* A program that begins with few descriptors has all of them. */
static void count_files(void) {
    int count = 0, fd, last = 2;
    while ((fd = open("/dev/null", O_RDONLY)) >= 0)
        count++, last = fd;
    printf("%d descriptors, then %s; the last is %d\n", count, errno == EMFILE ? "EMFILE" : "?", last);
}

static int use_stack(int pages) {
    volatile char page[4096];
    page[0] = 1;
    return pages ? use_stack(pages - 1) + page[0] : 0;
}

static void try_stack(const char *what, int kib) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        use_stack(kib / 5);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("%s, %d KiB of stack: %s\n", what, kib, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "used");
}

/* The stack grows as far as the limit of the moment allows. */
static void stacks(void) {
    try_stack("at first", 4 << 10);
    try_stack("at first", 20 << 10);
    set(RLIMIT_STACK, 64 * MIB);
    try_stack("raised", 40 << 10);
    try_stack("raised", 100 << 10);
}

static void start_again(char *self, int resource, rlim_t soft, char *how) {
    fflush(stdout);
    if (!fork()) {
        set(resource, soft);
        execl(self, self, how, NULL);
        _exit(1);
    }
    wait_for_all();
}

/* Stacks of threads and what is reserved without access count, too. */
static void unlimited_again(void) {
    printf("without limits:");
    available(PROT_NONE, MAP_PRIVATE | MAP_NORESERVE);
    printf("\n");
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "files"))
        return count_files(), 0;
    if (argc > 1 && !strcmp(argv[1], "stack"))
        return try_stack("with little", 150), try_stack("with little", 600), 0;
    if (argc > 1) {
        show("after exec");
        printf("after exec:");
        available(PROT_READ, MAP_PRIVATE);
        printf("\n");
        return 0;
    }
    set(RLIMIT_AS, LIMIT);
    try_all("address space");
    show_file();
    set(RLIMIT_AS, RLIM_INFINITY);
    set(RLIMIT_DATA, LIMIT);
    try_all("data");
    show_file();
    set(RLIMIT_DATA, RLIM_INFINITY);
    hand_on("/proc/self/exe");
    search("/proc/self/exe");
    start_again("/proc/self/exe", RLIMIT_NOFILE, 50, "files");
    start_again("/proc/self/exe", RLIMIT_STACK, 300000, "stack");
    stacks();
    unlimited_again();
    return 0;
}
