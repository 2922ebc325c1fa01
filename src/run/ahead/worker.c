/* worker.c: a server at work on guest files: this is its client, which has no guest but knows the files.
 *
 * The server is the one of `lathe run`. It has no cache: it tells what objects are made from, and they are kept here.
 * It ends by itself when its socket is closed. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/ahead/ahead.h"

enum { SOCKET_THERE = 3, MEMORY_MAX = 1 << 16 };

/* In the child. In a group of its own: an interrupt from the terminal is for its parent, and no death of a server. */
_Noreturn static void become_server(const char *server, int socket) {
    setpgid(0, 0);
    dup2(socket, SOCKET_THERE);
    execl(server, server, "--fd=3", (char *)NULL);
    _exit(127);
}

static bool greet(Worker *w, const AheadPlan *plan) {
    InitMessage init = {.version = PROTOCOL_VERSION, .code = plan->config, .sources = true};
    init.code.opt = plan->opt;
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
    if (!make_sockets(pair))
        return false;
    w->pid = fork();
    if (w->pid == 0)
        become_server(plan->server, pair[1]);
    close(pair[1]);
    w->connection.fd = pair[0];
    w->answers = 0;
    if (w->pid > 0 && greet(w, plan))
        return true;
    worker_stop(w, true);
    return false;
}

bool worker_ask(Worker *w, AheadFile *f, u64 off, bool again) {
    w->request = (TranslateMessage){
        .pc = f->base + off,
        .base = f->base,
        .end = f->end,
        .position_independent = f->position_independent,
        .changing_data = f->changing_data,
        .again = again,
        .pack = f->pack,
    };
    w->file = f;
    w->off = off;
    w->since_ms = ahead_now_ms();
    w->has_source = false;
    return connection_send(&w->connection, C_TRANSLATE, &w->request, sizeof(w->request), NULL, 0);
}

static bool answer_memory(Worker *w, const MessageHeader *header) {
    u8 bytes[MEMORY_MAX];
    MemRequest ask;
    if (header->size != sizeof(ask) || !w->file)
        return false;
    memcpy(&ask, w->connection.buffer, sizeof(ask));
    bool writable;
    u32 size = ask.size < MEMORY_MAX ? ask.size : MEMORY_MAX;
    MemReply reply = {.size = (u32)file_memory(w->file, ask.addr, bytes, size, &writable)};
    reply.writable = writable;
    return connection_send(&w->connection, C_MEMBUF, &reply, sizeof(reply), bytes, reply.size);
}

static bool take_source(Worker *w, const MessageHeader *header) {
    SourceMessage source;
    if (header->size < sizeof(source))
        return false;
    memcpy(&source, w->connection.buffer, sizeof(source));
    size_t size = source.range_count * sizeof(LatheRange);
    if (header->size != sizeof(source) + size)
        return false;
    w->ranges.len = 0;
    VEC_RESERVE(&w->ranges, source.range_count + 1);
    memcpy(w->ranges.at, w->connection.buffer + sizeof(source), size);
    w->ranges.len = source.range_count;
    w->guest_hash = source.guest_hash;
    w->has_source = true;
    return true;
}

WorkerEvent worker_receive(Worker *w, ObjectMessage *facts, const void **object) {
    MessageHeader header;
    if (!connection_receive(&w->connection, &header))
        return WORKER_LOST;
    if (header.type == S_INIT || header.type == S_WARNING)
        return WORKER_BUSY;
    if (header.type == S_SOURCE)
        return take_source(w, &header) ? WORKER_BUSY : WORKER_LOST;
    if (header.type == S_MEMREQ)
        return answer_memory(w, &header) ? WORKER_BUSY : WORKER_LOST;
    if (header.type != S_OBJECT || header.size < sizeof(*facts))
        return WORKER_LOST;
    memcpy(facts, w->connection.buffer, sizeof(*facts));
    *object = w->connection.buffer + sizeof(*facts);
    w->answers++;
    return header.size == sizeof(*facts) + facts->object_size ? WORKER_ANSWER : WORKER_LOST;
}

void worker_keep(Worker *w, PackWriter *writer, const ObjectMessage *facts, const void *object) {
    PackFunction f = translate_function(&w->request);
    if (w->has_source)
        pack_append(writer, &f, w->ranges.at, w->ranges.len, w->guest_hash, object, facts->object_size, facts->insns);
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

void worker_free(Worker *w) {
    worker_stop(w, false);
    mem_free(w->connection.buffer);
    VEC_FREE(&w->ranges);
}
