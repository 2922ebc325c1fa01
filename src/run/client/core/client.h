/* client.h: the process that a guest program lives in.
 *
 * The client is freestanding: no libc, no TLS, no global constructors, so that fs, signals and every address belong to the guest. Threads share `the`
 * process below and, under their locks, the memory of code.c and remote.c. What each thread has for itself is in its Thread, whose first member is
 * the guest state that lifted code works on.
 *
 * docs/client.md tells how the client works, and in which order to read it. The folders, and what is in them:
 *
 *     core/            this file, the kernel's calls and what a libc would give (sys.c), options, statistics
 *     memory/          the guest's address space (space.c, mapping.c), its limits, the loader (program.c, load.c, stack.c, vdso.c); the client's own memory (own.c)
 *     code/            which code runs: tiers (tier.c), what earlier runs have left (image.c, learn.c, after.c); translated.h has what os and guest use of the folders below
 *     code/arena       the memory of translated code
 *     code/quick       the quick tier: blocks of quick code, and what its two makers have in common:
 *     host/…/copy      copies, where the guest's instructions are the host's own,
 *     code/stencil     and stencils, where they are not
 *     code/optimised   the optimising tier: the table, objects linked, stubs (code.c)
 *     code/cache       objects of earlier runs in the persistent cache (store.c)
 *     code/server      the connection to the server (remote.c), how it is started, and descriptors that the guest does not see
 *     os/              the guest's system calls (syscall.c), processes, filters, /proc (proc.c), --strace
 *     os/signal        the guest's signals, and system calls that signals interrupt
 *     debug/           a debugger at the guest (-g): packets, requests, where threads stop
 *     kernel/          what is the same of the kernel's interface on all hosts; host/NAME includes it
 *     host/NAME        what belongs to the host: assembly, numbers of system calls, signal contexts, registers; its opcodes for quick code (host/NAME/quick)
 *     guest/NAME       what differs between guests: see guest.h; guest/NAME/abi has the headers that other folders include
 *     main.c           the client's own start: options, the guest's file, the first thread
 * */
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

/* A file's image in memory. All mappings of it keep their distances, so code addresses can be relative to `base`. */
typedef struct Module {
    u64 base, end;             /* the whole image */
    Key pack;                  /* name of its file in the cache; zero: none */
    u32 changes;               /* how often its code has changed; not 0: it may no longer be that of the file */
    bool position_independent; /* may be at another address in another run, in reach of translated code */
    bool unkept; /* may be at another address, but out of reach: its code is made for these addresses and not cached */
    bool changing_data;  /* reads data that the kernel changes meanwhile */
    struct Store *store; /* its cached code, once opened; see store.c */
    char name[64];       /* last part of the path, for people */
} Module;

enum { MODULES_MAX = 1024, TIER_WHOLE = 64 };

/* --------------------------------------------------------------------------------------------------------- the process */

/* The counters of --stats, which are changed by relaxed atomic operations. */
typedef struct Stats {
    u64 blocks, quick_insns, quick_us, samples, reverted, refused, renewals; /* quick tier */
    u64 crossings, optimised_us; /* between the tiers, and the time behind them, as samples tell */
    u64 functions, guest_insns, imaged, cached, requested, servers, left, shared, lookups_missed, objects_bytes,
        syscalls;
    u64 lift_us, opt_us, emit_us, wait_us, link_us;
} Stats;

/* What each part of the client has in a Process: */

/* memory: the guest's address space, and where the client's own memory is. */
typedef struct ProcessMemory {
    Module modules[MODULES_MAX];
    u32 module_count;
    bool window_as_wished;      /* block.c: the window is where image.c asked for it */
    u64 window;                 /* block.c: where modules are placed; the code arena is behind them */
    u64 block_start, block_end; /* block.c: the whole reservation around them */
    u64 brk_start, brk_now, brk_end;
    u64 stack_start, stack_end; /* the guest's first stack */
    u64 stack_lowest;           /* where the reservation below that stack begins */
    u64 vdso;                   /* the guest's address of the vdso; 0: it has none */
    Limits limits;              /* limits.c: the limits that hold for the guest */
    bool limited; /* limits.c: the kernel limits the client's memory, so it reserves no more than it needs */
    bool (*explain)(
        void); /* limits.c: if a limit is too small for the client, says so and returns true; NULL: there is no limit */
    u32 scale; /* limits.c: the client's large pieces of memory are 1 << scale times smaller */
    u64 nowhere;                /* own.c: the address of a page without access */
    u64 own_start, own_end;     /* space.c: the client's other reservations lie between these */
    u64 image_start, image_end; /* block.c: the client's program, which the kernel puts among the guest's mappings */
    u64 first_stack;            /* block.c: the client's first stack begins here */
} ProcessMemory;

/* code, code/quick and code/optimised */
typedef struct ProcessTier {
    struct Code *code; /* code.c */
    u32 code_age;      /* leave.c: a thread with another code_age may be in translations that are given up */
    bool
        forked; /* this process was made by fork: it writes images, but learns nothing (learn.c) and compiles nothing */
    LatheRange whole[TIER_WHOLE]; /* where a tool wants all functions to be optimised before they run */
    u32 whole_count;
    bool no_image;  /* image.c writes no image: there is code of several kinds, or paths lead to other files by now */
    u8 *quick_text; /* the copy of quick.S in the arena */
} ProcessTier;

/* code/server */
typedef struct ProcessServer {
    int keeper; /* keeper.c: the descriptor that leads to the keeper; 0: there is none */
    u32 background_s; /* after.c: servers have the lowest priority, and this many seconds of CPU time; 0: they are as others */
    const char *secret; /* the shared cache's password, which is not in the guest's environment; NULL: none */
} ProcessServer;

/* os. The lists have threads that are not in Process.threads; the same lock protects them. */
typedef struct ProcessOs {
    bool any_separate; /* there is or was another process in the same memory */
    bool over;         /* the guest has ended, with this status; if the client fails from now on, the status stays */
    int status;
    u32 releases;         /* syscall.c: how often guarded pages were made writable before a system call */
    struct Thread *ended; /* threads that have ended; their memory is freed once the kernel no longer uses it */
    struct Thread *spare; /* memory for new threads */
    u32 spare_count;
} ProcessOs;

typedef struct Process {
    Options opt;
    Stats stats;
    int stats_fd; /* a copy of standard error, because the guest may close its own before it ends */
    u64 start_us;
    u64 *auxv;               /* the auxiliary vector that the kernel gave this process */
    char **envp;             /* the environment that the kernel gave this process */
    u64 code_base, code_end; /* block.c: where the code arena is */
    u64 map;                 /* block.c: the map from guest to host addresses (code/quick/map.h); 0: there is none */
    struct Thread *threads;  /* all threads, under the lock of translated code */
    ProcessMemory memory;
    ProcessTier tier;
    ProcessServer server;
    ProcessOs os;
} Process;

extern Process the;

void stats_print(void); /* stats.c */

#endif
