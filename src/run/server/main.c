/* main.c: lathe-server: serves one client until it is gone, or waits for clients as a daemon.
 *
 *     lathe-server --fd=N        a client on a socket, as lathe run starts it
 *     lathe-server --fd=N --plugin=FILE[,OPTIONS]          likewise, with a plugin
 *     lathe-server --stdio       a client on standard input and output, as ssh starts it
 *     lathe-server --listen=N --socket=PATH --build=DIGITS --idle=SECONDS --clients=COUNT [--ssh=HOST | --plugin=FILE[,OPTIONS]]
 *                                clients on a socket that listens, as lathe serve starts it */
#include <llvm-c/Support.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/cpu.h"
#include "cache/pack.h"
#include "codegen/target.h"
#include "host/host.h"
#include "run/server/plugin/plugin.h"
#include "run/server/server.h"
#include "run/server/shared.h"

enum { LOWEST_PRIORITY = 19 };
#define BACKGROUND_MIB "512" /* the most memory of a server in the background */

typedef struct Session {
    Connection connection;
    Watch *watch;
    Pages *pages;
    Translator *translator;
    PackWriter *writer; /* NULL: nothing is stored */
    Recent *recent;     /* NULL: nothing is stored */
    Shared *shared;     /* NULL: there is no shared cache */
    Plugin *plugin;     /* NULL: there is none */
    InitMessage init;
    LatheJit *jits[2];       /* without and with low_vectors; NULL: none is ready */
    const char *build;       /* what clients must call this server's code; NULL: anything */
    const char *plugin_word; /* FILE[,OPTIONS]; NULL: none */
    bool sources;            /* the client wants to know what objects were made from */
} Session;

static bool fail(Session *s, const char *text) {
    connection_send(&s->connection, S_ERROR, text, strlen(text), NULL, 0);
    return false;
}

/* A server loads what it was started for, not what a client names: whoever can speak to it would have it execute anything, and others use what it makes. The client may still be sending. */
static bool refuse_plugin(Session *s) {
    static const char changed[] = "that the program was started with is not there any more: the file has changed";
    MessageHeader header;
    if (!s->build) /* it was started for this client */
        connection_send(&s->connection, S_PLUGIN, changed, sizeof(changed) - 1, NULL, 0);
    else
        fail(s, s->plugin ? "the server is for programs with another plugin"
                          : "the server was not started for this plugin, as 'lathe serve --plugin' does");
    while (connection_receive(&s->connection, &header))
        ;
    return false;
}

/* For a client that compiles after its program's end. */
static void take_background(u32 seconds) {
    struct rlimit limit = {seconds, seconds};
    setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY);
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    setrlimit(RLIMIT_CPU, &limit);
    setenv("LATHE_LIMIT_MIB", BACKGROUND_MIB, false);
}

/* Code for another kind of machine is for any CPU of that kind, as the translator has it from the beginning. */
static void choose_jit(Session *s) {
    bool low = s->init.code.low_vectors;
    if (host_find((LatheHost)s->init.code.host) != host_own())
        return;
    if (s->init.cpu && s->init.cpu != cpu_kind())
        translator_use(s->translator, translator_jit_new(LATHE_HOST_OWN, target_common_cpu(), low));
    else if (s->jits[low])
        translator_use(s->translator, s->jits[low]);
}

static bool begin(Session *s) {
    MessageHeader header;
    InitMessage init;
    if (!connection_receive(&s->connection, &header) || header.type != C_INIT || header.size != sizeof(init))
        return fail(s, "expected C_INIT");
    memcpy(&init, s->connection.buffer, sizeof(init));
    if (init.version != PROTOCOL_VERSION || init.code.version != CODE_VERSION ||
        !lathe_arch_name((LatheArch)init.code.arch) || !host_find((LatheHost)init.code.host) ||
        init.code.opt > LATHE_OPT_MAX || init.code.memory > MEMORY_STRONG || init.cell_count > TOOL_COUNTS ||
        !memchr(init.cache_dir, 0, sizeof(init.cache_dir)))
        return fail(s, "client and server do not fit together");
    if (init.code.plugin != plugin_wanted(s->plugin))
        return refuse_plugin(s);
    if (s->build && strncmp((char *)init.code.reserved, s->build, sizeof(init.code.reserved)))
        return fail(s, "the server is of another build");
    s->init = init;
    if (init.background_s)
        take_background(init.background_s);
    s->sources = init.sources;
    s->pages = pages_new(&s->connection);
    s->translator = translator_new(&init, s->pages, s->plugin);
    choose_jit(s);
    s->writer = *init.cache_dir ? pack_writer_open(init.cache_dir) : NULL;
    s->recent = s->writer ? recent_new(init.cache_dir, s->pages) : NULL;
    InitReply reply = {.version = PROTOCOL_VERSION};
    return connection_send(&s->connection, S_INIT, &reply, sizeof(reply), NULL, 0);
}

static bool is_zero(const Key *k) {
    return !k->word[0] && !k->word[1];
}

static bool hash_guest(Session *s, const Translation *t, u64 *hash) {
    *hash = PACK_HASH_START;
    for (size_t i = 0; i < t->range_count; i++)
        if (!pack_hash_guest(hash, t->ranges[i].start, t->ranges[i].end, pages_read, s->pages))
            return false;
    return true;
}

/* If a function has no object beside quick code, that fact is stored, so that no other server has to find it out again. */
static void keep(Session *s, const TranslateMessage *request, const Translation *t) {
    u64 hash;
    PackFunction f = translate_function(request);
    bool in_pack = s->writer && !is_zero(&request->pack);
    if (!t->range_count || (!in_pack && !s->shared) || !hash_guest(s, t, &hash))
        return;
    if (in_pack)
        pack_append(s->writer, &f, t->ranges, t->range_count, hash, t->object, t->facts.object_size, t->facts.insns);
    if (t->facts.object_size)
        shared_keep(s->shared, request, t, hash);
}

/* For a client that stores objects itself. */
static void tell_source(Session *s, const Translation *t) {
    SourceMessage source = {.range_count = (u32)t->range_count};
    if (s->sources && t->facts.object_size && hash_guest(s, t, &source.guest_hash))
        connection_send(&s->connection, S_SOURCE, &source, sizeof(source), t->ranges,
                        t->range_count * sizeof(LatheRange));
}

/* A second attempt makes pieces that are so small that they need no limits. */
static void run_translator(Session *s, const TranslateMessage *request, Translation *t) {
    if (!request->again)
        bound_begin(&s->connection);
    if (!translator_run(s->translator, request, t))
        t->facts.object_size = 0;
    bound_end();
}

/* What all ranges of guest bytes lie in. */
static LatheRange span_of(const Translation *t) {
    LatheRange span = {t->facts.pc, t->facts.pc};
    for (size_t i = 0; i < t->range_count; i++) {
        span.start = t->ranges[i].start < span.start ? t->ranges[i].start : span.start;
        span.end = t->ranges[i].end > span.end ? t->ranges[i].end : span.end;
    }
    return span;
}

/* Its init may take as much as a request. */
static void start_plugin(Session *s) {
    if (!s->plugin)
        return;
    bound_begin(&s->connection);
    plugin_start(s->plugin, (LatheArch)s->init.code.arch);
    bound_end();
}

static bool translate(Session *s, u32 size) {
    TranslateMessage request;
    if (size != sizeof(request))
        return fail(s, "a translation request of the wrong size");
    memcpy(&request, s->connection.buffer, sizeof(request));
    if (request.base && (request.pc < request.base || request.pc >= request.end))
        return fail(s, "a translation request outside its module");
    Translation t;
    start_plugin(s);
    bool kept = recent_find(s->recent, &request, &t);
    if (!kept && !shared_find(s->shared, &request, &t))
        run_translator(s, &request, &t);
    PackFunction f = translate_function(&request);
    t.facts.inside = pack_is_inside(&f, t.ranges, t.range_count);
    t.facts.span = span_of(&t);
    tell_source(s, &t);
    watch_hold(s->watch); /* the client may end as soon as it has the answer */
    bool ok = !pages_lost(s->pages) &&
              connection_send(&s->connection, S_OBJECT, &t.facts, sizeof(t.facts), t.object, t.facts.object_size);
    if (ok && !kept)
        keep(s, &request, &t);
    recent_release(s->recent);
    watch_release(s->watch);
    translation_free(&t);
    return ok;
}

static bool share(Session *s, u32 size) {
    SharedMessage message;
    if (size != sizeof(message) || s->shared)
        return fail(s, "a shared cache that makes no sense");
    memcpy(&message, s->connection.buffer, sizeof(message));
    s->shared = shared_new(&message, &s->init, &s->connection, s->pages);
    return true;
}

static bool answer(Session *s, const MessageHeader *header) {
    if (header->type == C_TRANSLATE)
        return translate(s, header->size);
    if (header->type == C_SHARED)
        return share(s, header->size);
    if (header->type == C_TOOL)
        return translator_watch(s->translator, s->connection.buffer, header->size) ? true
                                                                                   : fail(s, "a tool that is none");
    return fail(s, "a message that has no place here");
}

static void serve(Session *s) {
    MessageHeader header;
    while (connection_receive(&s->connection, &header) && answer(s, &header))
        ;
}

/* Where a guest pushes or pops several registers, LLVM would copy them as vectors between its stack and the guest
 * state. A vector load of values that were stored one by one cannot be forwarded by the CPU: callers of malloc ran at
 * half speed. The alignment makes loops begin at a cache line: a loop of 30 bytes that crosses a line takes up to 1.7
 * times as long. The pass that moves values to mask registers, on CPUs that have them, took half of the time to generate code for functions of
 * some thousand instructions, and changed nothing in them. */
static void set_llvm_options(void) {
    static const char *const options[] = {"lathe-server", "-combiner-store-merging=false",
                                          "-x86-experimental-pref-innermost-loop-alignment=6",
                                          "-disable-x86-domain-reassignment"};
    LLVMParseCommandLineOptions(ARRAY_LEN(options), options, NULL);
}

static int run_session(Session s) {
    s.plugin = plugin_new(s.plugin_word, &s.connection);
    s.watch = s.plugin ? NULL : watch_new(s.connection.fd); /* a plugin has something to do at the end */
    if (begin(&s))
        serve(&s);
    plugin_finish(s.plugin);
    if (s.writer)
        pack_writer_close(s.writer);
    recent_free(s.recent);
    shared_free(s.shared);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- the command line */

typedef struct Arguments {
    int fd, listener;
    bool stdio;
    const char *socket, *build, *ssh, *plugin;
    u32 idle_s, clients;
    LatheJit *jits[2]; /* made by the daemon */
} Arguments;

static const char *value_of(const char *word, const char *name) {
    size_t len = strlen(name);
    return strncmp(word, name, len) ? NULL : word + len;
}

static bool parse_word(Arguments *a, const char *word) {
    const char *v;
    if ((v = value_of(word, "--fd=")))
        a->fd = atoi(v);
    else if ((v = value_of(word, "--listen=")))
        a->listener = atoi(v);
    else if ((v = value_of(word, "--idle=")))
        a->idle_s = (u32)atoi(v);
    else if ((v = value_of(word, "--clients=")))
        a->clients = (u32)atoi(v);
    else if ((v = value_of(word, "--socket=")))
        a->socket = v;
    else if ((v = value_of(word, "--build=")))
        a->build = v;
    else if ((v = value_of(word, "--ssh=")))
        a->ssh = v;
    else if ((v = value_of(word, "--plugin=")))
        a->plugin = v;
    else
        return a->stdio = !strcmp(word, "--stdio");
    return true;
}

static bool parse(Arguments *a, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (!parse_word(a, argv[i]))
            return false;
    bool daemon = a->listener > 0 && a->socket && a->build && a->idle_s && a->clients;
    return (a->fd > 0) + a->stdio + daemon == 1;
}

static int serve_copy(void *user, int fd) {
    const Arguments *a = user;
    if (a->ssh)
        return relay_run(fd, a->ssh, a->build, a->idle_s);
    return run_session(
        (Session){.connection.fd = fd, .build = a->build, .plugin_word = a->plugin, .jits = {a->jits[0], a->jits[1]}});
}

static int run_daemon(Arguments *a) {
    DaemonConfig config = {a->listener, a->socket, a->idle_s, a->clients, serve_copy, a};
    if (!a->ssh)
        warm_jits_new(a->jits);
    daemon_run(&config);
    for (size_t i = 0; !a->ssh && i < ARRAY_LEN(a->jits); i++)
        lathe_jit_free(a->jits[i]);
    return 0;
}

int main(int argc, char **argv) {
    Arguments a = {0};
    if (!parse(&a, argc, argv)) {
        fprintf(stderr, "lathe-server is started by lathe run and lathe serve\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* the guest may have a limit of file sizes; then files of the cache are not written */
    umask(022);               /* the guest's umask must not apply to files of the cache */
    set_llvm_options();
    if (a.listener)
        return run_daemon(&a);
    return run_session((Session){.connection = {.fd = a.fd, .out = a.stdio ? 1 : 0}, .plugin_word = a.plugin});
}
