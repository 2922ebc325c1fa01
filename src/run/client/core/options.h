/* options.h: what a run was asked for: options.c reads and writes it as one word. */
#ifndef RUN_CLIENT_OPTIONS_H
#define RUN_CLIENT_OPTIONS_H

#include "base/base.h"
#include "cache/key.h"

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
    u32 tier, asked_tier;  /* Tier: what this kind of guest has, and what was asked for */
    u32 cpu;               /* Cpu */
    u32 stats;             /* 0 none, 1 text, 2 json */
    u32 sample_us;         /* --sample-every: how often, by the clock on the wall; 0: by the thread's own CPU time */
    u32 dump;              /* DUMP_* bits, handed to the server */
    u32 keeper;            /* keeper.c: descriptor that exec hands on; 0: there is no keeper */
    u32 filters;           /* seccomp.c: descriptor of what exec hands on, plus 1; 0: nothing */
    u32 first_pid;         /* of the run: --strace names all others */
    bool by_guest;         /* a guest has started this one by exec */
    Limits limits;         /* limits.c: what exec hands on */
    char cache_dir[256];   /* empty: no cache */
    u32 cache_mib;         /* what may be in it */
    char shared[256];      /* the server's shared cache, without password; empty: none */
    char server_path[256]; /* the program that is the server */
    char socket[108];      /* where a server of the user's waits for clients; empty: there is none */
    char client_path[256]; /* this program, for exec of guests */
    char sysroot[256];     /* -L */
    char guest_path[256];  /* the guest's program, absolute: /proc/self/exe */
} Options;

/* One word `key=value,key=value`, as lathe run and exec hand it on; false: it makes no sense, or does not fit. */
bool options_parse(const char *text, Options *options);
bool options_format(const Options *options, char *text, size_t size);

/* kind.c: change the options to those for a program of that ELF machine; false: no client runs it. */
bool kind_choose(u16 machine, Options *options);
/* The program of a client, by a path that works also for a guest that has another root directory by now. */
const char *client_file(const char *path);

#endif
