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
 *     code/            which code runs: tiers (tier.c), images of earlier runs (image.c), cached objects (store.c)
 *     code/arena       the memory of translated code
 *     code/quick       the quick tier: blocks of quick code, and what is common to its two makers:
 *     code/copy        copies, where the guest's instructions are the host's own,
 *     code/stencil     and stencils, where they are not
 *     code/optimised   the optimising tier: the table, objects linked, stubs (code.c)
 *     code/server      the connection to the server (remote.c), who starts it, and descriptors that the guest does not see
 *     os/              the guest's system calls (syscall.c), processes, signals, filters, --strace
 *     os/proc          what /proc tells of the guest
 *     host/NAME        what is the host's: assembly, numbers of system calls, signal contexts
 *     guest/NAME       what is different between guests: see guest.h; guest/NAME/abi has what the others include
 *     main.c           the client's own start: options, the guest's file, the first thread
 */
#ifndef RUN_CLIENT_H
#define RUN_CLIENT_H

#include "base/base.h"
#include "lathe/types.h"
#include "offsets.h"
#include "run/client/core/guest.h"
#include "run/client/core/sys.h"
#include "run/protocol/protocol.h"

/* ------------------------------------------------------------------------------------------------------------- modules */

/* A file's image in memory: every mapping of it moves together, so code addresses can be relative to `base`. */
typedef struct Module {
    u64 base, end; /* the whole image */
    Key pack;      /* name of its file in the cache; zero: none */
    bool changed;  /* its code may not be the file's any more */
    bool position_independent; /* may be elsewhere in another run, in reach of translated code */
    bool unkept;               /* may be elsewhere, and out of reach: its code is for these addresses, and not kept */
    bool changing_data;        /* reads what the kernel writes meanwhile */
    struct Store *store;       /* its cached code, once opened; see store.c */
    char name[64];             /* last part of the path, for people */
} Module;

enum { MODULES_MAX = 1024 };

/* --------------------------------------------------------------------------------------------------------- the process */

/* Which code runs: copied, optimised, or first the one and then the other. */
typedef enum Tier { TIER_AUTO, TIER_QUICK, TIER_OPT } Tier;

/* The processor that the guest sees; AUTO: what runs fast with the tier. */
typedef enum Cpu {
    CPU_AUTO,
#define CPU(id, name) CPU_##id,
#include "isa/cpus.def"
#undef CPU
    CPU_NATIVE
} Cpu;

typedef struct Limit {
    u64 soft, hard;
} Limit;

/* The kernel's limits that limits.c keeps for the guest: of the address space, and of data. */
enum { LIMIT_SPACE, LIMIT_DATA, LIMITS_KEPT };
typedef struct Limits {
    Limit of[LIMITS_KEPT];
} Limits;

typedef struct Options {
    CodeConfig code;
    bool strace, no_follow, no_cache, perf;
    u32 tier, asked_tier;   /* Tier: what this kind of guest has, and what was asked for */
    u32 cpu;                /* Cpu */
    u32 stats;              /* 0 none, 1 text, 2 json */
    u32 sample_us;          /* --sample-every: how often, by the clock on the wall; 0: by the thread's own CPU time */
    u32 dump;               /* DUMP_* bits, handed to the server */
    u32 keeper;             /* keeper.c: descriptor that exec hands on; 0: there is no keeper */
    u32 filters;            /* seccomp.c: descriptor of what exec hands on, plus 1; 0: nothing */
    u32 first_pid;          /* of the run: --strace names all others */
    bool by_guest;          /* a guest has started this one by exec */
    Limits limits;          /* limits.c: what exec hands on */
    char cache_dir[256];    /* empty: no cache */
    u32 cache_mib;          /* what may be in it */
    char shared[256];       /* the server's shared cache, without password; empty: none */
    char server_path[256];  /* the program that is the server */
    char socket[108];       /* where a server of the user's waits for clients; empty: there is none */
    char client_path[256];  /* this program, for exec of guests */
    char sysroot[256];      /* -L */
    char guest_path[256];   /* the guest's program, absolute: /proc/self/exe */
} Options;

/* One word `key=value,key=value`, as lathe run and exec hand it on; false: it makes no sense, or does not fit. */
bool options_parse(const char *text, Options *options);
bool options_format(const Options *options, char *text, size_t size);

/* kind.c: change the options to those for a program of that ELF machine; false: no client runs it. */
bool kind_choose(u16 machine, Options *options);

/* Counters of --stats; changed with relaxed atomics. */
typedef struct Stats {
    u64 blocks, quick_insns, quick_us, samples, reverted, refused, renewals; /* quick tier */
    u64 functions, guest_insns, imaged, cached, requested, shared, lookups_missed, objects_bytes, syscalls;
    u64 lift_us, opt_us, emit_us, wait_us, link_us;
} Stats;

typedef struct Process {
    Options opt;
    Stats stats;
    Module modules[MODULES_MAX];
    u32 module_count;
    bool window_as_wished; /* space.c: at the place that image.c asked for */
    bool forked;           /* not by exec: an image of it is of no use */
    u64 window, code_base; /* space.c: where modules go, and the code arena behind them */
    u64 brk_start, brk_now, brk_end;
    u64 stack_start, stack_end; /* of the guest's first stack */
    u64 stack_lowest;           /* what is reserved below it begins here */
    u64 vdso;                   /* its first byte; 0: the guest has none */
    Limits limits;              /* limits.c: the guest's */
    bool limited;               /* limits.c: the kernel limits the client's memory: it reserves no more than it needs */
    u32 scale;                  /* limits.c: the client's large pieces of memory are smaller by this many bits */
    u64 nowhere;                /* own.c: the address of a page that nobody may access */
    u64 own_start, own_end;     /* space.c: what the client has reserved is between these */
    u64 image_start, image_end; /* likewise: its program, where the kernel puts it among the guest's mappings */
    u64 first_stack;            /* likewise: its stack, from here on */
    struct Code *code; /* code.c */
    u32 code_age;      /* leave.c: threads whose own is another one may be in translations that are given up */
    int keeper;        /* keeper.c: its descriptor; 0: none */
    int stats_fd;      /* standard error as it was: the guest may close its own before it ends */
    u64 start_us;
    u64 *auxv;   /* the kernel's, to this process */
    char **envp; /* likewise */
    const char *secret; /* the shared cache's password, which is not in the guest's environment; NULL: none */
    bool any_separate;   /* are there, or were there, processes beside this one in the same memory? */
    u8 *quick_text;         /* the copy of quick.S in the arena */
    u32 releases;           /* syscall.c: of guarded pages before a system call */
    struct Thread *threads; /* all of them, under the arena's lock */
    struct Thread *ended;   /* those whose memory is to be freed once the kernel is done with them */
    struct Thread *spare;   /* memory for new ones, under the arena's lock */
    u32 spare_count;
} Process;

extern Process the;

/* --------------------------------------------------------------------------------------------------------------- threads */

#define EXPECTED_NOBODY (~(u64)0)

/* An exit of quick code for a system call: the guest's address behind it, and the code there, as long as age is quick_tables_age. */
typedef struct CallSite {
    u64 exit, pc, code, age;
} CallSite;

enum { CALL_SITES = 64 };

/* A connection to a server: remote.c. */
typedef struct Remote {
    int fd;
    bool open;
    u64 kind;      /* of the code that the server makes: pack_key_kind */
    u32 user;      /* the thread that waits for an answer; 0: nobody */
    u8 *data;      /* the last message */
    u64 capacity;
} Remote;

/* offsets.h names what assembly and translated code know. */
typedef struct Thread {
    union {
        GuestCpu cpu; /* first: translated code gets a pointer to it */
        u8 room[THREAD_STACK_LIMIT];
    };
    u64 stack_limit; /* host stack: below this, computed jumps return to the dispatcher; with --tier=opt and a signal noted, they all do */
    struct Thread *self;
    u64 host_sp;  /* while quick code runs: the host's stack pointer */
    u64 expected; /* the guest address at which a translation on the host stack waits for a return */
    u64 flags;    /* rflags, as quick code left them */
    u64 exit;     /* number of the exit by which it left */
    u64 target;   /* where it goes on */
    u64 spill_rcx, spill_rdx, spill_rax, spill_base;
    void (*leave)(void), (*ret)(void), (*call)(void), (*jump)(void); /* of quick.S */
    u64 pending_signals; /* bit n-1: signal n waits for delivery. One at a time: meanwhile the host blocks all others */
    u64 arena;     /* where the code arena begins */
    u64 host_base; /* host_sp without any translation waiting */
    void (*cross_enter)(void), (*cross_leave)(void); /* of cross.S */
    u64 crossings; /* between quick and optimised code */
    u64 crossed;   /* the last one from quick code: where to, from the arena's begin */
    u64 next_place;   /* of cross.S: where it goes when it has no register left */
    u64 stop;         /* quick code is to be left: see renew.c */
    const void *c[7]; /* what quick.S calls */
    void (*return_expected)(void), (*return_plain)(void); /* what `ret` is, with and without somebody expected */
    void (*return_exact)(void);                           /* and where flags are kept */
    u64 helping;      /* quick code is in a helper */
    u64 crossings_seen, sampled_us; /* at the last sample; of this thread's CPU time */
    u64 host_stack, host_stack_size;
    u64 signal_stack, signal_stack_size; /* of the host's signal handlers */
    u32 pid, tid;
    struct Thread *next;        /* of the.threads or the.ended */
    u64 tables_age;             /* when it ended: see quick_tables_age */
    u32 lives;                  /* the kernel clears it when a separate one ends or execs */
    bool separate;              /* of a process of its own, in memory that it shares for good */
    u32 locks;                  /* sys.c: that a separate one holds, and its mask without them */
    u64 unlocked_mask;
    bool own_files;             /* its descriptors are not those of the process that the memory is of */
    Remote remote;              /* then */
    int keeper;                 /* likewise: keeper.c */
    bool borrows_memory;        /* a vfork child: the memory is its parent's */
    bool stepping;              /* quick code goes on by single steps to the next instruction of the guest */
    bool repeat;                /* what the guest does not see came as a system call of it ended, or ended it: see waits.c */
    bool in_call;               /* a system call: the guest's state is whole, and nothing of translated code is in use */
    bool stopped;               /* see renew.c */
    bool optimised;             /* with --tier=opt: its vector and floating-point registers are in `cpu`, not in the host's */
    u32 code_age;               /* leave.c: of the translations that it may be in; 0: it has not run any yet */
    bool sampled;               /* tier.c wants to know where it is */
    bool pushes_flags;          /* the instruction being stepped over is pushf, which sees our trap flag */
    bool shares_signals;        /* with another thread, now or once */
    struct SignalState *signals; /* signal.c: the guest's handlers; shared by what shares the kernel's */
    u8 pending_info[128]; /* its siginfo */
    u64 signal_mask;      /* while one is pending: the guest's mask */
    u8 access_info[128];  /* the siginfo of an access that has left optimised code */
    u64 fault_error, fault_trap; /* of the last fault, for handlers: the kernel, too, keeps them */
    u64 blocked;          /* of the signals that are ours on the host, which does not block them: those that the guest blocks */
    u64 held;             /* such signals, sent while the guest blocks them or another one is pending, and their siginfo */
    u8 held_info[6][128];
    bool framing;         /* writes a frame to the guest's stack, which may not be there */
    bool masking;         /* the host's mask is not the guest's, and no signal is pending */
    bool suspended;       /* in a system call with a mask of its own */
    u64 suspend_mask;
    struct Filter *filters;  /* seccomp.c: the newest; NULL: none */
    u32 seccomp;             /* SECCOMP_MODE_* */
    bool wants_no_new_privs; /* another thread has said so for this one */
    u64 altstack, altstack_size; /* the guest's; size 0: none */
    u32 altstack_flags;
    __attribute__((aligned(4096))) TableEntry table[1 << TABLE_BITS]; /* optimised code that computed jumps and calls have asked for */
    u64 table_pc[QUICK_TABLE];
    u64 table_code[QUICK_TABLE]; /* quick code by guest address: calls by its bits 4–19, returns by the lowest 16 */
    u64 jump_pc[QUICK_TABLE], jump_code[QUICK_TABLE]; /* jumps, likewise; addresses are negated, so that lea compares them */
    CallSite sites[CALL_SITES]; /* quick.c: of calls made last, by the number of their exits */
    Limits *limits;    /* limits.c: the process's; own_limits for a process of its own in memory that it shares */
    Limits own_limits;
} Thread;

/* Of an entry of these tables that has nothing: an address whose own entry is another, and not beside it. 0 is a target like any
 * other. */
#define QUICK_NO_TARGET(index) ((u64)((index) < 2 ? 0x100 : 0))

_Static_assert(offsetof(GuestCpu, pc) == CPU_PC && offsetof(Thread, stack_limit) == THREAD_STACK_LIMIT, "offsets.h");
_Static_assert(offsetof(Thread, self) == THREAD_SELF && offsetof(Thread, host_sp) == THREAD_HOST_SP, "offsets.h");
_Static_assert(offsetof(Thread, expected) == THREAD_EXPECTED && offsetof(Thread, flags) == THREAD_FLAGS, "offsets.h");
_Static_assert(offsetof(Thread, exit) == THREAD_EXIT && offsetof(Thread, target) == THREAD_TARGET, "offsets.h");
_Static_assert(offsetof(Thread, spill_rcx) == THREAD_SPILL_RCX && offsetof(Thread, spill_base) == THREAD_SPILL_BASE, "offsets.h");
_Static_assert(offsetof(Thread, leave) == THREAD_LEAVE && offsetof(Thread, ret) == THREAD_RETURN, "offsets.h");
_Static_assert(offsetof(Thread, call) == THREAD_CALL && offsetof(Thread, jump) == THREAD_JUMP, "offsets.h");
_Static_assert(offsetof(Thread, arena) == THREAD_ARENA && offsetof(Thread, host_base) == THREAD_HOST_BASE, "offsets.h");
_Static_assert(offsetof(Thread, cross_enter) == THREAD_CROSS_ENTER && offsetof(Thread, cross_leave) == THREAD_CROSS_LEAVE, "offsets.h");
_Static_assert(offsetof(Thread, crossings) == THREAD_CROSSINGS && offsetof(Thread, crossed) == THREAD_CROSSED, "offsets.h");
_Static_assert(offsetof(Thread, next_place) == THREAD_NEXT && offsetof(Thread, stop) == THREAD_STOP, "offsets.h");
_Static_assert(offsetof(Thread, c) == THREAD_C(0) && offsetof(Thread, return_expected) == THREAD_RETURN_EXPECTED, "offsets.h");
_Static_assert(offsetof(Thread, return_plain) == THREAD_RETURN_PLAIN && offsetof(Thread, return_exact) == THREAD_RETURN_EXACT, "offsets.h");
_Static_assert(offsetof(Thread, helping) == THREAD_HELPING, "offsets.h");
_Static_assert(offsetof(Thread, jump_pc) == THREAD_JUMP_PC && offsetof(Thread, jump_code) == THREAD_JUMP_CODE, "offsets.h");
_Static_assert(offsetof(Thread, pending_signals) == THREAD_PENDING && offsetof(Thread, table_pc) == THREAD_TABLE_PC, "offsets.h");
_Static_assert(offsetof(Thread, table_code) == THREAD_TABLE_CODE && offsetof(Thread, table) == THREAD_TABLE, "offsets.h");

/* Run the guest from t->cpu.pc until it ends. */
_Noreturn void thread_run(Thread *t);
/* Leave this stack for good and run the guest on another one. */
_Noreturn void thread_start(Thread *t, u64 stack_top);
Thread *thread_new(u64 host_stack_size); /* NULL: no memory */
void thread_free(Thread *t);              /* not of the thread itself: it is on its stack */
void thread_unlist(Thread *t);            /* from the.threads, under the arena's lock */
/* With optimised code, which has a frame for each call of the guest, and with quick code only. */
enum { HOST_STACK_BYTES = 512 << 20, HOST_STACK_SMALL = 256 << 10 };
/* Thread.stack_limit while no signal is noted. */
static inline u64 thread_stack_limit(const Thread *t) {
    return t->host_stack + t->host_stack_size / 2;
}
/* This host thread is t from now on. */
void thread_become(Thread *t);

static inline Thread *thread_self(void) {
    Thread *t;
    __asm__("mov %%gs:%c1, %0" : "=r"(t) : "i"(THREAD_SELF));
    return t;
}

/* Memory that an image keeps for other processes: see image.c. There it has room to grow in place, if that is more than its size. */
typedef struct ImagePart {
    u8 *at;
    u64 size, room;
} ImagePart;

/* ------------------------------------------------------------------------------------------------------------ code.c */

bool code_init(void);
/* What translated code calls by that name, near the code. */
u64 code_helper(const char *name);
/* Host code for the guest address pc: from the table, the cache or the server. Never NULL: code that cannot be translated
 * leads to code that raises the guest's fault. */
void *code_find(Thread *t, u64 pc);
/* With --tier=auto, under the arena's lock. Is there optimised code, or none to be had? Is pc to be asked for, having been asked
 * this often whether it is? Take optimised code from the cache, or from the server's answer, and let quick code go there. */
bool code_has(u64 pc);
bool code_wanted(u64 pc, u32 times);
void code_load(Thread *t, u64 pc);
void code_install(Thread *t, const ObjectMessage *facts, const void *object);
/* The server has none: it is not asked again, in later runs either. */
void code_refused(const ObjectMessage *facts);
/* All of it, for now; and for good, since the memory is used for something else. */
void code_revert_all(void);
void code_forget_all(void);
/* Optimised code at this offset in the arena is no gain: back to quick code, for good. */
void code_revert(u64 offset);
/* Code in [start, end) was unmapped or changed: forget its translations. */
void code_forget(u64 start, u64 end);
/* Translations of other code than what is in [start, end): forget them. */
void code_discard(u64 start, u64 end);
/* The quick code at pc is gone, with the arena's lock held: what led there from optimised code asks anew. */
void code_discard_at(u64 pc);
void code_after_fork(void); /* in the child */
/* With --tier=opt: from now on others see the guest's memory. All translations so far are forgotten, and the threads in them leave (leave.h). */
void code_share(void);
/* Likewise: from now on loops look for signals. */
void code_watch(void);
/* Likewise: faults of the guest's accesses to memory leave translations with the state in whole. */
void code_keep_state(void);
/* Likewise: from now on there is only quick code. */
void code_give_way(void);

/* All optimised code there is, for another process. Before that: what is not wanted is forgotten. */
enum { CODE_PARTS = 2 };
typedef struct CodeCounts {
    u64 entries, functions; /* all that is known of, and those with code */
} CodeCounts;
void code_drop(bool (*keeps)(u64 pc));
CodeCounts code_export(const Thread *t, ImagePart parts[CODE_PARTS]);
/* Before there is any. The first part may be written to, and is code.c's from now on. */
void code_import(Thread *t, const ImagePart parts[CODE_PARTS], CodeCounts counts);

/* --------------------------------------------------------------------------------------------------- load.c, stack.c */

typedef struct Image {
    u64 base, end, entry, phdr;
    u32 phnum;
    u64 interp_base; /* 0: no interpreter */
    u64 start;       /* where to begin: the interpreter's entry or the program's */
    bool executable_stack;
} Image;

enum { LOAD_ARGV_ROOM = 10 };
/* Load a program and its interpreter; 0, or with a sentence in `message` a negative errno, or the signal that the kernel kills a process with whose file
 * turns out bad when exec cannot return any more. Follows #! lines: then argv is what these make of it (it has room for LOAD_ARGV_ROOM more). */
int load_program(const char *path, char **argv, Image *image, char *message, size_t message_size);
/* The stack as a program finds it; returns rsp. */
u64 stack_build(const Image *image, char **argv, char **envp, const char *path);
void stack_grow(u64 limit); /* the guest has a new limit for its stack */

/* ------------------------------------------------------------------------------------------------------------ space.c */

/* wish: where the block of modules and code should lie, if it can. */
bool space_init(u64 wish);
/* mmap, munmap, mprotect, mremap, brk of the guest: results or negative errno. They keep track of modules and tell code.c. */
i64 space_mmap(u64 addr, u64 size, u32 prot, u32 flags, int fd, u64 off);
i64 space_munmap(u64 addr, u64 size);
i64 space_mprotect(u64 addr, u64 size, u32 prot);
i64 space_mremap(u64 addr, u64 size, u64 new_size, u32 flags, u64 new_addr);
u64 space_brk(u64 want);
Module *space_module(u64 addr); /* the module that holds an address, or NULL */
/* Copy guest memory out without faulting; returns how many bytes. writable: may the guest write some of it? */
size_t space_read(u64 addr, void *buf, size_t size, bool *writable);
static inline size_t guest_read(u64 addr, void *buf, size_t size) {
    bool writable;
    return space_read(addr, buf, size, &writable);
}

/* How many bytes; less than all: the guest may not write there. */
size_t guest_write(u64 addr, const void *buf, size_t size);

/* System V shared memory: shmat and shmdt of the guest. */
i64 shm_attach(int id, u64 addr, u32 flags);
i64 shm_detach(u64 addr);

i64 landlock_restrict(Thread *t, const u64 args[6]); /* landlock.c: landlock_restrict_self of the guest */

/* Give the guest the kernel's vdso (the.vdso) if that is possible; else nobody has it. */
void vdso_adopt(void);

/* ------------------------------------------------------------------------------------------------------------- proc.c */

/* Files of /proc that would show the client, or processors that the guest has not. */
typedef enum ProcFile {
    PROC_OTHER,
    PROC_EXE,
    PROC_MAPS,
    PROC_SMAPS,
    PROC_NUMA,
    PROC_ROLLUP,
    PROC_STATM,
    PROC_STAT,
    PROC_LIMITS,
    PROC_STATUS,
    PROC_CPUINFO
} ProcFile;
typedef struct ProcPath {
    int dir; /* what the path begins at, if it is relative */
    const char *path;
    ProcFile file;
} ProcPath;
ProcPath proc_find(int dir, const char *path);
/* fd, which the kernel opened as one of these but exe, becomes the guest's view; returns fd, or a negative errno and fd is closed. */
i64 proc_open(const ProcPath *p, int fd, u32 flags);

/* ----------------------------------------------------------------------------------------------------------- remote.c */

/* A connection that nobody uses, under the arena's lock; NULL: there is none for now. */
Remote *remote_take(Thread *t);
void remote_give(Remote *r);
TranslateMessage remote_request(u64 pc, const Module *m);
/* Ask the server to translate; starts one if there is none, and others if it dies. false: there is no server. The object is in the
 * connection's memory until the next call; NULL: it cannot be translated (facts->object_size is 0). Without the arena's lock. */
bool remote_translate(Thread *t, Remote *r, TranslateMessage request, ObjectMessage *facts, const void **object);
/* The same without waiting: the answer is there when remote_poll says so. One at a time. again: of TranslateMessage. */
bool remote_begin(Thread *t, u64 pc, const Module *m, bool again);
typedef enum RemoteAnswer { REMOTE_NOTHING, REMOTE_OBJECT, REMOTE_LOST, REMOTE_LIMIT /* it takes too much */ } RemoteAnswer;
RemoteAnswer remote_poll(ObjectMessage *facts, const void **object);
/* No signals from it any more: the program that exec starts would die of one. remote_begin has them again. */
void remote_silence(void);
void remote_after_fork(Thread *t); /* the child's own connections come later */
void remote_end(void);        /* what remote_begin has asked for is not wanted any more */
void remote_free(Remote *r);  /* its memory */
enum { DESCRIPTOR_AWAY = 1000 }; /* from here on a guest does not expect one of its own */
/* The connections that there may be in the files of this thread; NULL: no more. Does somebody wait for an answer at one? With the arena's lock. */
enum { REMOTES_MAX = 4 };
Remote *remote_no(Thread *t, u32 index);
bool remote_is_busy(Thread *t, u32 index);

/* ------------------------------------------------------------------------------------------------------------ store.c */

/* The cached object for the guest address pc of module m, checked against its checksum and the guest's bytes; NULL: none. */
const void *store_find(Module *m, u64 pc, u32 *object_size, u32 *insns);
/* The pack file name for a mapped file. */
Key store_key(int fd, const CodeConfig *config);
/* The code configuration has changed: the modules' cached code is another; their keys differ by this (pack.h). */
void store_change(u64 difference);
/* The same for code of no file. */
Key store_key_of_bytes(const void *bytes, size_t size, const CodeConfig *config);

/* ---------------------------------------------------------------------------------------------- syscall.c and process.c */

/* Called by translated code with the whole state in *cpu; pc is behind the instruction. */
void guest_syscall(GuestCpu *cpu);
void trace_enter(Thread *t, u64 number, const u64 args[6]);
void trace_exit(Thread *t, u64 number, const u64 args[6], i64 result);
i64 process_fork(Thread *t, u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls);
i64 process_exec(Thread *t, const char *path, char **argv, char **envp);
/* Can a client run this file? Which one that is, and its sysroot, goes into the options. */
bool process_runs_here(const char *path, Options *o);
i64 process_clone3(Thread *t, u64 args, u64 size);
_Noreturn void process_exit(Thread *t, int status); /* prints statistics */
const char *client_file(const char *path); /* a client's program, also for who has another root by now */
i64 process_exit_thread(Thread *t, int status); /* returns if a signal has to be delivered first */
bool process_leave(Thread *t); /* the thread is going to end, and is no longer one of the.threads; false: it is the last one */
/* A trap of translated code (cpu->trap): the guest's signal. Returns if the guest goes on. */
void signal_trap(Thread *t);
struct SignalInfo;
/* A signal that the guest cannot put off, as if it were noted; false: one that is noted comes first. The guest dies of it if it has no
 * handler or blocks it. */
bool signal_force(Thread *t, const struct SignalInfo *info);
_Noreturn void signal_die(int sig); /* this process */
/* Deliver what is pending, if anything, by changing the guest state. */
void signal_deliver(Thread *t);
i64 signal_action(Thread *t, u64 sig, u64 act, u64 old, u64 size);
i64 signal_altstack(Thread *t, u64 stack, u64 old);
i64 signal_procmask(Thread *t, u64 how, u64 set, u64 old, u64 size);
i64 signal_pending(Thread *t, u64 set, u64 size);
/* Calls with a mask for their time: an argument, followed by its size, or what the sixth points to, or what io_uring_enter has. */
i64 signal_suspended(Thread *t, u64 number, const u64 args[6], u32 mask_at);
i64 signal_suspended_by(Thread *t, u64 number, const u64 args[6]);
i64 signal_suspended_ring(Thread *t, const u64 args[6]);
i64 signal_timedwait(Thread *t, u64 set, u64 info, u64 timeout, u64 size);
i64 signal_descriptor(Thread *t, u64 number, const u64 args[6]); /* signalfd */
void signal_init(Thread *t); /* the first thread: signals that are ours, and what exec has handed on */
i64 signal_return(Thread *t);
/* Around exec: what it hands on to the new program is the guest's. */
void signal_before_exec(Thread *t);
void signal_after_exec(Thread *t); /* it has failed */
void signal_after_fork(Thread *t); /* in the child */
/* A thread with the same handlers; false: no memory. */
bool signal_share(Thread *child, Thread *parent);
/* A child that shares memory but not the guest's handlers (vfork): its own copy; false: no memory. */
bool signal_copy(Thread *child, const Thread *parent);
void signal_forget(Thread *t); /* t has ended */

/* What guest_syscall and its helpers tell each other instead of a result. */
enum { SYSCALL_RESTART = -512, SYSCALL_NO_RESULT = -513 };
/* A system call for the guest: SYSCALL_RESTART if a signal has to be delivered before it. */
i64 syscall_guarded(const u64 *pending, u64 number, const u64 args[6]);
/* waits.c: the same, to its end, also if samples and the like interrupt it. */
i64 syscall_repeated(Thread *t, u64 number, const u64 args[6]);

/* ---------------------------------------------------------------------------------------------------------- for people */

void stats_print(void); /* stats.c */

/* printf to stderr with %s %d %u %x %lx %lu %c only; one write per call. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
