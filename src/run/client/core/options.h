/* options.h: the options of a run; options.c reads and writes them as one word. */
#ifndef RUN_CLIENT_OPTIONS_H
#define RUN_CLIENT_OPTIONS_H

#include "base/base.h"
#include "cache/key.h"
#include "run/protocol/plugin_id.h"
#include "tool/package.h"

/* Which code runs: quick code, optimised code, or first quick and then optimised. */
typedef enum Tier { TIER_AUTO, TIER_QUICK, TIER_OPT } Tier;

/* The processor that the guest sees; AUTO: the one that runs fast with the tier. */
typedef enum Cpu {
    CPU_AUTO,
#define CPU(id, name) CPU_##id,
#include "isa/cpus.def"
#undef CPU
    CPU_NATIVE
} Cpu;

enum {
    DEBUGGER_QUIET = 1, /* packets are not acknowledged */
    DEBUGGER_EXECS = 2, /* it wants to be told of exec */
    DEBUGGER_ONCE = 4,  /* there is a debugger, or was one */
};

typedef struct Limit {
    u64 soft, hard;
} Limit;

/* The limits that limits.c keeps for the guest in place of the kernel: of the address space, and of data. */
enum { LIMIT_SPACE, LIMIT_DATA, LIMITS_KEPT };
typedef struct Limits {
    Limit of[LIMITS_KEPT];
} Limits;

typedef struct Options {
    CodeConfig code;
    bool strace, no_follow, no_cache, perf;
    bool explain;          /* --explain */
    u32 tier, asked_tier;  /* Tier: the one used for this kind of guest, and the one asked for */
    u32 cpu;               /* Cpu */
    u32 tool_without;      /* ToolWithout: --no-tool-opt */
    u32 stats;             /* 0 none, 1 text, 2 json */
    u32 sample_us;         /* --sample-every: the interval by the wall clock; 0: samples go by the thread's CPU time */
    u32 hot_ms;            /* --hot-after: the heat from which on code is requested; 0: learn.c decides */
    u32 after_s;           /* --compile-after: seconds of CPU time for compiling after the run; 0: none */
    u32 dump;              /* DUMP_* bits, which are passed to the server */
    u32 keeper;            /* keeper.c: the descriptor that exec has handed on; 0: there is no keeper */
    u32 filters;           /* seccomp.c: the descriptor that exec has handed on, plus 1; 0: none */
    u32 first_pid;         /* of this run; --strace names all other processes */
    u32 debugger;          /* -g: the descriptor of the connection to a debugger; 0: none */
    u32 debugger_state;    /* what was agreed with it: DEBUGGER_* */
    bool by_guest;         /* a guest has started this client by exec */
    Limits limits;         /* limits.c: the limits that exec has handed on */
    char cache_dir[256];   /* empty: no cache */
    u32 cache_mib;         /* the bound of its size */
    char shared[256];      /* URL of the shared cache that the server uses, without password; empty: none */
    char server_path[256]; /* the server's program; empty: there is none */
    char socket[108];      /* the socket at which the user's daemon waits for clients; empty: there is none */
    char client_path[256]; /* this client's program, for exec */
    char emulator[256];    /* what runs that, where the machine is of another kind; empty: nothing */
    char sysroot[256];     /* the option -L */
    char tool[256];        /* the package of the tool that watches the guest; empty: none */
    char tool_options[TOOL_OPTIONS_SIZE]; /* the names of the tools in it, and their options: see tool/package.h */
    char tools_path[256];                 /* lathe-tools, for the tool's questions; empty: not known */
    char log[256];                        /* where statistics and a tool's text go; empty: to standard error */
    char plugin[PLUGIN_WORD_SIZE];        /* FILE,OPTIONS of the plugin that servers load; empty: none */
    char guest_path[256];                 /* absolute path of the guest's program, for /proc/self/exe */
} Options;

/* Reads or writes one word `key=value,key=value`, as lathe run and exec pass it. Returns false if it makes no sense or
 * does not fit. */
bool options_parse(const char *text, Options *options);
bool options_format(const Options *options, char *text, size_t size);

/* kind.c: changes the options to those for a program of this ELF machine. Returns false if no client runs it. */
bool kind_choose(u16 machine, Options *options);
/* The number in an ELF header that the host itself has. */
u16 kind_host_machine(void);
/* A path of the client's program that also works if the guest has changed its root directory. */
const char *client_file(const char *path);
/* What is to be executed for a client's command line: its program, or the emulator, which then comes first in the list. The list has room in front of it. */
const char *client_command(const Options *options, const char ***list);

#endif
