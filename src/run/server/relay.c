/* relay.c: connects a client on this machine with a server on another one (the far server).
 *
 * Messages are passed on unchanged, except for the greeting: the far server is told to store nothing, to say what each object was made
 * from, and for which CPU to compile. Objects are stored here, because the guest's files and the cache are here. The relay itself answers
 * the client's greeting at once, since ssh may take long. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cache/cpu.h"
#include "cache/pack.h"
#include "run/server/server.h"

typedef struct Relay {
    Connection client, far;
    const char *host;
    PackWriter *writer; /* NULL: nothing is stored */
    TranslateMessage request;
    SourceMessage source; /* belongs to the next object */
    VEC(LatheRange) ranges;
    bool far_speaks; /* the far server has answered at least once */
    bool client_gone;
} Relay;

static bool fail(Relay *r, const char *text) {
    connection_send(&r->client, S_ERROR, text, strlen(text), NULL, 0);
    return false;
}

/* BatchMode: there is nobody to ask for a password. ServerAliveInterval makes ssh end if the line is dead. */
_Noreturn static void become_ssh(int fd, const char *host) {
    signal(SIGPIPE, SIG_DFL);
    dup2(fd, 0);
    dup2(fd, 1);
    execlp("ssh", "ssh", "-T", "-oBatchMode=yes", "-oConnectTimeout=10", "-oServerAliveInterval=15", "--", host,
           "lathe", "serve", "--stdio", NULL);
    _exit(127);
}

static bool start_far(Relay *r) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return false;
    pid_t child = fork();
    if (child == 0)
        become_ssh(pair[1], r->host);
    close(pair[1]);
    r->far.fd = pair[0];
    return child > 0;
}

/* ------------------------------------------------------------------------------------------------------------ greeting */

static bool greet_client(Relay *r, const char *build, InitMessage *init) {
    MessageHeader header;
    if (!connection_receive(&r->client, &header) || header.type != C_INIT || header.size != sizeof(*init))
        return fail(r, "expected C_INIT");
    memcpy(init, r->client.buffer, sizeof(*init));
    if (init->version != PROTOCOL_VERSION || strncmp((char *)init->code.reserved, build, sizeof(init->code.reserved)) ||
        !memchr(init->cache_dir, 0, sizeof(init->cache_dir)))
        return fail(r, "the server is of another build");
    r->writer = *init->cache_dir ? pack_writer_open(init->cache_dir) : NULL;
    InitReply reply = {.version = PROTOCOL_VERSION};
    return connection_send(&r->client, S_INIT, &reply, sizeof(reply), NULL, 0);
}

static bool greet_far(Relay *r, InitMessage init) {
    init.dump = 0;
    init.cpu = cpu_kind();
    init.sources = 1;
    memset(init.cache_dir, 0, sizeof(init.cache_dir));
    return connection_send(&r->far, C_INIT, &init, sizeof(init), NULL, 0);
}

/* ------------------------------------------------------------------------------------------------------------ messages */

static void note_request(Relay *r, u32 size) {
    r->ranges.len = 0;
    if (size == sizeof(r->request))
        memcpy(&r->request, r->client.buffer, size);
}

static bool note_source(Relay *r, u32 size) {
    if (size < sizeof(r->source))
        return false;
    memcpy(&r->source, r->far.buffer, sizeof(r->source));
    size_t count = r->source.range_count;
    if (count > PACK_RANGES_MAX || size != sizeof(r->source) + count * sizeof(LatheRange))
        return false;
    r->ranges.len = 0;
    VEC_RESERVE(&r->ranges, count + 1);
    memcpy(r->ranges.at, r->far.buffer + sizeof(r->source), count * sizeof(LatheRange));
    r->ranges.len = count;
    return true;
}

static void keep(Relay *r, u32 size) {
    ObjectMessage facts;
    if (size < sizeof(facts) || !r->ranges.len)
        return;
    memcpy(&facts, r->far.buffer, sizeof(facts));
    PackFunction f = translate_function(&r->request);
    bool named = r->request.pack.word[0] || r->request.pack.word[1];
    if (named && facts.pc == r->request.pc && facts.object_size == size - sizeof(facts))
        pack_append(r->writer, &f, r->ranges.at, r->ranges.len, r->source.guest_hash, r->far.buffer + sizeof(facts),
                    facts.object_size, facts.insns);
    r->ranges.len = 0;
}

static bool from_client(Relay *r) {
    MessageHeader header;
    r->client_gone = !connection_receive(&r->client, &header);
    if (r->client_gone)
        return false;
    if (header.type == C_TRANSLATE)
        note_request(r, header.size);
    if (header.type == C_SHARED) /* names a cache as seen from this machine, and has a password */
        return true;
    return connection_send(&r->far, header.type, r->client.buffer, header.size, NULL, 0);
}

static bool from_far(Relay *r) {
    MessageHeader header;
    if (!connection_receive(&r->far, &header))
        return false;
    r->far_speaks = true;
    if (header.type == S_INIT)
        return true;
    if (header.type == S_SOURCE)
        return note_source(r, header.size);
    r->client_gone = !connection_send(&r->client, header.type, r->far.buffer, header.size, NULL, 0);
    if (header.type == S_OBJECT)
        keep(r, header.size);
    return !r->client_gone && header.type != S_ERROR;
}

/* Passes messages on until one of the two sides is gone, or both were silent for idle_s. */
static void hand_on(Relay *r, u32 idle_s) {
    for (;;) {
        struct pollfd ready[] = {{.fd = r->client.fd, .events = POLLIN}, {.fd = r->far.fd, .events = POLLIN}};
        int count = poll(ready, 2, (int)idle_s * 1000);
        r->client_gone = count == 0;
        if (count == 0 || (count > 0 && ready[1].revents && !from_far(r)))
            return;
        if (count > 0 && ready[0].revents && !from_client(r))
            return;
    }
}

/* If a socket is closed while it has unread data, its peer loses the last message. So the client's messages are read
 * until it has closed. */
static void part(Relay *r) {
    enum { PATIENCE_MS = 2000 };
    char rest[4096];
    struct pollfd ready = {.fd = r->client.fd, .events = POLLIN};
    shutdown(r->client.fd, SHUT_WR);
    while (poll(&ready, 1, PATIENCE_MS) > 0 && read(r->client.fd, rest, sizeof(rest)) > 0)
        ;
}

/* If the far server never answered, it cannot be reached for other clients either (DAEMON_ENDS). */
int relay_run(int fd, const char *host, const char *build, u32 idle_s) {
    Relay r = {.client.fd = fd, .host = host};
    InitMessage init;
    char text[256];
    if (!greet_client(&r, build, &init))
        return 0;
    if (start_far(&r) && greet_far(&r, init))
        hand_on(&r, idle_s);
    bool lost = !r.client_gone && !r.far_speaks;
    if (lost) {
        snprintf(text, sizeof(text), "no server by 'ssh %s lathe serve --stdio'", host);
        fail(&r, text);
        part(&r);
    }
    pack_writer_close(r.writer);
    return lost ? DAEMON_ENDS : 0;
}
