/* thread.h: a thread of the guest. */
#ifndef RUN_CLIENT_THREAD_H
#define RUN_CLIENT_THREAD_H

#include "guest_cpu.h"
#include "host_thread.h"
#include "run/client/core/options.h"
#include "run/protocol/protocol.h"

#define EXPECTED_NOBODY (~(u64)0)
enum { QUICK_TABLE = 0x10000 }; /* entries: 16 bits of an address are one instruction's work */
enum { QUICK_C = 7 };

/* An exit of quick code for a system call: the guest's address behind it, and the code there, as long as age is quick_tables_age. */
typedef struct CallSite {
    u64 exit, pc, code, age;
} CallSite;

enum { CALL_SITES = 64 };

/* A connection to a server: remote.c. */
typedef struct Remote {
    int fd;
    bool open;
    u64 kind; /* of the code that the server makes: pack_key_kind */
    u32 user; /* the thread that waits for an answer; 0: nobody */
    u8 *data; /* the last message */
    u64 capacity;
} Remote;

/* What each part of the client has in a Thread: */

/* code/quick: what quick code, and the assembly around it, find at gs. */
typedef struct ThreadQuick {
    u64 host_sp;  /* while quick code runs: the host's stack pointer */
    u64 expected; /* the guest address at which a translation on the host stack waits for a return */
    u64 flags;    /* rflags, as quick code left them */
    u64 exit;     /* number of the exit by which it left */
    u64 target;   /* where it goes on */
    u64 spill_rcx, spill_rdx, spill_rax, spill_base;
    void (*leave)(void), (*ret)(void), (*call)(void), (*jump)(void); /* of quick.S */
    u64 arena;                                                       /* where the code arena begins */
    u64 host_base;                                                   /* host_sp without any translation waiting */
    void (*cross_enter)(void), (*cross_leave)(void);                 /* of cross.S */
    u64 crossings;                                                   /* between quick and optimised code */
    u64 crossed;    /* the last one from quick code: where to, from the arena's begin */
    u64 next_place; /* of cross.S: where it goes when it has no register left */
    u64 stop;       /* quick code is to be left: see renew.c */
    const void *c
        [QUICK_C]; /* what assembly calls: quick_lookup, _lookup_call, _lookup_jump, _arrive, _exit; cross_back, quick_interrupted */
    void (*return_expected)(void), (*return_plain)(void); /* what `ret` is, with and without somebody expected */
    void (*return_exact)(void);                           /* and where flags are kept */
    void (*to_return)(void), (*to_jump)(void);            /* what optimised code goes on by in quick code */
    u64 map_end;                                          /* addresses from here on are not in the map (quick/map.h) */
    u64 asked;                                            /* the guest address that a computed jump or call leads to */
    u64 helping;                                          /* quick code is in a helper */
    u64 tables_age;                                       /* when the thread ended: see quick_tables_age */
    bool stopped;                                         /* see renew.c */
} ThreadQuick;

/* code/quick: code by guest address. */
typedef struct ThreadLookup {
    u64 pc[QUICK_TABLE];
    u64 code[QUICK_TABLE]; /* of calls by bits 4–19 of the address, of returns by the lowest 16 */
    u64 jump_pc[QUICK_TABLE],
        jump_code[QUICK_TABLE]; /* jumps, likewise; addresses are negated, so that lea compares them */
    CallSite sites[CALL_SITES]; /* of calls made last, by the number of their exits */
} ThreadLookup;

/* code/tier.c and code/optimised: which code runs. */
typedef struct ThreadTier {
    u64 crossings_seen, sampled_us; /* at the last sample; of this thread's CPU time */
    bool sampled;                   /* tier.c wants to know where it is */
    bool optimised; /* with --tier=opt: its vector and floating-point registers are in `cpu`, not in the host's */
    u32 code_age;   /* leave.c: of the translations that it may be in; 0: it has not run any yet */
} ThreadTier;

/* code/server: for a thread with descriptors of its own (process.own_files). */
typedef struct ThreadServer {
    Remote remote;
    int keeper;
} ThreadServer;

/* os/process.c and os/syscall.c */
typedef struct ThreadProcess {
    u32 lives;           /* the kernel clears it when a separate one ends or execs */
    bool separate;       /* of a process of its own, in memory that it shares for good */
    bool own_files;      /* its descriptors are not those of the process that the memory is of */
    bool borrows_memory; /* a vfork child: the memory is its parent's */
    bool in_call;        /* a system call: the guest's state is whole, and nothing of translated code is in use */
    bool repeat;         /* what the guest does not see came as a system call of it ended, or ended it: see waits.c */
    u32 locks;           /* sys.c: that a separate one holds, and its mask without them */
    u64 unlocked_mask;
} ThreadProcess;

/* os/signal: what signals of the guest have come to. */
typedef struct ThreadSignal {
    struct SignalState *table;   /* the guest's handlers; shared by what shares the kernel's */
    bool shares;                 /* with another thread, now or once */
    u8 info[128];                /* the siginfo of the signal that is pending */
    u64 mask;                    /* while one is pending: the guest's mask */
    u8 access_info[128];         /* the siginfo of an access that has left optimised code */
    u64 fault_error, fault_trap; /* of the last fault, for handlers: the kernel, too, keeps them */
    u64 blocked; /* of the signals that are ours on the host, which does not block them: those that the guest blocks */
    u64 held;    /* such signals, sent while the guest blocks them or another one is pending, and their siginfo */
    u8 held_info[6][128];
    bool framing;      /* writes a frame to the guest's stack, which may not be there */
    bool masking;      /* the host's mask is not the guest's, and no signal is pending */
    bool stepping;     /* quick code goes on by single steps to the next instruction of the guest */
    bool pushes_flags; /* the instruction being stepped over is pushf, which sees our trap flag */
    bool suspended;    /* in a system call with a mask of its own */
    u64 suspend_mask;
    u64 altstack, altstack_size; /* the guest's; size 0: none */
    u32 altstack_flags;
} ThreadSignal;

/* os/seccomp.c */
typedef struct ThreadFilter {
    struct Filter *newest;   /* NULL: none */
    u32 mode;                /* SECCOMP_MODE_* */
    bool wants_no_new_privs; /* another thread has said so for this one */
} ThreadFilter;

/* memory/limits.c */
typedef struct ThreadMemory {
    Limits *limits; /* the process's; own_limits for a process of its own in memory that it shares */
    Limits own_limits;
} ThreadMemory;

/* Host stacks: of the client's code and optimised code, and of the host's signal handlers. */
typedef struct ThreadStack {
    u64 host, host_size;
    u64 signal, signal_size;
} ThreadStack;

/* Code that the server makes knows where the first three members are, and the table: see protocol.h. What lies before the table has one page. */
typedef struct Thread {
    union {
        GuestCpu cpu; /* translated code gets a pointer to it */
        u8 room[THREAD_STACK_LIMIT];
    };
    u64 stack_limit; /* host stack: below this, computed jumps return to the dispatcher; with --tier=opt and a signal noted, they all do */
    u64 pending_signals; /* bit n-1: signal n waits for delivery. One at a time: meanwhile the host blocks all others */
    struct Thread *self;
    ThreadQuick quick;
    ThreadTier tier;
    ThreadStack stack;
    u32 pid, tid;
    struct Thread *next; /* of the.threads or the.os.ended */
    ThreadProcess process;
    ThreadServer server;
    ThreadFilter filter;
    __attribute__((aligned(4096)))
    TableEntry table[1 << TABLE_BITS]; /* optimised code that computed jumps and calls have asked for */
    ThreadLookup lookup;
    ThreadMemory memory;
    ThreadSignal signal;
} Thread;

_Static_assert(offsetof(Thread, stack_limit) == THREAD_STACK_LIMIT &&
                   offsetof(Thread, pending_signals) == THREAD_PENDING && offsetof(Thread, table) == THREAD_TABLE,
               "protocol.h");

/* Of an entry of the lookup tables that has nothing: an address whose own entry is another, and not beside it. 0 is a target like any
 * other. */
#define QUICK_NO_TARGET(index) ((u64)((index) < 2 ? 0x100 : 0))

/* Places in a Thread, for code that is made at run time; assembly has the same from asm_offsets.h, which the build makes of this table. */
enum {
#define OFFSET(name, member) name = offsetof(Thread, member),
#include "run/client/core/offsets.def"
#undef OFFSET
};

/* Sizes of host stacks: with optimised code, which has a frame for each call of the guest, and with quick code only. */
enum { HOST_STACK_BYTES = 512 << 20, HOST_STACK_SMALL = 256 << 10 };
/* Thread.stack_limit while no signal is noted. */
static inline u64 thread_stack_limit(const Thread *t) {
    return t->stack.host + t->stack.host_size / 2;
}

static inline Thread *thread_self(void) {
    return (Thread *)host_thread_word(offsetof(Thread, self));
}

#endif
