/* namespaces.c: a program finds its file and its mappings in /proc also where its number there is not what getpid says: in a new PID
 * namespace with the old /proc, with a new one, with both; in threads; by a descriptor of /proc, where the root directory has no /proc.
 * Where no namespaces can be made, all of it is tried without them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[1 << 18], real[4096];
static struct stat own;

static void show_exe(int dir, const char *path) {
    char link[4096] = "";
    struct stat st = {0}, opened = {0};
    long len = readlinkat(dir, path, link, sizeof(link) - 1);
    int error = len < 0 ? errno : 0, there = fstatat(dir, path, &st, 0), fd = openat(dir, path, O_RDONLY);
    fstat(fd, &opened);
    printf("  link %d (error %d), stat %d %d, opened %d\n", !strcmp(link, real), error, there, st.st_ino == own.st_ino,
           opened.st_ino == own.st_ino);
    close(fd);
}

/* The line of this stack is there, and nothing of the client. */
static void show_maps(int dir, const char *path) {
    long len = 0, n;
    int fd = openat(dir, path, O_RDONLY), error = fd < 0 ? errno : 0, stack = 0;
    while (fd >= 0 && (n = read(fd, text + len, sizeof(text) - 1 - (size_t)len)) > 0)
        len += n;
    text[len] = 0;
    for (char *p = text; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : p) {
        unsigned long start = 0, end = 0;
        sscanf(p, "%lx-%lx", &start, &end);
        stack += (unsigned long)&fd >= start && (unsigned long)&fd < end;
    }
    printf("  maps: error %d, stack %d, others %d, flags %d\n", error, stack,
           strstr(text, "lathe-c") || strstr(text, "memfd"), fcntl(fd, F_GETFL) & O_ACCMODE);
    close(fd);
}

static void show_both(int dir, const char *process) {
    char path[256];
    snprintf(path, sizeof(path), "%sexe", process);
    show_exe(dir, path);
    snprintf(path, sizeof(path), "%smaps", process);
    show_maps(dir, path);
}

/* By every way from a /proc to this process. */
static void show_proc(const char *what, int proc, const char *root) {
    char path[256], number[64] = "", thread[128] = "";
    snprintf(path, sizeof(path), "%sself", root);
    long n = readlinkat(proc, path, number, sizeof(number) - 1);
    snprintf(path, sizeof(path), "%sthread-self", root);
    readlinkat(proc, path, thread, sizeof(thread) - 1);
    printf("%s: %s, the number is getpid's: %d\n", what, n > 0 ? "there" : strerror(errno), atoi(number) == getpid());
    snprintf(path, sizeof(path), "%sself/", root);
    show_both(proc, path);
    int dir = openat(proc, path, O_PATH | O_DIRECTORY);
    if (dir >= 0)
        show_both(dir, "");
    close(dir);
    snprintf(path, sizeof(path), "%sthread-self/", root);
    show_both(proc, path);
    if (n <= 0)
        return;
    snprintf(path, sizeof(path), "%s%s/", root, number);
    show_both(proc, path);
    snprintf(path, sizeof(path), "%s%s/", root, thread);
    show_both(proc, path);
    snprintf(path, sizeof(path), "%s1/exe", root); /* in the old /proc that is somebody else */
    if (atoi(number) != 1)
        show_exe(proc, path);
}

static void *show_in_thread(void *arg) {
    (void)arg;
    show_proc("in a thread", AT_FDCWD, "/proc/");
    return NULL;
}

static void show_status(void) {
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {1, &allow};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    int fd = open("/proc/self/status", O_RDONLY);
    long n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = 0;
    char *line = strstr(text, "Seccomp:");
    printf("status: %.10s\n", line ? line : "nothing");
    close(fd);
}

static void write_file(const char *path, const char *what) {
    int fd = open(path, O_WRONLY);
    write(fd, what, strlen(what));
    close(fd);
}

/* This user is root in the new namespace. */
static void enter(int flags) {
    char users[64], groups[64];
    snprintf(users, sizeof(users), "0 %d 1", (int)geteuid());
    snprintf(groups, sizeof(groups), "0 %d 1", (int)getegid());
    printf("unshare %d\n", unshare(CLONE_NEWUSER | flags));
    fflush(stdout);
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", users);
    write_file("/proc/self/gid_map", groups);
}

static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void run(const char *what, void (*body)(void), int flags) {
    printf("-- %s\n", what);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        if (flags)
            enter(flags);
        pid_t inner = fork();
        if (inner)
            _exit(wait_for(inner));
        body();
        fflush(stdout);
        _exit(0);
    }
    printf("status %d\n", wait_for(child));
}

static void old_proc(void) {
    pthread_t thread;
    show_proc("the old /proc", AT_FDCWD, "/proc/");
    pthread_create(&thread, NULL, show_in_thread, NULL);
    pthread_join(thread, NULL);
    show_status();
    fflush(stdout);
    execl("/proc/self/exe", "namespaces", "again", NULL);
    printf("not executed: %s\n", strerror(errno));
}

static void new_proc(void) {
    printf("mounted %d\n", mount("proc", "/proc", "proc", 0, NULL));
    show_proc("a new /proc", AT_FDCWD, "/proc/");
    fflush(stdout);
    execl("/proc/self/exe", "namespaces", "again", NULL);
}

static void both_procs(void) {
    mkdir("beside", 0700);
    printf("mounted %d\n", mount("proc", "beside", "proc", 0, NULL));
    show_proc("the old /proc", AT_FDCWD, "/proc/");
    show_proc("the one beside", AT_FDCWD, "beside/");
}

static void inside(void) {
    show_proc("two levels below", AT_FDCWD, "/proc/");
}

static void nested(void) {
    run("a namespace in a namespace", inside, CLONE_NEWPID);
}

static void without_proc(void) {
    int proc = open("/proc", O_PATH | O_DIRECTORY);
    mkdir("empty", 0700);
    printf("chroot %d\n", chroot("empty"));
    chdir("/");
    show_maps(proc, "self/maps");
    show_exe(AT_FDCWD, "/proc/self/exe");
    show_maps(AT_FDCWD, "/proc/self/maps");
    char link[4096] = "";
    printf("link %d\n", readlinkat(proc, "self/exe", link, sizeof(link) - 1) > 0);
}

/* The first process of a namespace dies of faults, though not of signals that it sends itself. */
static void divide(void) {
    volatile int zero = 0;
    zero = 100 / zero;
}

static void undefined(void) {
    __asm__ volatile("ud2");
}

static void trap(void) {
    __asm__ volatile("int3");
}

static void behind_file(void) {
    FILE *empty = tmpfile();
    *(volatile char *)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(empty), 0);
}

static void nowhere(void) {
    *(volatile char *)8 = 1;
}

int main(int argc, char **argv) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    readlink("/proc/self/exe", real, sizeof(real) - 1);
    stat(real, &own);
    if (argc > 1) {
        printf("again: %s, file %d\n", argv[1], own.st_ino != 0);
        return 0;
    }
    run("as it is", old_proc, 0);
    run("a new PID namespace, the old /proc", old_proc, CLONE_NEWPID);
    run("a new PID namespace, a new /proc", new_proc, CLONE_NEWPID | CLONE_NEWNS);
    run("a new PID namespace, both", both_procs, CLONE_NEWPID | CLONE_NEWNS);
    run("two of them", nested, CLONE_NEWPID);
    run("no /proc but by a descriptor", without_proc, CLONE_NEWPID | CLONE_NEWNS);
    run("a division by zero", divide, CLONE_NEWPID);
    run("an undefined instruction", undefined, CLONE_NEWPID);
    run("a breakpoint", trap, CLONE_NEWPID);
    run("memory behind a file's end", behind_file, CLONE_NEWPID);
    run("a store into nothing", nowhere, CLONE_NEWPID);
    return 0;
}
