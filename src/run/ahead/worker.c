/* worker.c: a server at work on guest files: this is its client, which has no guest but knows the files.
 *
 * The server is the one of `lathe run`. It ends by itself when its socket is closed, but not while it keeps an object. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/ahead/ahead.h"

enum { SOCKET_THERE = 3, MEMORY_MAX = 1 << 16 };

/* In the child. In a group of its own, so that an interrupt from the terminal does not hit it while it writes. */
_Noreturn static void become_server(const char *server, int socket) {
    setpgid(0, 0);
    dup2(socket, SOCKET_THERE);
    execl(server, server, "--fd=3", (char *)NULL);
    _exit(127);
}

static bool greet(Worker *w, const AheadPlan *plan) {
    InitMessage init = {.version = PROTOCOL_VERSION, .code = plan->config};
    init.code.opt = plan->opt;
    snprintf(init.cache_dir, sizeof(init.cache_dir), "%s", plan->cache_dir);
    return connection_send(&w->connection, C_INIT, &init, sizeof(init), NULL, 0);
}

/* Not 3, which the server's end becomes in the child. */
static bool make_sockets(int pair[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return false;
    for (int i = 0; i < 2; i++) {
        int moved = fcntl(pair[i], F_DUPFD_CLOEXEC, SOCKET_THERE + 1);
        close(pair[i]);
        pair[i] = moved;
    }
    return true;
}

bool worker_start(Worker *w, const AheadPlan *plan) {
    int pair[2];
    u8 *buffer = w->connection.buffer;
    size_t capacity = w->connection.capacity;
    if (!make_sockets(pair))
        return false;
    pid_t pid = fork();
    if (pid == 0)
        become_server(plan->server, pair[1]);
    close(pair[1]);
    *w = (Worker){.connection = {.fd = pair[0], .buffer = buffer, .capacity = capacity}, .pid = pid};
    if (pid > 0 && greet(w, plan))
        return true;
    worker_stop(w, true);
    return false;
}

bool worker_ask(Worker *w, AheadFile *f, u64 off) {
    TranslateMessage request = {
        .pc = f->base + off,
        .base = f->base,
        .end = f->end,
        .position_independent = f->position_independent,
        .changing_data = f->changing_data,
        .pack = f->pack,
    };
    w->file = f;
    w->off = off;
    w->since_ms = ahead_now_ms();
    return connection_send(&w->connection, C_TRANSLATE, &request, sizeof(request), NULL, 0);
}

static bool answer_memory(Worker *w, const MessageHeader *header) {
    static u8 bytes[MEMORY_MAX];
    MemRequest ask;
    if (header->size != sizeof(ask) || !w->file)
        return false;
    memcpy(&ask, w->connection.buffer, sizeof(ask));
    bool writable;
    MemReply reply = {.size = (u32)file_memory(w->file, ask.addr, bytes, ask.size < MEMORY_MAX ? ask.size : MEMORY_MAX, &writable)};
    reply.writable = writable;
    return connection_send(&w->connection, C_MEMBUF, &reply, sizeof(reply), bytes, reply.size);
}

WorkerEvent worker_receive(Worker *w, ObjectMessage *facts, const void **object) {
    MessageHeader header;
    if (!connection_receive(&w->connection, &header))
        return WORKER_LOST;
    if (header.type == S_INIT)
        return WORKER_BUSY;
    if (header.type == S_MEMREQ)
        return answer_memory(w, &header) ? WORKER_BUSY : WORKER_LOST;
    if (header.type != S_OBJECT || header.size < sizeof(*facts))
        return WORKER_LOST;
    memcpy(facts, w->connection.buffer, sizeof(*facts));
    *object = w->connection.buffer + sizeof(*facts);
    w->answers++;
    return header.size == sizeof(*facts) + facts->object_size ? WORKER_ANSWER : WORKER_LOST;
}

void worker_stop(Worker *w, bool at_once) {
    if (w->connection.fd > 0)
        close(w->connection.fd);
    w->connection.fd = -1;
    if (w->pid > 0) {
        if (at_once)
            kill(w->pid, SIGKILL);
        waitpid(w->pid, NULL, 0);
    }
    w->pid = 0;
}
