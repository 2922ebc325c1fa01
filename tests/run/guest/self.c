/* self.c: what a program finds about itself in /proc: its name, arguments, file and mappings, by all kinds of paths. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char text[1 << 18];
static const char constant[] = "a constant";

static ssize_t slurp_fd(int fd) {
    ssize_t len = 0, n;
    while ((n = read(fd, text + len, sizeof(text) - 1 - (size_t)len)) > 0)
        len += n;
    text[len] = 0;
    return len;
}

static ssize_t slurp(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t len = slurp_fd(fd);
    close(fd);
    return len;
}

static void names(void) {
    char name[17] = "";
    prctl(PR_GET_NAME, name);
    slurp("/proc/self/comm");
    printf("comm %s, %s", name, text);
    prctl(PR_SET_NAME, "another name that is too long");
    slurp("/proc/self/comm");
    printf("comm %s", text);
    slurp("/proc/self/stat");
    printf("stat %d\n", strstr(text, "(another name th) R ") != NULL);
}

static void print_arguments(const char *when) {
    ssize_t len = slurp("/proc/self/cmdline");
    printf("%s:", when);
    for (ssize_t i = 0; i < len; i += (ssize_t)strlen(text + i) + 1)
        printf(" '%s'", text + i);
    printf("\n");
}

static void arguments(char **argv) {
    print_arguments("arguments");
    char first = argv[1][0];
    argv[1][0] = 'X';
    print_arguments("overwritten");
    argv[1][0] = first;
    ssize_t len = slurp("/proc/self/environ"), at = 0;
    int differ = 0, count = 0;
    for (char **e = environ; *e && at < len; e++, count++) {
        differ += strcmp(*e, text + at) != 0;
        at += (ssize_t)strlen(text + at) + 1;
    }
    printf("environment %d %d, all %d\n", count > 0, differ, at == len);
}

static void auxiliary(void) {
    ssize_t len = slurp("/proc/self/auxv");
    Elf64_auxv_t *a = (Elf64_auxv_t *)text;
    static const unsigned long types[] = {AT_PHDR,   AT_PHNUM,  AT_ENTRY, AT_BASE,
                                          AT_RANDOM, AT_EXECFN, AT_UID,   AT_SYSINFO_EHDR};
    int differ = 0;
    for (; (char *)(a + 1) <= text + len && a->a_type != AT_NULL; a++)
        for (int i = 0; i < 8; i++)
            differ += types[i] == a->a_type && getauxval(types[i]) != a->a_un.a_val;
    printf("auxiliary vector %d, differ %d\n", len > 100 && a->a_type == AT_NULL, differ);
}

/* The numbers behind the name: the first is field 3. */
static void numbers(void) {
    unsigned long field[60] = {0}, here = (unsigned long)__builtin_frame_address(0);
    slurp("/proc/self/stat");
    char *p = strrchr(text, ')') + 4;
    for (int i = 4; i < 53; i++)
        field[i] = strtoul(p, &p, 10);
    printf("pid %d, code %d, stack %d, arguments %d, environment %d\n", field[4] == (unsigned long)getppid(),
           field[26] <= (unsigned long)&numbers && field[27] > (unsigned long)&numbers,
           field[28] > here && field[28] - here < 1 << 16, field[48] < field[49], field[50] < field[51]);
}

/* ----------------------------------------------------------------------------------------------------------------- exe */

static int same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static void exe_at(int dir, const char *path, const struct stat *own, const char *real) {
    char link[4096] = "", head[4] = "";
    struct stat st = {0}, opened = {0};
    struct statx sx = {0};
    ssize_t len = readlinkat(dir, path, link, sizeof(link) - 1);
    int fd = openat(dir, path, O_RDONLY), ok = fstatat(dir, path, &st, 0);
    fstat(fd, &opened);
    read(fd, head, 4);
    statx(dir, path, 0, STATX_INO, &sx);
    printf("exe: link %d, stat %d %d, opened %d, %d, access %d\n", len > 0 && !strcmp(link, real), ok,
           same_file(&st, own), same_file(&opened, own), !memcmp(head, ELFMAG, 4) && sx.stx_ino == own->st_ino,
           faccessat(dir, path, X_OK, 0));
    close(fd);
}

static void exe(const char *self) {
    char path[64], real[4096];
    struct stat own;
    realpath(self, real);
    stat(self, &own);
    int proc = open("/proc", O_PATH | O_DIRECTORY), dir = open("/proc/self", O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)getpid());
    exe_at(AT_FDCWD, "/proc/self/exe", &own, real);
    exe_at(AT_FDCWD, path, &own, real);
    exe_at(AT_FDCWD, "/proc/thread-self/exe", &own, real);
    exe_at(AT_FDCWD, "/proc/../proc//self/./exe", &own, real);
    exe_at(proc, "self/exe", &own, real);
    exe_at(dir, "exe", &own, real);
    close(proc);
    close(dir);
    printf("not followed %d", open("/proc/self/exe", O_RDONLY | O_NOFOLLOW));
    printf(" %d\n", errno == ELOOP);
    struct stat first;
    printf("of another process %d\n", stat("/proc/1/exe", &first) || !same_file(&first, &own));
}

/* ---------------------------------------------------------------------------------------------------------------- maps */

/* The line of `text` for an address. */
static int line_of(const volatile void *addr, char prot[5], char *name) {
    unsigned long at = (unsigned long)addr, start, end, off;
    for (char *p = text; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : p) {
        *name = 0;
        if (sscanf(p, "%lx-%lx %4s %lx %*x:%*x %*u%*[ ]%[^\n]", &start, &end, prot, &off, name) >= 4 && at >= start &&
            at < end)
            return 1;
    }
    return 0;
}

static void show(const char *what, const volatile void *addr) {
    char prot[5] = "", name[4096] = "";
    if (!line_of(addr, prot, name)) {
        printf("%s: not there\n", what);
        return;
    }
    char *slash = strrchr(name, '/');
    printf("%s: %s %s\n", what, prot, slash ? slash + 1 : name);
}

static int lines(int *wrong) {
    unsigned long start, end, last = 0;
    int count = 0;
    for (char *p = text; *p; p = strchr(p, '\n') + 1, count++) {
        *wrong += sscanf(p, "%lx-%lx", &start, &end) != 2 || start < last || end <= start;
        last = end;
    }
    return count;
}

static void maps(void) {
    static int data = 1;
    int local = 0, wrong = 0, fd = open("/dev/zero", O_RDWR);
    char *heap = malloc(100), *page = mmap(0, 5 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    mprotect(page + 4096, 4096, PROT_READ | PROT_EXEC);
    mprotect(page + 8192, 4096, PROT_NONE);
    munmap(page + 3 * 4096, 4096);
    slurp("/proc/self/maps");
    show("code", (void *)&maps);
    show("constant", constant);
    show("data", &data);
    show("heap", heap);
    show("stack", &local);
    show("library", dlsym(RTLD_DEFAULT, "printf"));
    show("page 0", page);
    show("page 1", page + 4096);
    show("page 2", page + 8192);
    show("page 3", page + 3 * 4096);
    show("page 4", page + 4 * 4096);
    show("shared", shared);
    int count = lines(&wrong);
    printf("lines %d, wrong %d, of others %d\n", count > 10, wrong, strstr(text, "lathe-c") || strstr(text, "memfd"));
    close(fd);
}

static void maps_at(int dir, const char *path) {
    int local = 0, fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    slurp_fd(fd);
    printf("fd %d, flags %d %d: ", fd, fcntl(fd, F_GETFD), fcntl(fd, F_GETFL) & O_ACCMODE);
    show("stack", &local);
    lseek(fd, 0, SEEK_SET);
    printf("again %d\n", slurp_fd(fd) > 0);
    close(fd);
}

static void ways_to_maps(void) {
    char path[64];
    int proc = open("/proc", O_PATH | O_DIRECTORY), dir = open("/proc/self", O_RDONLY | O_DIRECTORY);
    maps_at(proc, "self/maps");
    maps_at(dir, "maps");
    snprintf(path, sizeof(path), "%d/task/%d/maps", (int)getpid(), (int)getpid());
    maps_at(proc, path);
    maps_at(AT_FDCWD, "/proc/thread-self/maps");
    int here = open(".", O_RDONLY);
    chdir("/proc/self");
    maps_at(AT_FDCWD, "maps");
    fchdir(here);
    int file = open("maps", O_RDWR | O_CREAT | O_TRUNC, 0600);
    write(file, "a file of this name\n", 20);
    close(file);
    slurp("maps");
    printf("%s", text);
    unlink("maps");
    errno = 0;
    int missing = open("/proc/self/task/maps", O_RDONLY);
    printf("missing %d %d\n", missing, errno == ENOENT);
    close(here);
    close(proc);
    close(dir);
}

static void stack_bounds(void) {
    pthread_attr_t attr;
    void *addr = NULL;
    size_t size = 0;
    int error = pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &addr, &size);
    printf("stack bounds %d %d\n", error, (char *)addr < (char *)&attr && (char *)addr + size > (char *)&attr);
}

static void vdso(void) {
    const char *start = (const char *)getauxval(AT_SYSINFO_EHDR);
    char prot[5], name[4096];
    slurp("/proc/self/maps");
    printf("vdso %d\n", !start || (!memcmp(start, ELFMAG, 4) && line_of(start, prot, name) && !strcmp(prot, "r-xp") &&
                                   !strcmp(name, "[vdso]")));
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 1;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(argv[1], "again")) /* the name is then "exe" */
        names();
    arguments(argv);
    auxiliary();
    numbers();
    exe(argv[0]);
    maps();
    ways_to_maps();
    stack_bounds();
    vdso();
    pid_t child = fork();
    if (!child) {
        print_arguments("child");
        maps_at(AT_FDCWD, "/proc/self/maps");
        exe(argv[0]);
        return 0;
    }
    waitpid(child, NULL, 0);
    if (!strcmp(argv[1], "again"))
        return 0;
    fflush(stdout);
    execl("/proc/self/exe", argv[0], "again", "and again", NULL);
    return 1;
}
