/* server.h: the process that translates: one connection, the pages of its client's guest memory, and LLVM.
 *
 * It serves one client on a descriptor that it was given (main.c), or many on a socket, each by a forked copy of itself (daemon.c). A copy can
 * also pass everything on to a server on another machine, and store the answers here (relay.c). */
#ifndef RUN_SERVER_H
#define RUN_SERVER_H

#include "base/base.h"
#include "ir/tuning.h"
#include "lathe/lift.h"
#include "run/protocol/connection.h"
#include "site/events.h"

/* watch.c: ends the process when the peer of fd is gone, but not between hold and release. */
typedef struct Watch Watch;
Watch *watch_new(int fd);
void watch_hold(Watch *w); /* w may be NULL, here and below */
void watch_release(Watch *w);

/* bound.c: between these two calls, the process ends if it takes too much CPU time or memory, and tells the client so. */
void bound_begin(const Connection *c);
void bound_end(void);

/* pages.c: the known part of the client's guest memory. */
typedef struct Pages Pages;
Pages *pages_new(Connection *c);
void pages_free(Pages *p);
/* The following reads belong to this request. Pages of modules that have not changed are kept, all others are
 * forgotten. */
void pages_begin(Pages *p, const TranslateMessage *request);
size_t pages_read(void *pages, u64 addr, void *buf, size_t size); /* a LatheReadMemory */
Connection *pages_connection(const Pages *p);                     /* whoever has the memory */
bool pages_lost(const Pages *p);                                  /* the connection failed while reading */

/* translate.c: guest code to an object. */
typedef struct Translator Translator;
typedef struct Translation {
    ObjectMessage facts;
    void *object;             /* allocated by malloc; NULL: there is none */
    const LatheRange *ranges; /* the guest bytes it was made from; valid until translation_free */
    size_t range_count;
    LatheFunc *fn;
} Translation;

struct Plugin;
/* plugin: what changes lifted code (plugin.h); may be NULL. */
Translator *translator_new(const InitMessage *init, Pages *pages, struct Plugin *plugin);
void translator_free(Translator *t);
/* Code that it makes calls the functions of a tool from now on, whose package this is. False: it is none. */
bool translator_watch(Translator *t, const void *package, size_t size);
void translator_use(Translator *t, LatheJit *jit); /* replaces the jit for this CPU; takes ownership */
/* A compiler as translators need it, for that host. cpu NULL: this machine's CPU, or any of another host's kind. low_vectors: see CodeConfig. */
LatheJit *translator_jit_new(LatheHost host, const char *cpu, bool low_vectors);
bool translator_run(Translator *t, const TranslateMessage *request, Translation *out);
void translation_free(Translation *t);

/* build.c: computes a hash that servers have in common if they make the same code. portable: for any CPU. Returns false
 * if this server has no build id. */
bool build_identity(bool portable, u64 *hash);

/* guard.c: builds a function that continues in `lifted` if the guest's bytes are unchanged, and otherwise has them
 * translated anew. Returns NULL if the bytes cannot be read. */
LLVMValueRef guard_build(LLVMValueRef lifted, const LatheConfig *cfg, u64 pc, const LatheRange *ranges, size_t count,
                         Pages *pages);

/* narrow.c: true if an object that LLVM made from a narrow function (func_vectors) preserves the guest's other vector
 * registers. */
bool narrow_holds(const void *object, unsigned vectors);

/* recent.c: objects that other servers have put into the client's packs meanwhile. All functions accept NULL. */
typedef struct Recent Recent;
Recent *recent_new(const char *cache_dir, Pages *pages);
/* Finds the object for a request, in the form of translator_run's result; out->ranges are valid until the next call. If
 * another server is translating it, waits for a while. If the result is false, other servers wait for this one, until
 * it has stored its object and calls recent_release. */
bool recent_find(Recent *r, const TranslateMessage *request, Translation *out);
void recent_release(Recent *r);
void recent_free(Recent *r);

/* daemon.c: a process that waits for clients, and forks a copy of itself for each. */
typedef struct DaemonConfig {
    int listener;
    const char *path; /* the path of its socket, which is removed at the end */
    /* After so long without clients, the daemon ends. A client that sends no request for so long loses its copy. */
    u32 idle_s;
    u32 clients;                      /* the most clients at a time */
    int (*serve)(void *user, int fd); /* called in the copy; its result is the copy's exit status */
    void *user;
} DaemonConfig;

enum { DAEMON_ENDS = 3 };                    /* an exit status of a copy: other clients cannot be served either */
void daemon_run(const DaemonConfig *config); /* returns when it is idle or gets SIGTERM */

/* warm.c: makes jits without and with low_vectors that have once done everything they do for a function, so that copies
 * of this process find it all in memory. */
void warm_jits_new(LatheJit *jits[2]);

/* relay.c: passes a connection on to the server that `ssh HOST lathe serve --stdio` starts. Objects are stored here, in
 * the client's cache directory. */
int relay_run(int fd, const char *host, const char *build, u32 idle_s);

/* cut.c: of a function that begins at pc, about `most` instructions that belong together; their addresses go into `part`. */
void cut_choose(const LatheFunc *fn, u64 pc, u32 most, Map64 *part);

/* callees.c: small functions that are translated together with the decoded function `fn`, which calls them. cfg: how fn is lifted. [base, end): the file
 * that has them. All functions but the first accept NULL. */
typedef struct Callees Callees;
Callees *callees_choose(LatheFunc *fn, const LatheConfig *cfg, u64 base, u64 end);
void callees_lift(
    Callees *c); /* before fn is lifted; cfg->resolve is asked for them, and has them from callees_lifted */
LLVMValueRef callees_lifted(const Callees *c, u64 pc); /* NULL: the function at pc is not one of these */
/* The lifted ones, by index from 0 on; false: there are no more. */
bool callees_at(const Callees *c, size_t index, LLVMValueRef *lifted, u64 *pc);
u32 callees_insns(const Callees *c);                       /* the number of instructions that they add to fn */
void callees_note_source(const Callees *c, LatheFunc *fn); /* fn's ranges get theirs */
void callees_free(Callees *c);
/* How many direct calls of `target` there are in fn. */
u32 callees_count(const LatheFunc *fn, u64 target);

/* recursion.c: `lifted`, which is `fn` and calls itself by this declaration, gets its own body in the place of these calls. Returns how many instructions that adds.
 * exact_faults: code whose accesses can leave takes LLVM longer, and gets less. */
u32 recursion_unfold(const LatheFunc *fn, LLVMValueRef lifted, LLVMValueRef declared, bool exact_faults);

/* dump.c: writes files for people. Failures have no effect. */
void dump_module(LLVMModuleRef mod, const char *name, const char *kind);
void dump_object(const void *object, size_t size, const char *name);

/* lookup.c: the inlined search for translated code. */
LLVMValueRef lookup_build(LLVMModuleRef mod, const LatheConfig *cfg);

/* tool.c: the functions of a tool in lifted code. */
typedef struct ServerTool ServerTool;
ServerTool *tool_new(const void *package, size_t size); /* NULL: it is no package */
void tool_free(ServerTool *tool);
/* A context is gone, and what was read into it. */
void tool_forget_context(ServerTool *tool);
/* Adds the tool's functions to a module, and lists its hooks; false: its bitcode cannot be read. */
bool tool_add(ServerTool *tool, LLVMModuleRef mod, ToolHook hooks[TOOL_HOOKS_MAX], u32 *count);
/* Calls the function of a hook, with these 64-bit values; false: it takes none such. */
bool tool_call_function(ServerTool *tool, LLVMModuleRef mod, LLVMBuilderRef b, u32 hook, const char *name,
                        const LLVMValueRef values[LATHE_VALUES]);
/* Notes a site of a hook, which takes so many instructions. */
/* The hooks that the tool's options leave out: a bit for each. */
u64 tool_hooks_off(const ServerTool *tool);
void tool_note_site(ServerTool *tool, u32 hook, ToolWay way, u32 insns);
/* Tells all sites that were noted since the tool was added to the module, in a section of the object. */
void tool_tell_sites(const ServerTool *tool, LLVMModuleRef mod);
/* Small functions become part of a lifted function; what they count they count in the guest's state. */
void tool_inline(LLVMModuleRef mod, LLVMValueRef lifted, u32 counters_off);

/* watching.c: what a tool does at instructions of lifted code. */
typedef struct Watching Watching;
Watching *watching_new(ServerTool *tool, const InitMessage *init, Pages *pages);
void watching_free(Watching *w); /* accepts NULL */
void watching_begin_request(Watching *w, const TranslateMessage *request);
/* The tool is added to a module. Returns who watches what is lifted into it. */
const LiftWatch *watching_begin(Watching *w, LLVMModuleRef mod);
/* Does the tool want undefined values to be followed? Then that is to be done for each lifted function, before anything is inlined. Both accept NULL. */
bool watching_follows(const Watching *w);
void watching_follow(const Watching *w, LLVMValueRef lifted);
/* Something of what was lifted since cannot be told to the tool, so that the code is of no use. Accepts NULL. */
bool watching_failed(const Watching *w);

#endif
