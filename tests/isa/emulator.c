/* emulator.c: the oracle of guests that are not the host's kind: agent.c under qemu, which is kept running. */
#include "oracle.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "emulator.h"

_Static_assert(AGENT_CODE == STATE_CODE && AGENT_MEMORY == STATE_MEMORY, "the agent and the tests share addresses");

/* Agents that died of what they were asked: each is started anew, but not for ever. */
enum { DEATHS_ALLOWED = 3, STATUS_NO_PROGRAM = 125, STATUS_SKIPPED = 77 };

static struct Agent {
    pid_t pid;
    int fd;
    bool answered; /* some agent has: qemu and the agent are there and work */
    bool no_qemu;
    int deaths;
} agent = {.fd = -1};

static const char *qemu(void) {
    const char *given = getenv(GUEST_QEMU_VARIABLE);
    return given ? given : GUEST_QEMU;
}

/* Where the build has put it, unless the environment says otherwise. */
static const char *agent_path(void) {
    const char *given = getenv(GUEST_AGENT_VARIABLE);
    return given ? given : AGENT_PATH;
}

static void become_agent(int fd, const char *cpu) {
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(fd, 0);
    dup2(fd, 1);
    dup2(nowhere, 2); /* what it says of CPUs that it does not know */
    execlp(qemu(), qemu(), "-cpu", cpu, agent_path(), NULL);
    _exit(STATUS_NO_PROGRAM);
}

static void start(const char *cpu) {
    int ends[2];
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "no socket for the agent");
    agent.fd = ends[0];
    agent.pid = fork();
    if (agent.pid == 0)
        become_agent(ends[1], cpu);
    close(ends[1]);
}

static void stop(void) {
    if (agent.fd < 0)
        return;
    int status;
    close(agent.fd);
    if (waitpid(agent.pid, &status, 0) == agent.pid)
        agent.no_qemu = WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NO_PROGRAM;
    agent.fd = -1;
}

static bool whole_write(const void *at, size_t size) {
    for (ssize_t n; size; at = (const u8 *)at + n, size -= (size_t)n)
        if ((n = send(agent.fd, at, size, MSG_NOSIGNAL)) <= 0)
            return false;
    return true;
}

static bool whole_read(void *at, size_t size) {
    for (ssize_t n; size; at = (u8 *)at + n, size -= (size_t)n)
        if ((n = read(agent.fd, at, size)) <= 0)
            return false;
    return true;
}

static bool ask(AgentRun *run) {
    return agent.fd >= 0 && whole_write(run, sizeof(*run)) && whole_read(run, sizeof(*run));
}

/* Without qemu the test is skipped. An oracle that is there but does not run the agent, or keeps dying, is a failure: it may be our own code. */
_Noreturn static void give_up(void) {
    if (agent.no_qemu) {
        printf("skip: there is no '%s' (%s can name another oracle)\n", qemu(), GUEST_QEMU_VARIABLE);
        exit(STATUS_SKIPPED);
    }
    printf(agent.answered ? "FAIL: the oracle keeps dying: '%s' with '%s'\n"
                          : "FAIL: the oracle '%s' does not run '%s'\n",
           qemu(), agent_path());
    exit(1);
}

/* An agent that does not answer is one that qemu could not start, or that what it was asked has killed. */
static void ask_some_agent(AgentRun *run) {
    AgentRun question = *run;
    if (ask(run))
        return;
    stop();
    if (agent.answered && ++agent.deaths > DEATHS_ALLOWED)
        give_up();
    for (size_t i = 0; i < guest_cpu_count; i++) {
        start(guest_cpus[i]);
        *run = question;
        if (ask(run)) {
            agent.answered = true;
            return;
        }
        stop();
    }
    give_up();
}

static u32 trap_of(const AgentRun *run, u32 expected) {
    switch (run->signal) {
    case 0:
        return LATHE_TRAP_NONE;
    case SIGILL:
        return expected == LATHE_TRAP_UNSUPPORTED ? expected : LATHE_TRAP_UNDEFINED;
    case SIGTRAP:
        return LATHE_TRAP_BREAK;
    case SIGBUS:
        return LATHE_TRAP_MISALIGNED;
    case SIGSEGV:
        return TRAP_MEMORY;
    case SIGPROF:
        return TRAP_TIMEOUT;
    default:
        return TRAP_SIGNAL;
    }
}

void oracle_run(State *s, const u8 *code, size_t size, u32 expected_trap) {
    static AgentRun run;
    CHECK(size <= AGENT_CODE_BYTES, "a case of more code than the agent takes");
    run = (AgentRun){.cpu = s->cpu, .size = (u32)size};
    memcpy(run.memory, s->memory, sizeof(run.memory));
    memcpy(run.bytes, code, size);
    ask_some_agent(&run);
    guest_take(&s->cpu, &run.cpu);
    s->cpu.trap = trap_of(&run, expected_trap);
    memcpy(s->memory, run.memory, sizeof(run.memory));
}

const char *oracle_unfit(void) {
    return NULL;
}
