/* main.c: lathe-server: serves one client on a socket it was given, until the client is gone. */
#include <llvm-c/Support.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/cache/pack.h"
#include "run/server/server.h"

typedef struct Session {
    Connection connection;
    Watch *watch;
    Pages *pages;
    Translator *translator;
    PackWriter *writer; /* NULL: nothing is kept */
} Session;

static bool fail(Session *s, const char *text) {
    connection_send(&s->connection, S_ERROR, text, strlen(text), NULL, 0);
    return false;
}

static bool begin(Session *s) {
    MessageHeader header;
    InitMessage init;
    if (!connection_receive(&s->connection, &header) || header.type != C_INIT || header.size != sizeof(init))
        return fail(s, "expected C_INIT");
    memcpy(&init, s->connection.buffer, sizeof(init));
    if (init.version != PROTOCOL_VERSION || init.code.version != CODE_VERSION || init.code.arch != LATHE_ARCH_X86_64 ||
        init.code.opt > LATHE_OPT_MAX || !memchr(init.cache_dir, 0, sizeof(init.cache_dir)))
        return fail(s, "client and server do not fit together");
    s->pages = pages_new(&s->connection);
    s->translator = translator_new(&init.code, init.dump, s->pages);
    s->writer = *init.cache_dir ? pack_writer_open(init.cache_dir) : NULL;
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

static void keep(Session *s, const TranslateMessage *request, const Translation *t) {
    u64 hash;
    if (s->writer && !is_zero(&request->pack) && t->facts.object_size && hash_guest(s, t, &hash))
        pack_append(s->writer, request, t->ranges, t->range_count, hash, t->object, t->facts.object_size, t->facts.insns);
}

static bool translate(Session *s, u32 size) {
    TranslateMessage request;
    if (size != sizeof(request))
        return fail(s, "a translation request of the wrong size");
    memcpy(&request, s->connection.buffer, sizeof(request));
    if (request.base && (request.pc < request.base || request.pc >= request.end))
        return fail(s, "a translation request outside its module");
    Translation t;
    if (!translator_run(s->translator, &request, &t))
        t.facts.object_size = 0;
    watch_hold(s->watch); /* the client may end as soon as it has the answer */
    bool ok = !pages_lost(s->pages) &&
              connection_send(&s->connection, S_OBJECT, &t.facts, sizeof(t.facts), t.object, t.facts.object_size);
    if (ok)
        keep(s, &request, &t);
    watch_release(s->watch);
    translation_free(&t);
    return ok;
}

static void serve(Session *s) {
    MessageHeader header;
    while (connection_receive(&s->connection, &header)) {
        if (header.type != C_TRANSLATE) {
            fail(s, "a message that has no place here");
            return;
        }
        if (!translate(s, header.size))
            return;
    }
}

/* A guest that pushes or pops several registers makes LLVM copy them as vectors between its stack and the state. What was stored
 * one by one is then loaded at once, which the CPU cannot forward: malloc's callers ran at half speed. */
static void set_llvm_options(void) {
    static const char *const options[] = {"lathe-server", "-combiner-store-merging=false"};
    LLVMParseCommandLineOptions(ARRAY_LEN(options), options, NULL);
}

int main(int argc, char **argv) {
    if (argc != 2 || sscanf(argv[1], "--fd=%d", &(int){0}) != 1) {
        fprintf(stderr, "lathe-server is started by lathe run\n");
        return 2;
    }
    Session s = {.connection.fd = atoi(argv[1] + 5)};
    signal(SIGPIPE, SIG_IGN);
    set_llvm_options();
    s.watch = watch_new(s.connection.fd);
    if (begin(&s))
        serve(&s);
    if (s.writer)
        pack_writer_close(s.writer);
    return 0;
}
