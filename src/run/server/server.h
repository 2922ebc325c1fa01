/* server.h: the process that translates: one connection, its client's guest memory by page, and LLVM.
 *
 * It serves one client on a descriptor it was given (main.c), or many on a socket, each by a copy of itself (daemon.c). A copy
 * can also hand everything on to a server on another machine, and keep what comes back here (relay.c). */
#ifndef RUN_SERVER_H
#define RUN_SERVER_H

#include "base/base.h"
#include "ir/tuning.h"
#include "lathe/lift.h"
#include "run/protocol/connection.h"

/* watch.c: the process ends when the peer of fd is gone, but not between hold and release. */
typedef struct Watch Watch;
Watch *watch_new(int fd);
void watch_hold(Watch *w);
void watch_release(Watch *w);

/* bound.c: between these two, the process ends if it takes too much CPU time or memory, and tells the client so. */
void bound_begin(const Connection *c);
void bound_end(void);

/* pages.c: what is known of the client's guest memory. */
typedef struct Pages Pages;
Pages *pages_new(Connection *c);
void pages_free(Pages *p);
/* From now on reads are for this request: pages of a module that has not changed since are kept, all others forgotten. */
void pages_begin(Pages *p, const TranslateMessage *request);
size_t pages_read(void *pages, u64 addr, void *buf, size_t size); /* a LatheReadMemory */
bool pages_lost(const Pages *p);                                  /* the connection failed while reading */

/* translate.c: guest code to an object. */
typedef struct Translator Translator;
typedef struct Translation {
    ObjectMessage facts;
    void *object;             /* malloc'ed; NULL: there is none */
    const LatheRange *ranges; /* guest bytes it was made from; until translation_free */
    size_t range_count;
    LatheFunc *fn;
} Translation;

Translator *translator_new(const CodeConfig *config, u32 dump, Pages *pages); /* dump: DUMP_* bits */
void translator_free(Translator *t);
void translator_use(Translator *t, LatheJit *jit); /* instead of one for this CPU; takes it */
/* A compiler as translators need it; cpu NULL: this one. low_vectors: of CodeConfig. */
LatheJit *translator_jit_new(const char *cpu, bool low_vectors);
bool translator_run(Translator *t, const TranslateMessage *request, Translation *out);
void translation_free(Translation *t);

/* build.c: a hash that servers have in common if they make the same code; portable: for any CPU. False: this one has no build id. */
bool build_identity(bool portable, u64 *hash);

/* guard.c: a function that goes on in `lifted` if the guest's bytes are still what they were, and has it translated anew
 * otherwise. NULL: they cannot be read. */
LLVMValueRef guard_build(LLVMValueRef lifted, const LatheConfig *cfg, u64 pc, const LatheRange *ranges, size_t count,
                         Pages *pages);

/* narrow.c: whether an object that LLVM made of a narrow function (func_vectors) keeps the guest's other vector registers. */
bool narrow_holds(const void *object, unsigned vectors);

/* recent.c: objects that other servers have put into the client's packs meanwhile. All functions may be given NULL. */
typedef struct Recent Recent;
Recent *recent_new(const char *cache_dir, Pages *pages);
/* The object for a request, as translator_run would give it; `ranges` until the next call. If another server is at work on it, this
 * waits for a while. False: others wait for this server, until it releases what it then has kept. */
bool recent_find(Recent *r, const TranslateMessage *request, Translation *out);
void recent_release(Recent *r);
void recent_free(Recent *r);

/* daemon.c: a process that waits for clients, and makes a copy of itself for each. */
typedef struct DaemonConfig {
    int listener;
    const char *path; /* of its socket, which is removed at the end */
    u32 idle_s;       /* without clients for so long, it ends; a client that asks nothing for so long loses its copy */
    u32 clients;      /* at most, at a time */
    int (*serve)(void *user, int fd); /* in the copy; its result is the copy's exit status */
    void *user;
} DaemonConfig;

enum { DAEMON_ENDS = 3 };                    /* an exit status: the others cannot be served, either */
void daemon_run(const DaemonConfig *config); /* until it is idle or gets SIGTERM */

/* warm.c: jits without and with low_vectors that have done once what they do for every function, so that copies of this process find all
 * in memory. */
void warm_jits_new(LatheJit *jits[2]);

/* relay.c: a connection is handed on to the server that `ssh HOST lathe serve --stdio` gives. Objects are kept here, in the
 * client's cache directory. */
int relay_run(int fd, const char *host, const char *build, u32 idle_s);

/* order.c: keeps LLVM from making more of the guest's memory than this order allows. */
void order_keep(LLVMValueRef fn, LLVMContextRef ctx, MemoryOrder order);

/* dump.c: files for people. Failures have no effect. */
void dump_module(LLVMModuleRef mod, const char *name, const char *kind);
void dump_object(const void *object, size_t size, const char *name);

/* lookup.c: the inlined search for translated code. */
LLVMValueRef lookup_build(LLVMModuleRef mod, const LatheConfig *cfg);

#endif
