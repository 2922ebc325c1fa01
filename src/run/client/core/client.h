/* client.h: the process that a guest program lives in.
 *
 * The client is freestanding: no libc, no TLS, no global constructors, so that fs, signals and every address belong to the
 * guest. What threads share is `the` process below and, behind their locks, the memory of code.c and remote.c; what a thread has of
 * its own is in its Thread, whose first member is the guest state that lifted code works on.
 *
 * The rooms, and what is in them:
 *
 *     core/            this file, the kernel's calls and what a libc would give (sys.c), options, statistics
 *     memory/          the guest's address space (space.c), its limits, the loader (program.c, load.c, stack.c, vdso.c); the client's own memory (own.c)
 *     code/            which code runs: tiers (tier.c), images of earlier runs (image.c); translated.h is what os and the guests' parts know of all below
 *     code/arena       the memory of translated code
 *     code/quick       the quick tier: blocks of quick code, and what is common to its two makers:
 *     host/…/copy      copies, where the guest's instructions are the host's own,
 *     code/stencil     and stencils, where they are not
 *     code/optimised   the optimising tier: the table, objects linked, stubs (code.c)
 *     code/cache       cached objects of earlier runs
 *     code/server      the connection to the server (remote.c), who starts it, and descriptors that the guest does not see
 *     os/              the guest's system calls (syscall.c), processes, filters, what /proc tells of the guest, --strace
 *     os/signal        its signals
 *     host/NAME        what is the host's: assembly, numbers of system calls, signal contexts, registers; its opcodes for quick code (host/NAME/quick)
 *     guest/NAME       what is different between guests: see guest.h; guest/NAME/abi has what the others include
 *     main.c           the client's own start: options, the guest's file, the first thread
 */
#ifndef RUN_CLIENT_H
#define RUN_CLIENT_H

#include "base/base.h"
#include "lathe/types.h"
#include "run/client/core/guest.h"
#include "run/client/core/options.h"
#include "run/client/core/sys.h"
#include "run/client/core/thread.h"
#include "run/protocol/protocol.h"

/* ------------------------------------------------------------------------------------------------------------- modules */

/* A file's image in memory: every mapping of it moves together, so code addresses can be relative to `base`. */
typedef struct Module {
    u64 base, end;             /* the whole image */
    Key pack;                  /* name of its file in the cache; zero: none */
    bool changed;              /* its code may not be the file's any more */
    bool position_independent; /* may be elsewhere in another run, in reach of translated code */
    bool unkept;               /* may be elsewhere, and out of reach: its code is for these addresses, and not kept */
    bool changing_data;        /* reads what the kernel writes meanwhile */
    struct Store *store;       /* its cached code, once opened; see store.c */
    char name[64];             /* last part of the path, for people */
} Module;

enum { MODULES_MAX = 1024 };

/* --------------------------------------------------------------------------------------------------------- the process */

/* Counters of --stats; changed with relaxed atomics. */
typedef struct Stats {
    u64 blocks, quick_insns, quick_us, samples, reverted, refused, renewals; /* quick tier */
    u64 functions, guest_insns, imaged, cached, requested, shared, lookups_missed, objects_bytes, syscalls;
    u64 lift_us, opt_us, emit_us, wait_us, link_us;
} Stats;

/* What each part of the client has in it: */

/* memory: the guest's address space, and where the client's own memory is. */
typedef struct ProcessMemory {
    Module modules[MODULES_MAX];
    u32 module_count;
    bool window_as_wished;      /* space.c: at the place that image.c asked for */
    u64 window;                 /* space.c: where modules go; the code arena is behind them */
    u64 block_start, block_end; /* space.c: all that is reserved around them */
    u64 brk_start, brk_now, brk_end;
    u64 stack_start, stack_end; /* of the guest's first stack */
    u64 stack_lowest;           /* what is reserved below it begins here */
    u64 vdso;                   /* its first byte; 0: the guest has none */
    Limits limits;              /* limits.c: the guest's */
    bool limited;               /* limits.c: the kernel limits the client's memory: it reserves no more than it needs */
    void (*explain)(void);      /* limits.c: what else to say when the client ends for lack of memory; NULL: nothing */
    u32 scale;                  /* limits.c: the client's large pieces of memory are smaller by this many bits */
    u64 nowhere;                /* own.c: the address of a page that nobody may access */
    u64 own_start, own_end;     /* space.c: what else the client has reserved is between these */
    u64 image_start, image_end; /* likewise: its program, where the kernel puts it among the guest's mappings */
    u64 first_stack;            /* likewise: its stack, from here on */
} ProcessMemory;

/* code, code/quick and code/optimised */
typedef struct ProcessTier {
    struct Code *code; /* code.c */
    u32 code_age;      /* leave.c: threads whose own is another one may be in translations that are given up */
    bool no_image;     /* image.c writes none of this process: it was forked, or its code is of several kinds */
    u8 *quick_text;    /* the copy of quick.S in the arena */
} ProcessTier;

/* code/server */
typedef struct ProcessServer {
    int keeper;         /* keeper.c: its descriptor; 0: none */
    const char *secret; /* the shared cache's password, which is not in the guest's environment; NULL: none */
} ProcessServer;

/* os. The lists are those of threads that are not in Process.threads, and have the same lock. */
typedef struct ProcessOs {
    bool any_separate;    /* are there, or were there, processes beside this one in the same memory? */
    u32 releases;         /* syscall.c: of guarded pages before a system call */
    struct Thread *ended; /* those whose memory is to be freed once the kernel is done with them */
    struct Thread *spare; /* memory for new ones */
    u32 spare_count;
} ProcessOs;

typedef struct Process {
    Options opt;
    Stats stats;
    int stats_fd; /* standard error as it was: the guest may close its own before it ends */
    u64 start_us;
    u64 *auxv;               /* the kernel's, to this process */
    char **envp;             /* likewise */
    u64 code_base, code_end; /* space.c: where the code arena is */
    u64 map;                 /* space.c: of guest to host addresses (code/quick/map.h); 0: there is none */
    struct Thread *threads;  /* all of them, under the lock of translated code */
    ProcessMemory memory;
    ProcessTier tier;
    ProcessServer server;
    ProcessOs os;
} Process;

extern Process the;

void stats_print(void); /* stats.c */

#endif
