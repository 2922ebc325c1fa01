/* hosted.c: see hosted.h. */
#include "hosted.h"

#include <llvm-c/Core.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle.h"
#include "runner.h"

_Static_assert(RUNNER_MEMORY == STATE_MEMORY && RUNNER_MEMORY_BYTES == STATE_MEMORY_BYTES &&
                   sizeof(GuestCpu) <= RUNNER_CPU_MAX,
               "the runner and the tests agree");

enum { CASES_PER_MODULE = 100 };

struct Hosted {
    const CaseList *list;
    const HostedTools *tools;
    LiftedMode mode;
    LLVMContextRef ctx;
    LatheJit *jit;
    const char **problem;
    Arena arena;
    char folder[32];
    pid_t pid;
    int fd;
};

/* --------------------------------------------------------------------------------------------------------------- compiling */

static void save(const Hosted *h, const char *name, const void *data, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", h->folder, name);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(data, 1, size, file) == size && !fclose(file), "no room for objects");
}

/* Takes the module. */
static LatheStatus emit(const Hosted *h, LLVMModuleRef mod, LatheOpt level, const char *name) {
    void *object;
    size_t size;
    LatheStatus status = lathe_jit_emit(h->jit, mod, level, false, &object, &size);
    if (status == LATHE_OK)
        save(h, name, object, size);
    free(object);
    LLVMDisposeModule(mod);
    return status;
}

static void compile_some(Hosted *h, size_t first, size_t end) {
    char name[32];
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("cases", h->ctx);
    for (size_t i = first; i < end; i++)
        h->problem[i] = lifted_case(h->list, i, h->mode, h->tools->host, mod, &h->arena);
    snprintf(name, sizeof(name), "cases%zu.o", first);
    LatheStatus status = emit(h, mod, h->mode == LIFTED_UNOPTIMISED ? LATHE_OPT_NONE : LATHE_OPT_FULL, name);
    for (size_t i = first; i < end && status != LATHE_OK; i++)
        h->problem[i] = lathe_status_text(status);
}

/* The runner finds cases by their number. */
static void compile_table(Hosted *h) {
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("table", h->ctx);
    LLVMTypeRef ptr = LLVMPointerTypeInContext(h->ctx, 0),
                type = LLVMFunctionType(LLVMVoidTypeInContext(h->ctx), &ptr, 1, false);
    LLVMValueRef *entries = ARENA_ARRAY(&h->arena, LLVMValueRef, h->list->len);
    for (size_t i = 0; i < h->list->len; i++) {
        char name[32];
        lifted_name(i, name);
        entries[i] = h->problem[i] ? LLVMConstNull(ptr) : LLVMAddFunction(mod, name, type);
    }
    LLVMValueRef table = LLVMAddGlobal(mod, LLVMArrayType2(ptr, h->list->len), "case_entries");
    LLVMSetInitializer(table, LLVMConstArray2(ptr, entries, h->list->len));
    CHECK(emit(h, mod, LATHE_OPT_NONE, "table.o") == LATHE_OK, "LLVM compiles a table");
}

static void link_program(const Hosted *h) {
    char *command = arena_printf(
        (Arena *)&h->arena,
        "cd %s && '%s' -static -no-pie -Wl,-z,noexecstack -Wl,--defsym=%s=%#x -o program *.o %s -lm -latomic",
        h->folder, h->tools->cc, LIFTED_PIC_SYMBOL, STATE_CODE, h->tools->with);
    if (system(command)) {
        fprintf(stderr, "isa-cases: the cases cannot be linked: %s\n", command);
        exit(1);
    }
}

/* ----------------------------------------------------------------------------------------------------------------- running */

static void become_program(const Hosted *h, int fd) {
    char qemu[32], path[64];
    snprintf(qemu, sizeof(qemu), "qemu-%s", lathe_host_name(h->tools->host));
    snprintf(path, sizeof(path), "%s/program", h->folder);
    dup2(fd, 0);
    dup2(fd, 1);
    execlp(qemu, qemu, path, NULL);
    perror(qemu);
    _exit(127);
}

static void start(Hosted *h) {
    int ends[2];
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "no socket for the program");
    h->fd = ends[0];
    h->pid = fork();
    if (h->pid == 0)
        become_program(h, ends[1]);
    close(ends[1]);
}

static void stop(Hosted *h) {
    if (h->fd < 0)
        return;
    close(h->fd);
    waitpid(h->pid, NULL, 0);
    h->fd = -1;
}

static bool say(const Hosted *h, const void *at, size_t size) {
    for (ssize_t n; size; at = (const u8 *)at + n, size -= (size_t)n)
        if ((n = send(h->fd, at, size, MSG_NOSIGNAL)) <= 0)
            return false;
    return true;
}

static bool hear(const Hosted *h, void *at, size_t size) {
    for (ssize_t n; size; at = (u8 *)at + n, size -= (size_t)n)
        if ((n = read(h->fd, at, size)) <= 0)
            return false;
    return true;
}

static bool ask(const Hosted *h, size_t index, State *s, RunnerAnswer *answer) {
    RunnerQuestion question = {(u32)index, sizeof(s->cpu)};
    return say(h, &question, sizeof(question)) && say(h, &s->cpu, sizeof(s->cpu)) &&
           say(h, s->memory, sizeof(s->memory)) && hear(h, answer, sizeof(*answer)) &&
           hear(h, &s->cpu, sizeof(s->cpu)) && hear(h, s->memory, sizeof(s->memory));
}

/* What helpers raise themselves is what a CPU of the guest's kind would: a protection fault has no address there. */
static u32 trap_of(const RunnerAnswer *a, u32 expected) {
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

bool hosted_run(Hosted *h, size_t index, State *s) {
    RunnerAnswer answer = {.signal = SIGKILL};
    if (!ask(h, index, s, &answer)) { /* it died of it */
        stop(h);
        start(h);
        s->cpu.trap = TRAP_SIGNAL;
        return false;
    }
    if (answer.signal)
        s->cpu.trap = trap_of(&answer, LATHE_TRAP_MISALIGNED);
    else
        lifted_leave(&h->list->at[index], s);
    return !answer.signal;
}

/* ------------------------------------------------------------------------------------------------------------------ public */

Hosted *hosted_new(const CaseList *list, LiftedMode mode, const HostedTools *tools) {
    Hosted *h = mem_new(sizeof(Hosted));
    *h = (Hosted){.list = list, .tools = tools, .mode = mode, .fd = -1, .folder = "/tmp/isa-hosted.XXXXXX"};
    CHECK(mkdtemp(h->folder), "no folder for objects");
    h->ctx = LLVMContextCreate();
    h->jit = lathe_jit_new(&(LatheJitConfig){.host = tools->host});
    CHECK(h->jit, "no compiler for that host");
    h->problem = ARENA_ARRAY(&h->arena, const char *, list->len);
    for (size_t i = 0; i < list->len; i += CASES_PER_MODULE)
        compile_some(h, i, i + CASES_PER_MODULE < list->len ? i + CASES_PER_MODULE : list->len);
    compile_table(h);
    link_program(h);
    start(h);
    return h;
}

void hosted_free(Hosted *h) {
    char command[64];
    stop(h);
    snprintf(command, sizeof(command), "rm -r %s", h->folder);
    CHECK(!system(command), "the folder of objects stays");
    lathe_jit_free(h->jit);
    LLVMContextDispose(h->ctx);
    arena_free(&h->arena);
    mem_free(h);
}

const char *hosted_problem(const Hosted *h, size_t index) {
    return h->problem[index];
}

static const char *deviation_of(LatheHost host, const char *mnemonic) {
    LatheSupport row;
    for (size_t i = 0; lathe_support(GUEST_ARCH, host, i, &row); i++)
        if (!strcmp(row.mnemonic, mnemonic))
            return row.deviation ? row.deviation : "";
    return "";
}

/* What is exact with strict_fp, or one access at a time, is so in these tests. */
const char *hosted_deviation(const Hosted *h, const Case *c) {
    static const char inexact[] = "without the CPU's own instruction";
    const char *name;
    for (size_t i = 0; (name = guest_mnemonic(c, i)); i++) {
        const char *there = deviation_of(h->tools->host, name);
        if (!strncmp(there, inexact, sizeof(inexact) - 1))
            return arena_printf((Arena *)&h->arena, "%s: %s", name, there);
    }
    return NULL;
}
