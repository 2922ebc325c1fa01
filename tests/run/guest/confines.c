/* confines.c: confines WAY: gives up rights in one way, and then runs code that did not run before. In between it says "confined" and waits
 * for a line, so that others can kill what they like meanwhile. "cannot": this machine, or this user, has no such way. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CREATE_RULESET = 444,
    ADD_RULE,
    RESTRICT_SELF,
    ALL_ACCESS = (1 << 13) - 1,
    READ_EXECUTE = 1 | 1 << 2 | 1 << 3,
    PATH_BENEATH = 1,
    NOBODY = 65534
};

/* Little code, so that it is soon compiled. */
static void tell(const char *what, unsigned long number) {
    char digits[24], *at = digits + sizeof(digits);
    *--at = '\n';
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    write(1, what, strlen(what));
    write(1, ": ", 2);
    write(1, at, (size_t)(digits + sizeof(digits) - at));
}

/* ---------------------------------------------------------------------------------------------------------------- the ways */

/* May read and execute everything, or nothing at all. */
static int landlock(int reads) {
    unsigned long handled = ALL_ACCESS;
    int rules = (int)syscall(CREATE_RULESET, &handled, sizeof(handled), 0);
    if (rules < 0)
        return -1;
    struct {
        unsigned long access;
        int fd;
    } __attribute__((packed)) root = {READ_EXECUTE, open("/usr", O_PATH)};
    if (reads && syscall(ADD_RULE, rules, PATH_BENEATH, &root, 0))
        return -1;
    root.fd = open("/lib", O_PATH);
    if (reads && syscall(ADD_RULE, rules, PATH_BENEATH, &root, 0))
        return -1;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(RESTRICT_SELF, rules, 0) ? -1 : 0;
}

static int by_landlock(void) {
    return landlock(0);
}

/* And starts another program. */
static int by_landlock_exec(void) {
    if (landlock(1))
        return -1;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        execl("/usr/bin/printf", "printf", "%s\n", "started", NULL);
        _exit(100);
    }
    int status;
    waitpid(child, &status, 0);
    tell("program", (unsigned)status);
    tell("writes", open("/usr/confines", O_CREAT | O_WRONLY, 0600) >= 0);
    return 0;
}

/* Where it is started is an empty directory. */
static int by_chroot(void) {
    return chroot(".") || chdir("/");
}

static int by_user(void) {
    return setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY) ? -1 : 0;
}

static int by_capabilities(void) {
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {0};
    for (int i = 0; i <= 40; i++)
        prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
    return (int)syscall(SYS_capset, &head, none);
}

/* Nothing but an empty file system, without /proc. */
static int by_namespaces(void) {
    char here[4096];
    if (!getcwd(here, sizeof(here)) || unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("none", here, "tmpfs", 0, NULL) || chdir(here) ||
        syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH))
        return -1;
    return chdir("/");
}

static int by_closing(void) {
    syscall(SYS_close_range, 3, ~0u, 0);
    for (int fd = 3; fd < 5000; fd++)
        close(fd);
    for (int fd = 1000; fd < 1100; fd++) /* numbers that it takes for itself */
        if (dup2(1, fd) != fd)
            printf("dup2 %d: %d\n", fd, errno);
    for (int fd = 1000; fd < 1100; fd++)
        if (close(fd))
            printf("close %d: %d\n", fd, errno);
    return 0;
}

static int limit(int resource, rlim_t soft, rlim_t hard) {
    struct rlimit l = {soft, hard};
    return setrlimit(resource, &l);
}

static int by_descriptors(void) {
    struct rlimit l;
    getrlimit(RLIMIT_NOFILE, &l);
    return limit(RLIMIT_NOFILE, 3, l.rlim_max);
}

static int by_all_descriptors(void) {
    return limit(RLIMIT_NOFILE, 3, 3);
}

static int by_processes(void) {
    return limit(RLIMIT_NPROC, 0, 0) || by_user();
}

static int by_file_size(void) {
    return limit(RLIMIT_FSIZE, 0, 0);
}

/* Only what it needs from here on. */
static int by_filter(void) {
    static const int allowed[] = {SYS_read,  SYS_write, SYS_exit_group, SYS_newfstatat,
                                  SYS_fstat, SYS_brk,   SYS_mmap,       SYS_munmap};
    enum { COUNT = sizeof(allowed) / sizeof(*allowed) };
    struct sock_filter program[2 * COUNT + 2] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (int i = 0; i < COUNT; i++) {
        program[2 * i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
        program[2 * i + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    program[2 * COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
    struct sock_fprog p = {2 * COUNT + 2, program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}

static int by_hiding(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int by_directory(void) {
    return mkdir("gone", 0700) || chdir("gone") || rmdir("../gone");
}

static int by_mask(void) {
    umask(0777);
    return 0;
}

/* It gets the orphans among its descendants, and nobody else. */
static int by_reaping(void) {
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        return -1;
    fflush(stdout);
    if (!fork()) {
        if (!fork())
            _exit(0);
        _exit(0);
    }
    return 0;
}

typedef struct Way {
    const char *name;
    int (*does)(void);
} Way;

static const Way ways[] = {
    {"landlock", by_landlock},
    {"landlock-exec", by_landlock_exec},
    {"chroot", by_chroot},
    {"user", by_user},
    {"capabilities", by_capabilities},
    {"namespaces", by_namespaces},
    {"closing", by_closing},
    {"descriptors", by_descriptors},
    {"all-descriptors", by_all_descriptors},
    {"processes", by_processes},
    {"file-size", by_file_size},
    {"filter", by_filter},
    {"hiding", by_hiding},
    {"directory", by_directory},
    {"mask", by_mask},
    {"reaping", by_reaping},
    {NULL, NULL},
};

/* ------------------------------------------------------------------------------------------------------- what comes after it */

static unsigned mix(unsigned n, int turns) {
    for (int i = 0; i < turns; i++)
        n = n * 1664525 + (n >> 13) + 1013904223;
    return n;
}

/* Long enough to be found hot. */
static unsigned long work(void) {
    unsigned long sum = 0;
    for (unsigned i = 0; i < 2000; i++)
        sum = sum * 31 + mix(i, 20000);
    return sum;
}

static int count_children(void) {
    int count = 0;
    while (wait(NULL) > 0)
        count++;
    return count;
}

int main(int argc, char **argv) {
    const Way *way = ways;
    char line[16];
    while (argc > 1 && way->name && strcmp(way->name, argv[1]))
        way++;
    if (argc < 2 || !way->name)
        return 2;
    if (way->does()) {
        printf("cannot: %s\n", strerror(errno));
        return 77;
    }
    write(1, "confined\n", 9);
    read(0, line, sizeof(line));
    tell(way->name, work());
    tell("children", strcmp(way->name, "filter") ? (unsigned)count_children() : 0);
    return 3;
}
