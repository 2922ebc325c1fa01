/* remote.c: the client's side of the protocol, and the server's life.
 *
 * Translations are requested from the user's daemon (lathe serve), if there is one. Otherwise a server is started: by the keeper
 * (keeper.c), if the guest has given up rights that a server needs, or directly (spawn.c). If a server dies, a second one is asked the same.
 * The third one is asked for a translation that takes little time and memory (TranslateMessage.again), and so is the next one after a
 * server that has reached its limits.
 *
 * A connection serves one request at a time, so there are several: as many as threads ask at once, and at most one per processor. A
 * process of its own in the same memory (a vfork child) has its own descriptors, and a connection in its Thread. */
#include "run/client/core/client.h"

#include <asm/resource.h>

#include "cache/pack.h"
#include "run/client/code/server/hidden.h"
#include "run/client/code/server/remote.h"
#include "run/client/code/server/spawn.h"
#include "run/client/core/events.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"
#include "run/client/tool/sites.h"
#include "run/protocol/message.h"

/* These are in headers that belong to libc or cannot be used together with it. */
enum { AF_UNIX = 1, SOCK_STREAM = 1, SOCK_CLOEXEC = O_CLOEXEC, SOCK_NONBLOCK = O_NONBLOCK, MSG_NOSIGNAL = 0x4000 };
enum { SOL_SOCKET = 1, SO_PEERCRED = 17 };

enum {
    PATIENCE_US = 10000000
}; /* how long to wait for a daemon that does not answer C_INIT: it may have hundreds of clients on a busy machine */
enum {
    CONNECTIONS = REMOTES_MAX,
    REPLY_BYTES = 1 << 16 /* the least size of the buffer, and the most guest memory in one message */
};

static Remote connections[CONNECTIONS]; /* remote_begin uses the first one */
static u32 listener;                    /* the thread that gets signals when messages arrive at that one */

/* ----------------------------------------------------------------------------------------------------------- messages */

static bool write_all(int fd, const void *buf, u64 size) {
    const u8 *at = buf;
    while (size) {
        i64 n = sys_sendto(fd, at, size, MSG_NOSIGNAL);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (u64)n;
    }
    return true;
}

static bool send(Remote *r, MessageType type, const void *a, u64 a_size, const void *b, u64 b_size) {
    MessageHeader header = message_header(type, a, a_size, b, b_size);
    return write_all(r->fd, &header, sizeof(header)) && write_all(r->fd, a, a_size) && write_all(r->fd, b, b_size);
}

void remote_free(Remote *r) {
    if (r->data)
        sys_pages_free(r->data, r->capacity);
    r->data = NULL;
    r->capacity = 0;
}

/* A daemon, or what is between it and here, that sends something else than messages is not asked again, nor by children of this process. */
static bool note_damage(void) {
    if (*the.opt.socket)
        say("what the server at %s sends is damaged; a server is started here", the.opt.socket);
    *the.opt.socket = 0;
    return false;
}

static bool receive(Remote *r, MessageHeader *header) {
    if (!sys_read_all(r->fd, header, sizeof(*header)))
        return false;
    if (!message_is_header(header))
        return note_damage();
    if (header->size > r->capacity) {
        remote_free(r);
        r->capacity = ((u64)header->size + REPLY_BYTES - 1) & -(u64)REPLY_BYTES;
        r->data = sys_pages(r->capacity);
    }
    if (!r->data || !sys_read_all(r->fd, r->data, header->size))
        return false;
    return message_is_whole(header, r->data) || note_damage();
}

/* Ends the process if the server says that the plugin has failed. The program must not run without the plugin instead. */
static void end_by_plugin(const Remote *r, const MessageHeader *header) {
    char why[1024];
    size_t size = header->size < sizeof(why) - 1 ? header->size : sizeof(why) - 1;
    if (header->type != S_PLUGIN)
        return;
    memcpy(why, r->data, size);
    why[size] = 0;
    die("the plugin %s", why);
}

/* A daemon that cannot serve this client says why. The reason is printed, and the daemon is not asked again. */
static void note_refusal(const Remote *r, const MessageHeader *header) {
    if (header->type != S_ERROR || !*the.opt.socket)
        return;
    char why[256];
    size_t size = header->size < sizeof(why) - 1 ? header->size : sizeof(why) - 1;
    memcpy(why, r->data, size);
    why[size] = 0;
    say("%s; a server is started here", why);
    *the.opt.socket = 0;
}

/* ---------------------------------------------------------------------------------------------------------- the server */

static void copy_word(char *to, size_t room, const char *from, size_t size) {
    if (size < room)
        memcpy(to, from, size);
}

static void name_secrets(SharedMessage *m) {
    const char *both = the.server.secret, *space = both;
    if (!both)
        return;
    while (*space && *space != ' ')
        space++;
    copy_word(m->key, sizeof(m->key), both, (size_t)(space - both));
    space += *space == ' ';
    copy_word(m->password, sizeof(m->password), space, strlen(space));
}

/* Tells the server which cache it shares with others. */
static bool name_shared(Remote *r) {
    SharedMessage message = {.run = the.opt.first_pid};
    if (!*the.opt.shared)
        return true;
    memcpy(message.url, the.opt.shared, sizeof(message.url));
    name_secrets(&message);
    return send(r, C_SHARED, &message, sizeof(message), NULL, 0);
}

static void name_cells(InitMessage *init) {
    const ToolCounts *c = tool_counts();
    init->tool = (ToolOffsets){.counters = tool_cell(0, 0),
                               .self = offsetof(Thread, self),
                               .own = offsetof(Thread, tool.own),
                               .tid = offsetof(Thread, tid),
                               .inside = offsetof(Thread, tool.inside),
                               .crossings = offsetof(Thread, quick.crossings),
                               .known = offsetof(Thread, tool.known)};
    init->cell_count = c->count;
    for (u32 i = 0; i < c->count; i++)
        init->cells[i] = (ToolCell){tool_cell(c->add[i].counter, 0), c->add[i].amount};
}

static bool hand_over_tool(Remote *r) {
    u64 size;
    const void *package = tool_package(&size);
    return !package || send(r, C_TOOL, package, size, NULL, 0);
}

static bool greet(Remote *r) {
    InitMessage init = {.version = PROTOCOL_VERSION,
                        .dump = the.opt.dump,
                        .code = the.opt.code,
                        .background_s = the.server.background_s};
    memcpy(init.cache_dir, the.opt.cache_dir, sizeof(init.cache_dir));
    name_cells(&init);
    r->kind = pack_key_kind(&init.code);
    /* its answer comes before all others */
    return send(r, C_INIT, &init, sizeof(init), NULL, 0) && hand_over_tool(r) && name_shared(r);
}

static void disconnect(Remote *r) {
    if (r->open)
        sys_close(r->fd);
    r->open = false;
}

static void open_as(Remote *r, int fd) {
    r->fd = hidden_place(fd);
    r->open = true;
}

/* A connection whose daemon has ended is closed here, so that the next request does not count it as a failure. It is
 * also closed if the kind of code has changed, because a server makes code of one kind. */
static bool is_connected(Remote *r) {
    struct pollfd state = {.fd = r->fd, .events = POLLRDHUP};
    if (r->kind != pack_key_kind(&the.opt.code))
        disconnect(r);
    if (r->open && sys_poll(&state, 1, 0) > 0 && state.revents & (POLLRDHUP | POLLHUP | POLLERR))
        disconnect(r);
    return r->open;
}

/* The guest may have set a low limit of descriptors, which is raised for a moment: it does not apply to the client's. */
static bool open_pair(int pair[2]) {
    Limit guests, most;
    i64 error = sys_socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
    if (error != -EMFILE || sys_prlimit(RLIMIT_NOFILE, NULL, &guests.soft))
        return !error;
    most = (Limit){guests.hard, guests.hard};
    sys_prlimit(RLIMIT_NOFILE, &most.soft, NULL);
    error = sys_socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
    sys_prlimit(RLIMIT_NOFILE, &guests.soft, NULL);
    return !error;
}

static bool start_server(Thread *t, Remote *r) {
    int pair[2];
    if (!*the.opt.server_path || !open_pair(pair))
        return false;
    bool ok = keeper_start_server(t, pair[1]) || spawn_server_beside(pair[1]);
    the.stats.servers += ok;
    sys_close(pair[1]);
    open_as(r, pair[0]);
    if (ok && greet(r))
        return true;
    disconnect(r);
    return false;
}

/* ---------------------------------------------------------------------------------------------------------- the daemon */

/* Checks that the process that listens belongs to this user: the directory of the socket may have been replaced. */
static bool is_ours(int fd) {
    struct {
        u32 pid, uid, gid;
    } peer = {0};
    u32 size = sizeof(peer);
    i64 error = sys5(__NR_getsockopt, (u64)fd, SOL_SOCKET, SO_PEERCRED, (u64)&peer, (u64)&size);
    return !error && peer.uid == (u32)sys_geteuid();
}

/* Never waits: a daemon whose queue is full is of no help. */
static i64 open_socket(void) {
    struct {
        u16 family;
        char path[sizeof(the.opt.socket)];
    } address = {AF_UNIX, {0}};
    memcpy(address.path, the.opt.socket, sizeof(address.path));
    i64 fd = sys3(__NR_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fd;
    if (!sys3(__NR_connect, (u64)fd, (u64)&address, sizeof(address)) && is_ours((int)fd) &&
        !sys_fcntl((int)fd, F_SETFL, O_RDWR))
        return fd;
    sys_close((int)fd);
    return -1;
}

static bool is_greeted(Remote *r) {
    struct pollfd ready = {.fd = r->fd, .events = POLLIN};
    u64 end = sys_now_us() + PATIENCE_US;
    MessageHeader header;
    for (u64 now; (now = sys_now_us()) < end;) {
        i64 count = sys_poll(&ready, 1, (int)((end - now) / 1000 + 1));
        if (count < 0 && count != -EINTR)
            return false;
        if (count <= 0)
            continue;
        if (!receive(r, &header))
            return false;
        note_refusal(r, &header);
        return header.type == S_INIT;
    }
    *the.opt.socket = 0; /* the daemon is not asked again, nor by children of this process */
    return false;
}

static bool join_daemon(Remote *r) {
    i64 fd = *the.opt.socket ? open_socket() : -1;
    if (fd < 0)
        return false;
    open_as(r, (int)fd);
    if (greet(r) && is_greeted(r))
        return true;
    disconnect(r);
    return false;
}

static bool connect_server(Thread *t, Remote *r) {
    return is_connected(r) || join_daemon(r) || start_server(t, r);
}

/* --------------------------------------------------------------------------------------------------- the connections */

u32 remote_processors(void) {
    u64 mask[16] = {0};
    u32 count = 0;
    sys3(__NR_sched_getaffinity, 0, sizeof(mask), (u64)mask);
    for (u32 i = 0; i < ARRAY_LEN(mask); i++)
        count += (u32)__builtin_popcountll(mask[i]);
    return count ? count : 1;
}

/* True if no thread uses the connection, or the thread that used it was killed. */
static bool is_idle(Remote *r) {
    if (r->user && sys_tkill(r->user, 0) == -ESRCH) {
        disconnect(r); /* the thread may have been killed in the middle of a message */
        r->user = 0;
    }
    return !r->user;
}

Remote *remote_take(Thread *t) {
    if (t->process.own_files)
        return &t->server.remote;
    Remote *found = NULL;
    u32 count = remote_processors();
    for (u32 i = 0; i < count && i < CONNECTIONS && !(found && found->open); i++)
        if (is_idle(&connections[i]) && (!found || connections[i].open))
            found = &connections[i];
    if (found)
        found->user = t->tid;
    return found;
}

void remote_give(Remote *r) {
    r->user = 0;
}

void remote_end(void) {
    disconnect(connections);
}

/* In a process that had descriptors of its own, these numbers belong to other files, so they are not closed. */
void remote_after_fork(Thread *t) {
    disconnect(&t->server.remote);
    for (u32 i = 0; i < CONNECTIONS; i++) {
        connections[i].open &= !t->process.own_files;
        disconnect(&connections[i]);
        connections[i].user = 0;
    }
}

Remote *remote_no(Thread *t, u32 index) {
    if (t->process.own_files)
        return index ? NULL : &t->server.remote;
    return &connections[index];
}

bool remote_is_busy(Thread *t, u32 index) {
    return !t->process.own_files && !is_idle(&connections[index]);
}

/* ----------------------------------------------------------------------------------------------------------- requests */

static bool answer_memory(Remote *r, const MessageHeader *header) {
    MemRequest ask;
    if (header->size != sizeof(ask))
        return false;
    memcpy(&ask, r->data, sizeof(ask));
    bool writable = false;
    u64 size = ask.size < REPLY_BYTES ? ask.size : REPLY_BYTES;
    MemReply facts = {0};
    facts.size = (u32)space_read(ask.addr, r->data, size, &writable);
    facts.writable = writable;
    return send(r, C_MEMBUF, &facts, sizeof(facts), r->data, facts.size);
}

static bool answer_places(Remote *r, const MessageHeader *header) {
    u64 word;
    if (header->size % sizeof(word) || header->size > PLACES_MAX * sizeof(word))
        return false;
    for (u32 off = 0; off < header->size; off += (u32)sizeof(word)) {
        memcpy(&word, r->data + off, sizeof(word));
        word = sites_hooks_at(word);
        memcpy(r->data + off, &word, sizeof(word));
    }
    return send(r, C_PLACES, r->data, header->size, NULL, 0);
}

/* Handles messages that are no answer to a request. Returns false for other messages. */
static bool is_aside(Remote *r, const MessageHeader *header) {
    char line[1024];
    if (header->type == S_WARNING && header->size && header->size < r->capacity) {
        r->data[header->size] = 0;
        sys_write_all(the.stats_fd, line, format_text(line, sizeof(line), "lathe: %s\n", (char *)r->data));
    }
    return header->type == S_INIT || header->type == S_WARNING;
}

/* Receives one message of the server: an object with its facts, a message that is no answer, or the end of the
 * connection. */
static RemoteAnswer take_message(Remote *r, ObjectMessage *facts) {
    MessageHeader header;
    if (!receive(r, &header))
        return REMOTE_LOST;
    note_refusal(r, &header);
    end_by_plugin(r, &header);
    if (header.type == S_OBJECT && header.size >= sizeof(*facts)) {
        memcpy(facts, r->data, sizeof(*facts));
        the.stats.shared += facts->shared;
        bool fits = facts->pc == r->pc && header.size == sizeof(*facts) + facts->object_size;
        return fits || note_damage() ? REMOTE_OBJECT : REMOTE_LOST;
    }
    if (header.type == S_LIMIT)
        return REMOTE_LIMIT;
    bool ok = header.type == S_MEMREQ   ? answer_memory(r, &header)
              : header.type == S_PLACES ? answer_places(r, &header)
                                        : is_aside(r, &header);
    return ok ? REMOTE_NOTHING : REMOTE_LOST;
}

/* The object of the last answer; NULL: there is none, because the code cannot be translated. */
static const void *taken_object(const Remote *r, const ObjectMessage *facts) {
    return facts->object_size ? r->data + sizeof(*facts) : NULL;
}

static bool send_request(Remote *r, const TranslateMessage *request) {
    r->pc = request->pc;
    return send(r, C_TRANSLATE, request, sizeof(*request), NULL, 0);
}

/* Sends one request and waits for its answer. */
static RemoteAnswer ask(Remote *r, const TranslateMessage *request, ObjectMessage *facts) {
    if (!send_request(r, request))
        return REMOTE_LOST;
    RemoteAnswer answer;
    do
        answer = take_message(r, facts);
    while (answer == REMOTE_NOTHING);
    return answer;
}

TranslateMessage remote_request(u64 pc, const Module *m) {
    TranslateMessage request = {.pc = pc};
    if (m) {
        request.base = m->base;
        request.end = m->end;
        request.position_independent = m->position_independent;
        request.changing_data = m->changing_data;
        request.changes = m->changes;
        if (!the.opt.no_cache)
            request.pack = m->pack;
    }
    return request;
}

bool remote_translate(Thread *t, Remote *r, TranslateMessage request, ObjectMessage *facts, const void **object) {
    bool started = false;
    for (int try = 0; try < 3 && connect_server(t, r); try++) {
        started = true;
        RemoteAnswer answer = ask(r, &request, facts);
        if (answer == REMOTE_OBJECT) {
            *object = taken_object(r, facts);
            return true;
        }
        disconnect(r);
        request.again = try > 0 || answer == REMOTE_LIMIT;
    }
    if (started)
        say("the translation server has failed three times for the code at %lx", request.pc);
    else if (!keeper_descriptor(t)) /* a guest that has given up rights expects no message about it */
        say("cannot start the translation server %s", the.opt.server_path);
    *facts = (ObjectMessage){.pc = request.pc};
    return false;
}

/* ------------------------------------------------------------------------------------------------------- without waiting */

/* Makes the kernel send this thread, and no other, a signal when a message of the server arrives. */
static void announce(const Thread *t) {
    enum { SET_OWNER = 15, SET_SIGNAL = 10 };
    struct {
        i32 type, pid;
    } owner = {0, (i32)t->tid};
    sys_fcntl(connections->fd, SET_OWNER, (u64)&owner);
    sys_fcntl(connections->fd, SET_SIGNAL, TIER_SIGNAL);
    sys_fcntl(connections->fd, F_SETFL, O_RDWR | FASYNC);
    listener = t->tid;
}

void remote_silence(void) {
    if (connections->open)
        sys_fcntl(connections->fd, F_SETFL, O_RDWR);
    listener = 0;
}

bool remote_begin(Thread *t, u64 pc, const Module *m, bool again) {
    TranslateMessage request = remote_request(pc, m);
    request.again = again;
    if (!connect_server(t, connections))
        return false;
    announce(t);
    if (send_request(connections, &request))
        return true;
    disconnect(connections);
    return false;
}

static bool has_message(void) {
    struct pollfd ready = {.fd = connections->fd, .events = POLLIN};
    return sys_poll(&ready, 1, 0) > 0;
}

void remote_wait(void) {
    struct pollfd ready = {.fd = connections->fd, .events = POLLIN};
    if (connections->open)
        sys_poll(&ready, 1, -1);
}

RemoteAnswer remote_poll(Thread *t, ObjectMessage *facts, const void **object) {
    if (connections->open && listener != t->tid)
        announce(t);
    while (connections->open && has_message())
        switch (take_message(connections, facts)) {
        case REMOTE_NOTHING:
            break;
        case REMOTE_LOST:
            disconnect(connections);
            break;
        case REMOTE_LIMIT:
            disconnect(connections);
            return REMOTE_LIMIT;
        case REMOTE_OBJECT:
            *object = taken_object(connections, facts);
            return REMOTE_OBJECT;
        }
    return connections->open ? REMOTE_NOTHING : REMOTE_LOST;
}
