/* shared.c: System V shared memory, and limits of memory. */
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 5 * 4096 - 100 };

static int in_maps(const void *addr, char prot[5]) {
    char line[4096];
    int found = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (!found && fgets(line, sizeof(line), f)) {
        unsigned long start, end;
        found =
            sscanf(line, "%lx-%lx %4s", &start, &end, prot) == 3 && (uintptr_t)addr >= start && (uintptr_t)addr < end;
    }
    fclose(f);
    return found;
}

static void show(const char *what, const void *addr) {
    char prot[5] = "";
    int found = in_maps(addr, prot);
    printf("%s: %s\n", what, found ? prot : "not there");
}

static void segments(void) {
    int id = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0600);
    char *a = shmat(id, NULL, 0), *b = shmat(id, NULL, 0), *c = shmat(id, NULL, SHM_RDONLY);
    struct shmid_ds ds;
    shmctl(id, IPC_STAT, &ds);
    shmctl(id, IPC_RMID, NULL);
    printf("attached %d %d %d, %lu times\n", a != (void *)-1, b != (void *)-1, c != (void *)-1,
           (unsigned long)ds.shm_nattch);
    strcpy(a + 4096, "text");
    printf("'%s' '%s'\n", b + 4096, c + 4096);
    printf("protect %d\n", mprotect(b + 4096, 4096, PROT_READ));
    show("first page", b);
    show("second page", b + 4096);
    show("read-only", c);
    if (!fork()) {
        strcpy(a, "of the child");
        _exit(shmdt(a) || shmdt(b) || shmdt(c));
    }
    int status;
    wait(&status);
    printf("child %d: '%s'\n", status, c);
    printf("detach %d\n", shmdt(b));
    show("b", b);
    show("end of b", b + 4 * 4096);
    show("a", a);
    show("c", c);
    printf("again %d", shmdt(b));
    printf(" %d\n", errno == EINVAL);
    printf("%d %d\n", shmdt(a), shmdt(c));
    printf("no such segment %d\n", shmat(-1, NULL, 0) == (void *)-1);
}

static int run_true(void) {
    char *argv[] = {"true", NULL}, *envp[] = {NULL};
    pid_t pid;
    int status = -1;
    if (!posix_spawn(&pid, "/bin/true", NULL, NULL, argv, envp))
        waitpid(pid, &status, 0);
    return status;
}

static void limit(int resource, const char *name) {
    struct rlimit old, set = {2000u << 20, RLIM_INFINITY}, got;
    getrlimit(resource, &old);
    set.rlim_max = old.rlim_max;
    int error = setrlimit(resource, &set);
    getrlimit(resource, &got);
    void *memory = malloc(10 << 20);
    printf("%s: %d, %d, memory %d, program %d\n", name, error,
           got.rlim_cur == set.rlim_cur && got.rlim_max == set.rlim_max, memory != NULL, run_true());
    free(memory);
    set.rlim_cur = 100;
    set.rlim_max = 50;
    printf("impossible %d", setrlimit(resource, &set));
    printf(" %d\n", errno == EINVAL);
    setrlimit(resource, &old);
}

static void locks(void) {
    printf("lock %d", mlockall(0));
    printf(" %d", errno == EINVAL);
    printf(" %d", mlockall(MCL_CURRENT | MCL_FUTURE) == 0 || errno == ENOMEM || errno == EPERM);
    printf(" %d, memory %d, unlock %d\n", run_true(), malloc(1 << 20) != NULL, munlockall());
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    segments();
    limit(RLIMIT_AS, "address space");
    limit(RLIMIT_DATA, "data");
    locks();
    return 0;
}
