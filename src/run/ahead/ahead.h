/* ahead.h: translation ahead of time: what `lathe compile` does besides parsing its options.
 *
 *     libraries.c  finds libraries as the dynamic linker would
 *     files.c      the guest files to translate
 *     functions.c  their functions, and what the cache has of them already
 *     learned.c    what runs have found hot of them
 *     worker.c     a server, of which this process is the client: it is asked for functions and answered from a file
 *     crew.c       hands the functions out to the workers until nothing is left
 *     progress.c   tells people about it
 *
 * The servers are those of `lathe run`, so nothing here knows LLVM; but what they make is kept by this process, since
 * they themselves translate nothing anew that a pack has. An object tells which other guest functions it refers to;
 * these are translated too. */
#ifndef RUN_AHEAD_H
#define RUN_AHEAD_H

#include <sys/stat.h>
#include <sys/types.h>

#include "cache/pack.h"
#include "elf/elf.h"
#include "run/protocol/connection.h"

/* ---------------------------------------------------------------------------------------------------------- files.c */

enum { REGION_BITS = 16 };

/* Functions of a part of a file, which one worker translates, since it knows then what is in others already. */
typedef struct Region {
    VEC(u64) waiting; /* offsets from the file's base; the last one is next */
    u32 taken;        /* by how many workers */
} Region;

typedef struct AheadFile {
    char *path;
    const char *name;           /* the last part of the path */
    const struct AheadFile *by; /* what needed it first; NULL: asked for, or an interpreter */
    ElfFile *elf;
    u64 low;       /* address of the base in the file */
    u64 base, end; /* of the image as workers are told */
    bool position_independent, changing_data;
    PackIdentity identity;
    Key pack;
    Map64 known; /* offset of a function: FunctionState */
    Map64 heat;  /* offset of a function: how hot runs have found it (cache/profile.h) */
    VEC(Region) regions;
    u64 open; /* waiting, or with a worker */
    u64 done, had, no_code, given_up;
    u64 insns;
} AheadFile;

typedef enum FunctionState {
    FUNCTION_UNKNOWN,
    FUNCTION_WAITING,
    FUNCTION_RETRIED,
    FUNCTION_DONE,
    FUNCTION_FAILED
} FunctionState;

typedef VEC(AheadFile *) AheadFiles;

typedef struct AheadPlan {
    const struct Kind *kind; /* of guests */
    CodeConfig config;       /* of the runs that this is for: in the names of packs */
    LatheOpt opt;            /* how far to optimise, maybe farther than the config says */
    CodeConfig seen_by[3];   /* configurations of runs that may have been before */
    bool profile;            /* only what these had translated or found hot, the hottest first */
    bool renew;              /* also what has code already */
    const char *cache_dir, *server, *sysroot;
    u32 jobs;
} AheadPlan;

/* Add a program or library and all that it needs, unless it is there. What is missing or broken is said on stderr;
 * false: that was the case. */
bool files_add(AheadFiles *files, const AheadPlan *plan, const char *path);
/* Add the kernel's, if there is one and guests of the plan's kind get it. */
void files_add_vdso(AheadFiles *files, const AheadPlan *plan);
/* Does some file seem to have handlers of signals? */
bool files_handle_signals(const AheadFiles *files);
void files_free(AheadFiles *files);
PackIdentity files_identity(const struct stat *st);

/* ------------------------------------------------------------------------------------------------------ functions.c */

/* Find out which functions are to be translated for the plan's configuration. */
void files_prepare(AheadFiles *files, const AheadPlan *plan);
/* When these are: what the lifter could not follow, places in the middle of functions that computed jumps may lead to.
 * False: there are none, or no more. */
bool files_prepare_inner(AheadFiles *files, const AheadPlan *plan);

/* A function of the file is to be translated, if it is none that is known. */
void file_want(AheadFile *f, u64 off);
/* How hot runs have found it, as far as known. */
u32 file_heat(const AheadFile *f, u64 off);
/* All functions that an object refers to. */
void file_want_references(AheadFile *f, const void *object, size_t size);
FunctionState file_state(const AheadFile *f, u64 off);
/* Guest memory: bytes from the address on, up to what is not there. A LatheReadMemory without `writable`. */
size_t file_memory(const AheadFile *f, u64 addr, void *buf, size_t size, bool *writable);
/* How many of the functions that were translated are in its pack. */
u64 file_count_kept(const AheadFile *f, const AheadPlan *plan);

/* -------------------------------------------------------------------------------------------------------- learned.c */

/* Wants what runs of any program have found hot in these files, and notes how hot it was. `seen_by` is the configuration of these runs. Beside quick code it is what
 * runs with the plan's kind of code have found. */
void files_want_learned(AheadFiles *files, const AheadPlan *plan, const CodeConfig *seen_by);
/* True if runs with a program's handlers of faults have found something hot. */
bool files_learned_exact(AheadFiles *files, const AheadPlan *plan, const CodeConfig *seen_by);

/* ------------------------------------------------------------------------------------------------------ libraries.c */

enum { LIBRARY_PATH_MAX = 4096 };
/* Where the dynamic linker would find a library that `f` needs; false: nowhere. */
bool library_find(const AheadFile *f, const char *sysroot, const char *name, char path[LIBRARY_PATH_MAX]);

/* --------------------------------------------------------------------------------------------------------- worker.c */

typedef struct Worker {
    Connection connection;
    pid_t pid;       /* 0: not started */
    AheadFile *file; /* what it translates; NULL: nothing */
    Region *region;  /* what it works through; NULL: nothing */
    u64 off;
    TranslateMessage request;
    u64 since_ms;
    u32 answers; /* since it was started */
    bool has_source;
    u64 guest_hash; /* of what the object is made from, and where that is */
    VEC(LatheRange) ranges;
} Worker;

typedef enum WorkerEvent { WORKER_BUSY, WORKER_ANSWER, WORKER_LOST } WorkerEvent;

bool worker_start(Worker *w, const AheadPlan *plan);
/* Begin a function; false: the server is gone. */
bool worker_ask(Worker *w, AheadFile *f, u64 off, bool again);
/* Take one message. The object is valid until the next one; facts->object_size 0: there is no code. */
WorkerEvent worker_receive(Worker *w, ObjectMessage *facts, const void **object);
void worker_keep(Worker *w, PackWriter *writer, const ObjectMessage *facts, const void *object);
void worker_stop(Worker *w, bool at_once);
void worker_free(Worker *w);

/* ----------------------------------------------------------------------------------------------- crew.c, progress.c */

typedef struct Progress Progress;

typedef enum CrewEnd { CREW_FINISHED, CREW_INTERRUPTED, CREW_NO_SERVER } CrewEnd;
/* Translate all that waits. *stop becomes nonzero: end soon. */
CrewEnd crew_run(AheadFiles *files, const AheadPlan *plan, Progress *progress, const volatile int *stop);

Progress *progress_new(const AheadFiles *files, bool quiet);
void progress_tick(Progress *p);  /* now and then */
void progress_files(Progress *p); /* at the end */
void progress_say(Progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_end(Progress *p); /* frees it */

u64 ahead_now_ms(void);

#endif
