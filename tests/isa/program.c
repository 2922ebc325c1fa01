/* program.c: see program.h. */
#include "program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void program_save(const Program *p, const char *name, const void *data, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", p->folder, name);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(data, 1, size, file) == size && !fclose(file), "no room for objects");
}

static void become_program(const Program *p, int fd) {
    char qemu[32], path[64];
    snprintf(qemu, sizeof(qemu), "qemu-%s", lathe_host_name(p->tools->host));
    snprintf(path, sizeof(path), "%s/program", p->folder);
    dup2(fd, 0);
    dup2(fd, 1);
    execlp(qemu, qemu, path, NULL);
    perror(qemu);
    _exit(127);
}

static void start(Program *p) {
    int ends[2];
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "no socket for the program");
    p->fd = ends[0];
    p->pid = fork();
    if (p->pid == 0)
        become_program(p, ends[1]);
    close(ends[1]);
}

static void stop(Program *p) {
    if (p->fd < 0)
        return;
    close(p->fd);
    waitpid(p->pid, NULL, 0);
    p->fd = -1;
}

static bool say(const Program *p, const void *at, size_t size) {
    for (ssize_t n; size; at = (const u8 *)at + n, size -= (size_t)n)
        if ((n = send(p->fd, at, size, MSG_NOSIGNAL)) <= 0)
            return false;
    return true;
}

static bool hear(const Program *p, void *at, size_t size) {
    for (ssize_t n; size; at = (u8 *)at + n, size -= (size_t)n)
        if ((n = read(p->fd, at, size)) <= 0)
            return false;
    return true;
}

bool program_ask(Program *p, u32 index, void *cpu, size_t cpu_bytes, u8 *memory, RunnerAnswer *answer) {
    RunnerQuestion question = {index, (u32)cpu_bytes};
    *answer = (RunnerAnswer){.signal = SIGKILL};
    if (say(p, &question, sizeof(question)) && say(p, cpu, cpu_bytes) && say(p, memory, RUNNER_MEMORY_BYTES) &&
        hear(p, answer, sizeof(*answer)) && hear(p, cpu, cpu_bytes) && hear(p, memory, RUNNER_MEMORY_BYTES))
        return true;
    stop(p);
    start(p);
    return false;
}

/* What helpers raise themselves is what a CPU of the guest's kind would: a protection fault has no address there. */
u32 program_trap(const RunnerAnswer *a, u32 expected) {
    switch (a->signal) {
    case SIGFPE:
        return TRAP_FLOAT;
    case SIGBUS:
        return TRAP_MEMORY;
    case SIGSEGV:
        return a->code > 0 ? TRAP_MEMORY : expected;
    case SIGVTALRM:
        return TRAP_TIMEOUT;
    default:
        return TRAP_SIGNAL;
    }
}

void program_new(Program *p, const HostedTools *tools) {
    *p = (Program){.tools = tools, .folder = "/tmp/isa-hosted.XXXXXX", .fd = -1};
    CHECK(mkdtemp(p->folder), "no folder for objects");
}

void program_link(Program *p, const char *options, const char *what) {
    Arena arena = {0};
    char *command =
        arena_printf(&arena, "cd %s && '%s' -static -no-pie -Wl,-z,noexecstack %s -o program %s %s -lm -latomic",
                     p->folder, p->tools->cc, options, what, p->tools->with);
    if (system(command)) {
        fprintf(stderr, "isa-cases: the cases cannot be linked: %s\n", command);
        exit(1);
    }
    arena_free(&arena);
    start(p);
}

void program_free(Program *p) {
    char command[64];
    stop(p);
    snprintf(command, sizeof(command), "rm -r %s", p->folder);
    CHECK(!system(command), "the folder of objects stays");
}
