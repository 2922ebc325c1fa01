/* thread.h: a thread of the guest. */
#ifndef RUN_CLIENT_THREAD_H
#define RUN_CLIENT_THREAD_H

#include "guest_cpu.h"
#include "host_thread.h"
#include "run/client/core/options.h"
#include "run/protocol/protocol.h"
#include "tool/package.h"

#define EXPECTED_NOBODY (~(u64)0)
/* Entries of the lookup tables: one instruction gets 16 bits of an address. */
enum { QUICK_TABLE = 0x10000 };
enum { QUICK_C = 7 };

/* An exit of quick code for a system call: the guest's address behind the call, and the quick code for that address,
 * which is valid while `age` equals quick_tables_age. */
typedef struct CallSite {
    u64 exit, pc, code, age;
} CallSite;

enum { CALL_SITES = 64 };

/* A connection to a server (remote.c). */
typedef struct Remote {
    int fd;
    bool open;
    u64 kind; /* the kind of code that the server makes: pack_key_kind */
    u64 pc;   /* of the last request */
    u32 user; /* the thread that waits for an answer at it; 0: none */
    u8 *data; /* the last message received */
    u64 capacity;
} Remote;

/* What each part of the client has in a Thread: */

/* code/quick: what quick code and the assembly around it find by the register gs. */
typedef struct ThreadQuick {
    u64 host_sp; /* while quick code runs: the host's stack pointer; code of stencils may have calls below it */
    u64 expected; /* the guest address at which a translation on the host stack waits for a return; EXPECTED_NOBODY: none does */
    u64 expected_sp; /* the guest's stack pointer when that translation went over to quick code */
    u64 flags;       /* rflags as they were when quick code was left */
    u64 exit;        /* the number of the exit by which quick code was left */
    u64 target;      /* the guest address at which the guest goes on */
    u64 spill_rcx, spill_rdx, spill_rax, spill_base;
    void (*leave)(void), (*ret)(void), (*call)(void), (*jump)(void); /* of quick.S */
    u64 arena;                                                       /* where the code arena begins */
    u64 host_base;                                   /* host_sp when no translation waits for a return */
    void (*cross_enter)(void), (*cross_leave)(void); /* of cross.S */
    u64 crossings;  /* how often quick code has entered optimised code or was entered by it */
    u64 crossed;    /* the target of the last change from quick code, relative to the arena's begin */
    u64 next_place; /* for cross.S: the address to go to when no register is free for it */
    u64 stop;       /* not 0: quick code is to be left, see halt.h */
    /* The functions that assembly calls: quick_lookup, _lookup_call, _lookup_jump, _arrive, _exit; cross_back, quick_interrupted */
    const void *c[QUICK_C];
    void (*return_expected)(void);             /* the value of `ret` while a translation expects a return, */
    void (*return_plain)(void);                /* while none does, */
    void (*return_exact)(void);                /* and where returns keep the flags */
    void (*to_return)(void), (*to_jump)(void); /* what optimised code goes on by in quick code */
    u64 map_end;                               /* addresses from here on are not in the map (quick/map.h) */
    u64 asked;                                 /* the guest address that a computed jump or call leads to */
    u64 helping;                               /* not 0: a helper runs that quick code has called */
    u64 calls_sp;                              /* the host's stack pointer while a tool's function runs; stencils */
    u64 tables_age;                            /* quick_tables_age when the thread ended */
    bool stopped;                              /* see halt.c */
} ThreadQuick;

/* code/quick: finds the quick code of a guest address. */
typedef struct ThreadLookup {
    u64 pc[QUICK_TABLE];
    /* Targets of calls are found by bits 4–19 of the address, targets of returns by the lowest 16 bits. */
    u64 code[QUICK_TABLE];
    u64 jump_pc[QUICK_TABLE],
        jump_code[QUICK_TABLE]; /* targets of jumps, likewise; the addresses are negated, so that lea compares them */
    CallSite sites[CALL_SITES]; /* the system calls made last, by the number of their exits */
} ThreadLookup;

/* code/tier.c and code/optimised: which code runs. */
typedef struct ThreadTier {
    u64 crossings_seen, sampled_us; /* both as of the last sample; sampled_us is CPU time of this thread */
    u64 place; /* tier.c: where most samples are taken, as the beginning of what could be optimised there; 0: nothing */
    u64 steady_ms; /* for how long that has been so */
    u32 notes;     /* verdict.c: the timer's signals since the last sample was taken, */
    u32 stays;     /* how many of these found the thread in optimised code, */
    u64 stayed;    /* and the entrance by which it had come there last, as `crossed` has it */
    bool timed;    /* it has a timer for samples, with this number and period: */
    i32 timer;
    u32 period_ms;
    bool sampled; /* tier.c wants to know where the thread is */
    /* True with --tier=opt: the guest's vector and floating-point registers are in `cpu`, not in those of the host. */
    bool optimised;
    u32 code_age; /* leave.c: the age of the translations that the thread may be in; 0: it has not run any */
} ThreadTier;

/* code/server: used by a thread that has descriptors of its own (process.own_files). */
typedef struct ThreadServer {
    Remote remote;
    int keeper;
} ThreadServer;

/* os/process.c and os/syscall.c */
typedef struct ThreadProcess {
    u32 lives;           /* the kernel sets it to 0 when a `separate` process ends or calls exec */
    bool separate;       /* it is a process of its own that shares this memory for good */
    bool own_files;      /* its descriptors are not those of the process that owns the memory */
    bool borrows_memory; /* it is a vfork child and uses its parent's memory */
    bool lends_memory;   /* it is the parent of a vfork child and sleeps until the child is gone */
    bool in_call;        /* it is in a system call: the guest's state is complete, and no translated code is in use */
    bool repeat; /* a signal that the guest does not see ended a system call, or came just as it ended: see waits.c */
    u32 locks;   /* sys.c: how many locks a `separate` process holds, and its signal mask without them */
    u64 unlocked_mask;
} ThreadProcess;

/* os/signal: the signals of the guest. */
typedef struct ThreadSignal {
    struct SignalState *table;   /* the guest's handlers; shared by those threads whose handlers the kernel shares */
    bool shares;                 /* the table is or was shared with another thread */
    u8 info[128];                /* the siginfo of the noted signal (pending_signals) */
    u64 mask;                    /* the guest's mask while a signal is noted */
    u8 access_info[128];         /* the siginfo of a memory access that has left optimised code */
    u64 fault_error, fault_trap; /* of the last fault, for handlers; the kernel keeps them, too */
    /* Those of the client's signals (signal_ours) that the guest blocks. The host never blocks them. */
    u64 blocked;
    /* Those of the client's signals that were sent while the guest blocked them or another signal was noted. */
    u64 held;
    u8 held_info[6][128];
    u8 looks;       /* last.c: how often the thread was in no function of a tool when the time was over */
    bool impatient; /* last.c: a signal that may end the program is noted, and this timer runs: */
    i32 patience;
    const void *nudge; /* what the client's last signal to this thread was for */
    bool framing;      /* a frame is being written to the guest's stack, which may fault */
    bool masking;      /* no signal is noted, and the host's mask is not the guest's */
    /* arrive.c: how far single steps through quick code have come. */
    bool stepping;     /* the thread makes single steps to the guest's next instruction */
    u32 steps;         /* how many such instructions it has passed because it should come further */
    u64 stepped;       /* the guest instruction at which the last step ended */
    u32 passes;        /* how many steps in a row have ended at that instruction */
    bool pushes_flags; /* the instruction that is stepped over is pushf, which would save the client's trap flag */
    bool suspended;    /* the thread is in a system call during which suspend_mask is in force */
    u64 suspend_mask;
    u64 altstack, altstack_size; /* the guest's alternate stack; size 0: it has none */
    u32 altstack_flags;
} ThreadSignal;

/* os/seccomp.c */
typedef struct ThreadFilter {
    struct Filter *newest;  /* NULL: none */
    u32 mode;               /* SECCOMP_MODE_* */
    u32 wants_no_new_privs; /* another thread has set no_new_privs for this one, too */
} ThreadFilter;

/* memory/limits.c */
typedef struct ThreadMemory {
    /* The limits of the process, or own_limits if this is a separate process in shared memory. */
    Limits *limits;
    Limits own_limits;
} ThreadMemory;

enum { TOOL_SPILLS = 33, TOOL_KEPT = 9 * 9 };

/* tool: what a tool has of the thread. */
typedef struct ThreadTool {
    u64 visited; /* the host address behind the last visit (code/quick/visit.c); 0: none since the state was taken last */
    struct ToolEvent *event; /* what the tool's functions are called for just now; NULL: nothing */
    u64 calling;             /* the function of the tool's that tool_call calls; 0: none */
    u64 known; /* quick.crossings + 1 when the masks of registers were known last, which optimised code has (server/values/values.h) */
    u32 locks;                   /* how many of the tool's locks it holds (tool/locks.c) */
    u64 skip_pc, skip_sp;        /* the instruction and stack pointer at which a signal came behind a visit; 0: none */
    u32 skip_phases;             /* the visits of its first so many phases are not made again there */
    u32 visited_site;            /* the number of the last visit */
    bool inside;                 /* cpu.pc is in the middle of what a tool sees as a block (LATHE_BLOCK) */
    u64 address[TOOL_ADDRESSES]; /* of an instruction's accesses, for the visit behind the instruction */
    /* Calls of its functions from quick code: what the guest's registers have, by their numbers, and behind them the flags; and the
     * function's own registers, where some of the guest's stand for them. */
    u64 spill[TOOL_SPILLS];
    u64 returns_to; /* where such a function would have returned to, if it has been made to return to a trap: see direct_recall */
    u64 kept_depth, kept[TOOL_KEPT]; /* by gate.S: how many bytes of these words it uses */
    __attribute__((aligned(64)))
    u64 cell[TOOL_COUNTERS_MAX][TOOL_CELLS]; /* its counters, each of which is the sum of its cells */
    u64 own[TOOLS_MAX][LATHE_OWN_WORDS];     /* LATHE_THREAD_OWN of each tool; most of it is never touched */
} ThreadTool;

/* debug: what a debugger has asked of the thread. */
typedef struct ThreadDebug {
    u8 step;           /* DebugStep */
    bool goes;         /* it may go on */
    bool at_signal;    /* it has stopped for a signal */
    u32 signal;        /* the signal that the guest gets when the thread goes on; 0: none */
    u32 given;         /* a signal from the debugger that is on its way to the guest; 0: none */
    bool only_watches; /* it makes single steps only because memory is watched */
    u64 watched;       /* the address of watched memory that has changed; 0: none */
} ThreadDebug;

/* Host stacks: one for the client's C code and for optimised code, one for the host's signal handlers, and one for a tool's functions that quick code
 * calls. A thread whose stack pointer is on the last one is in such a function. */
typedef struct ThreadStack {
    u64 host, host_size;
    u64 signal, signal_size;
    u64 tool_top; /* where it begins; 0: there is no tool */
} ThreadStack;

/* Code that the server makes contains the offsets of the first three members and of `table`: see protocol.h. Everything
 * before `table` lies in one page. */
typedef struct Thread {
    union {
        GuestCpu cpu; /* translated code gets a pointer to it */
        u8 room[THREAD_STACK_LIMIT];
    };
    /* Limit of the host stack: below it, computed jumps of optimised code return to the dispatcher. With --tier=opt and
     * a noted signal they all do. */
    u64 stack_limit;
    /* Bit n-1: signal n is noted and waits for delivery. There is only one at a time; meanwhile the host blocks all
     * others. */
    u64 pending_signals;
    struct Thread *self;
    ThreadQuick quick;
    ThreadTier tier;
    ThreadStack stack;
    u32 pid, tid;
    u32 library_error;   /* errno of functions of C libraries that are in the client; nobody reads it */
    struct Thread *next; /* of the.threads or the.os.ended */
    ThreadProcess process;
    ThreadServer server;
    ThreadFilter filter;
    __attribute__((aligned(4096)))
    TableEntry table[1 << TABLE_BITS]; /* optimised code that computed jumps and calls have asked for */
    ThreadLookup lookup;
    ThreadMemory memory;
    ThreadSignal signal;
    ThreadDebug debug;
    ThreadTool tool;
    /* Its rows of the tool's tables (tool/table), if it has tables: memory that is used only as far as there are rows. */
    __attribute__((aligned(64))) u64 row[];
} Thread;

_Static_assert(offsetof(Thread, stack_limit) == THREAD_STACK_LIMIT &&
                   offsetof(Thread, pending_signals) == THREAD_PENDING && offsetof(Thread, table) == THREAD_TABLE,
               "protocol.h");

/* The address in an empty entry of the lookup tables. It has to be one that belongs to another entry, which is not
 * beside this one: 0 would be a target like any other. */
#define QUICK_NO_TARGET(index) ((u64)((index) < 2 ? 0x100 : 0))

/* Offsets in a Thread, for code that is made at run time. Assembly has the same from asm_offsets.h, which the build
 * makes from this table. */
enum {
#define OFFSET(name, member) name = offsetof(Thread, member),
#include "run/client/core/offsets.def"
#undef OFFSET
};

/* Sizes of host stacks: for optimised code, which has a frame for each call of the guest, and for quick code only. */
enum { HOST_STACK_BYTES = 512 << 20, HOST_STACK_SMALL = 256 << 10 };
/* The value of Thread.stack_limit while no signal is noted. */
static inline u64 thread_stack_limit(const Thread *t) {
    return t->stack.host + t->stack.host_size / 2;
}

/* False for a thread of another process that shares this memory, for a while (a vfork child) or for good (separate). */
static inline bool thread_is_of_process(const Thread *t) {
    return !t->process.borrows_memory && !t->process.separate;
}

static inline Thread *thread_self(void) {
    return (Thread *)host_thread_word(offsetof(Thread, self));
}

#endif
