/* thread.h: a thread of the guest. */
#ifndef RUN_CLIENT_THREAD_H
#define RUN_CLIENT_THREAD_H

#include "offsets.h"
#include "run/client/core/options.h"
#include "run/protocol/protocol.h"

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

/* Sizes of host stacks: with optimised code, which has a frame for each call of the guest, and with quick code only. */
enum { HOST_STACK_BYTES = 512 << 20, HOST_STACK_SMALL = 256 << 10 };
/* Thread.stack_limit while no signal is noted. */
static inline u64 thread_stack_limit(const Thread *t) {
    return t->host_stack + t->host_stack_size / 2;
}

static inline Thread *thread_self(void) {
    Thread *t;
    __asm__("mov %%gs:%c1, %0" : "=r"(t) : "i"(THREAD_SELF));
    return t;
}

#endif
