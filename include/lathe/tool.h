/* tool.h: tools that watch programs under `lathe run`.
 *
 * A tool is one C file. It says, as data, which of its functions is called at which events:
 *
 *     #include <lathe/tool.h>
 *
 *     static LatheCounter instructions;
 *
 *     static void count(void) {
 *         lathe_count(&instructions, 1);
 *     }
 *
 *     static void report(void) {
 *         lathe_print("%lu instructions\n", lathe_total(&instructions));
 *     }
 *
 *     LATHE_HOOKS(LATHE_ON(LATHE_INSN, count), LATHE_ON(LATHE_END, report));
 *
 * and is used by `lathe run --tool=count.c -- PROGRAM`. Lathe compiles it, and looks into the functions: one that only counts, by
 * amounts that are known when code is translated and without a condition, is not called: its additions are put between the program's instructions, and those of many instructions become one. `lathe tool count.c`
 * says what becomes of each function, and why it is called.
 *
 * Several tools may watch a program at once, by one --tool each: then those that come first are called first at each event. They see nothing of each other: each has
 * its own variables, counters, options and words of threads.
 *
 * The file is freestanding: there is no C library, only what is declared here. Its memory is its own, and the program cannot see it. Threads
 * of the program run at the same time, and so do the functions of a tool; counters are exact all the same. */
#ifndef LATHE_TOOL_H
#define LATHE_TOOL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which one of the tools that watch the program this is, from 1 on: Lathe compiles each with its number. */
#ifndef LATHE_TOOL_NUMBER
#define LATHE_TOOL_NUMBER 0
#endif

/* ------------------------------------------------------------------------------------------------------------- events */

typedef enum LatheEvent {
    LATHE_NOTHING,
    LATHE_INSN,  /* an instruction is about to be executed */
    LATHE_START, /* the program begins; in a child after fork, or after exec, it begins anew */
    LATHE_END, /* the program ends by exit, a fault or a signal that it does not handle, or exec; only SIGKILL leaves no time for it. Each process reports: lathe_program() and lathe_process() tell them apart. Other threads may still run meanwhile, and counters grow */
    LATHE_SYSCALL, /* a system call is about to be made */
    LATHE_SYSCALL_DONE, /* it has returned. Calls that do not return, or are made again because of a signal, have no such event */
    LATHE_SIGNAL,     /* a handler of the program's is about to run for a signal */
    LATHE_THREAD,     /* a thread begins, in that thread; the first one has none */
    LATHE_THREAD_END, /* a thread ends, in that thread, before the program does */
    LATHE_FORKED, /* the program has made a copy of itself, in the one that made it; the copy begins with LATHE_START */

    /* About an instruction, like LATHE_INSN. Those that are told before it come in this order: LATHE_BLOCK, LATHE_FUNCTION, LATHE_INSN, its accesses, how
     * control goes on. */
    LATHE_INSN_DONE, /* an instruction was executed, and the next one follows: not behind jumps, branches, calls, returns, system calls and faults */
    LATHE_LOAD,      /* the instruction is about to read memory */
    LATHE_STORE, /* it is about to write memory. What it both reads and writes is a load, then a store. What the system writes (read, recv) is no event */
    LATHE_LOADED, /* behind an instruction that has read memory. Of a call, a return or a jump this and the next one come before it is executed */
    LATHE_STORED, /* behind an instruction that has written memory */
    LATHE_BLOCK,  /* a block begins: see below */
    LATHE_BRANCH, /* a conditional jump */
    LATHE_JUMP,   /* a jump to a computed address */
    LATHE_GOTO,   /* a jump to an address that is part of the instruction */
    LATHE_CALL,
    LATHE_RETURN,
    LATHE_FUNCTION, /* an instruction with which a function begins, by the symbols of its file. Functions that are chosen when the program starts (IFUNC: memcpy, strlen of the C library) run under other names, such as __memmove_avx_unaligned_erms; what has the name itself is then the function that chooses */
    LATHE_MODULE,   /* a part of a file was mapped so that it can be executed, or was made executable later */
    LATHE_MODULE_END, /* a part of a file that could be executed was unmapped, something else was mapped there, or it was made not executable. It may be a piece of what LATHE_MODULE told. There is none when the program ends */
    LATHE_EVENTS,     /* how many there are */
} LatheEvent;

/* A block is what is executed from an instruction on to which control was transferred, by a jump, a call, a return or a system call, up to and with the
 * next instruction that may transfer control: also behind a branch that is not taken a new one begins. Handlers of signals begin one, and so does the
 * instruction at which the program goes on behind a handler.
 *
 * Accesses. A repeated string instruction has an event for each access of each pass, before that pass. An access of which a mask says how much is done has one event
 * for all of it, also where nothing is done; one to several addresses by the elements of a vector has one event, for the address that is the same for all and the
 * size of one element. Instructions that only prefetch, or compute an address, access nothing. */

/* What a function is given, as 64 bits each, in the order of the hook. A tool whose hook asks for a value that is not known at its event is refused:
 *
 *     at all events                                   LATHE_CONSTANT, LATHE_THREAD_ID, LATHE_THREAD_OWN, LATHE_COUNTED, LATHE_REGISTER, LATHE_SP
 *     at those about an instruction                   LATHE_PC, LATHE_SIZE, LATHE_NEXT, LATHE_SITE, LATHE_CLASSES, LATHE_OPCODE; and:
 *         LATHE_LOAD, LATHE_STORE                     LATHE_ADDRESS, LATHE_BYTES
 *         LATHE_LOADED, LATHE_STORED                  LATHE_ADDRESS, LATHE_BYTES, LATHE_VALUE
 *         LATHE_BLOCK                                 LATHE_BYTES, LATHE_COUNT
 *         LATHE_BRANCH                                LATHE_TARGET, LATHE_TAKEN
 *         LATHE_JUMP, LATHE_GOTO,
 *         LATHE_CALL, LATHE_RETURN                    LATHE_TARGET
 *         LATHE_FUNCTION                              LATHE_ARGUMENT
 *         LATHE_RETURN                                LATHE_RESULT
 *     LATHE_SYSCALL                                   LATHE_PC, LATHE_NUMBER, LATHE_ARGUMENT
 *     LATHE_SYSCALL_DONE                              LATHE_PC, LATHE_NUMBER, LATHE_ARGUMENT, LATHE_RESULT
 *     LATHE_SIGNAL                                    LATHE_PC, LATHE_NUMBER, LATHE_TARGET
 *     LATHE_FORKED                                    LATHE_PC, LATHE_NUMBER
 *     LATHE_THREAD, LATHE_THREAD_END                  LATHE_PC
 *     LATHE_MODULE, LATHE_MODULE_END                  LATHE_ADDRESS, LATHE_BYTES, LATHE_NAME, LATHE_OFFSET */
typedef enum LatheWhat {
    LATHE_NO_VALUE,
    LATHE_CONSTANT, /* a number that the hook has */
    LATHE_PC,       /* the address of an instruction, or of the next one where the event is about none */
    LATHE_SIZE,     /* how many bytes the instruction has */
    LATHE_NUMBER,   /* of the system call or the signal; of the process that was made */
    LATHE_ARGUMENT, /* of a system call, or of a function that begins, as lathe_arg has it; the hook has which one, from 0 to 5 */
    LATHE_RESULT, /* of a system call that is done: a negative number from -4095 on is an error; of a function that returns, if it is an integer or a pointer */
    LATHE_THREAD_ID,  /* the system's number of the thread */
    LATHE_THREAD_OWN, /* the address of LATHE_OWN_WORDS words that the tool has in each thread, all zero at first; a copy of the program (fork) goes on with their values */
    LATHE_ADDRESS,    /* of what is accessed; where a module is mapped */
    LATHE_BYTES,      /* how many are accessed; of a block or a module: how many it has */
    LATHE_VALUE, /* LATHE_LOADED, LATHE_STORED: what memory has there, the first 8 bytes of it at most, as a little-endian number */
    LATHE_COUNT,  /* LATHE_BLOCK: how many instructions it has */
    LATHE_TARGET, /* where a jump, call or return leads; a branch, if it is taken; of a signal: the handler */
    LATHE_TAKEN,  /* LATHE_BRANCH: 1 if it is taken, 0 if not */
    LATHE_NEXT,   /* the address behind the instruction: where a call returns to */
    LATHE_REGISTER, /* a register of the program's; the hook has which one, by its number in the instruction set: see below */
    LATHE_SP,       /* the stack pointer */
    LATHE_SITE, /* the address of LATHE_SITE_WORDS words that this hook has for this instruction, all zero at first; threads share them, and a copy of the program (fork) goes on with their values */
    LATHE_CLASSES, /* the classes of the instruction, LATHE_CLASS_* */
    LATHE_OPCODE,  /* its opcode, as a number below LATHE_OPCODES; lathe_opcode_name has the name */
    LATHE_NAME,    /* LATHE_MODULE, LATHE_MODULE_END: the file, as const char * that is valid during the call */
    LATHE_OFFSET,  /* likewise: where in the file the part begins */
    LATHE_COUNTED, /* the address of LATHE_COUNTED_WORDS words of the thread's, whose sum is what it has counted so far by the LatheCounter whose address the hook has: see lathe_counted */
} LatheWhat;

enum { LATHE_SITE_WORDS = 4, LATHE_COUNTED_WORDS = 4, LATHE_OPCODES = 2048 };

/* The numbers of registers, up to 31. One that the program's machine does not have is 0. */
enum {
    LATHE_X86_RAX,
    LATHE_X86_RCX,
    LATHE_X86_RDX,
    LATHE_X86_RBX,
    LATHE_X86_RSP,
    LATHE_X86_RBP,
    LATHE_X86_RSI,
    LATHE_X86_RDI, /* r8 to r15 are 8 to 15 */
};
enum {
    LATHE_RISCV_RA = 1,
    LATHE_RISCV_SP = 2,
    LATHE_RISCV_GP = 3,
    LATHE_RISCV_TP = 4,
    LATHE_RISCV_A0 = 10, /* x0 to x31 are 0 to 31 */
};

/* What an instruction is; it may be of several classes. One that does nothing is of none. */
// clang-format off
enum {
    LATHE_CLASS_INTEGER = 1,    /* moves or computes integers; no transfer of control */
    LATHE_CLASS_FLOAT = 2,      /* has to do with floating-point values */
    LATHE_CLASS_VECTOR = 4,     /* works on vectors */
    LATHE_CLASS_BRANCH = 8,     /* goes to its target or on */
    LATHE_CLASS_JUMP = 16,      /* goes elsewhere always, and is neither call nor return */
    LATHE_CLASS_CALL = 32,
    LATHE_CLASS_RETURN = 64,
    LATHE_CLASS_LOAD = 128,     /* reads memory */
    LATHE_CLASS_STORE = 256,    /* writes memory */
    LATHE_CLASS_ATOMIC = 512,   /* accesses memory atomically, or orders accesses */
    LATHE_CLASS_STRING = 1024,  /* goes through memory by itself */
    LATHE_CLASS_SYSTEM = 2048,  /* calls the system, traps, or has to do with the state of the processor */
};
// clang-format on

enum { LATHE_OWN_WORDS = 4096 };

typedef struct LatheValue {
    LatheWhat what;
    long number; /* of LATHE_CONSTANT, LATHE_ARGUMENT, LATHE_REGISTER and LATHE_COUNTED */
} LatheValue;

enum { LATHE_VALUES = 6 };

/* Where a hook applies, if not everywhere; for events about instructions. It is decided when code is translated: what does not apply costs nothing. What is
 * NULL or 0 leaves out nothing; all that is given must hold. */
typedef struct LatheWhere {
    const char *
        module; /* the name of the file that the instruction is of, without its directory; each * in it stands for anything */
    const char *symbol; /* the name of the function that it is in, by the symbols of that file; likewise */
    uint64_t from, to;  /* addresses: the first one, and the one behind the last */
    uint32_t classes;   /* the instruction is of one of these, LATHE_CLASS_* */
    const char *opcode; /* its opcode's name, as lathe_opcode_name has it; likewise */
    bool
        leaves; /* of LATHE_BRANCH and LATHE_GOTO: only those whose target is in another function than they are, by the symbols of files. All code of a file between two functions is one function, too */
    bool
        not_stack; /* of accesses: only those whose address is more than the stack pointer and a constant; the others are variables of functions, what is pushed, and where calls return to */
    /* The function is called when a thread comes to the instruction for the first time. Later calls may be left out, and are where that makes the program faster: then the hook costs almost
     * nothing. Threads that come at the same time may all call it; it is called again in a copy of the program, and where code has been translated anew. Not for
     * events behind an instruction; and whether it comes before the other functions at the instruction is not said. */
    bool once;
    const char *option, *unless; /* only if the tool was given the first option, and not the second one */
} LatheWhere;

typedef struct LatheHook {
    LatheEvent event;
    void (*call)(void); /* a function that takes as many integers or pointers as the hook has values */
    LatheValue value[LATHE_VALUES];
    LatheWhere where;
} LatheHook;

/* A hook: an event, a function, and what the function is given, each in braces, at most LATHE_VALUES: LATHE_ON(LATHE_INSN, look, {LATHE_PC}, {LATHE_CONSTANT, 3}). */
#define LATHE_ON(event, function, ...)                                                                                 \
    {                                                                                                                  \
        event, (void (*)(void))(function), {__VA_ARGS__}, {                                                            \
            0                                                                                                          \
        }                                                                                                              \
    }

/* The same for certain places only: LATHE_WHERE(LATHE_CALL, look, ((LatheWhere){.module = "libc.so*"}), {LATHE_TARGET}). */
#define LATHE_WHERE(event, function, where, ...)                                                                       \
    { event, (void (*)(void))(function), {__VA_ARGS__}, where }

/* All hooks of a tool. */
#define LATHE_HOOKS(...)                                                                                               \
    const LatheHook lathe_hooks[] = {__VA_ARGS__, {LATHE_NOTHING, NULL, {{LATHE_NO_VALUE, 0}}, {0}}}

/* ----------------------------------------------------------------------------------------------------------- counters */

/* A number that only grows by additions. Each thread has one of its own; nobody waits for anybody, and nothing is lost. A counter is a global
 * variable of the tool's; an array of them is fine, but not one on the stack nor in memory of lathe_alloc. */
typedef struct LatheCounter {
    unsigned long number; /* which one it is; Lathe sets it */
} LatheCounter;

void lathe_count(LatheCounter *counter, long amount);
/* The sum over all threads, of those that have ended, too. */
unsigned long lathe_total(const LatheCounter *counter);

/* What the thread alone has counted: `words` are what a hook is given by {LATHE_COUNTED, (long)&counter}. They stay where they are while the thread runs, and begin at 0 in a copy of the program. At an
 * event, what the hooks have counted that come before this one is in it; and of instructions that are always executed one after the other, what later ones count may be in it already. So at
 * the end of a block, all of the block is in it. */
static inline uint64_t lathe_counted(const uint64_t *words) {
    return words[0] + words[1] + words[2] + words[3];
}

/* A table of counters: it has a row, which is such a number, for each combination of keys that was counted for; keys that are not needed are 0. Where the function only counts,
 * by constant amounts, and the keys are constants or what its hook is given of LATHE_CONSTANT, LATHE_PC, LATHE_SIZE, LATHE_NEXT, LATHE_BYTES, LATHE_COUNT, LATHE_CLASSES and
 * LATHE_OPCODE, as uint64_t, a row costs the program no more than a counter does. With other keys the row is looked for each time. A table is a global variable; it is
 * empty at first, and in a copy of the program.
 *
 *     static LatheTable blocks;
 *     static void block(uint64_t pc, uint64_t insns) { lathe_count_in(&blocks, pc, insns, 0, 1); }
 *     ...
 *     for (LatheRow r = {0}; lathe_table_next(&blocks, &r);)
 *         lathe_print("%lx: %lu\n", r.key[0], r.total); */
enum { LATHE_KEYS = 3 };

typedef struct LatheTable {
    unsigned long number; /* which one it is; Lathe sets it */
} LatheTable;

/* A row whose total is not 0. */
typedef struct LatheRow {
    uint64_t key[LATHE_KEYS];
    uint64_t
        total; /* the sum over all threads, of those that have ended, too, when a first row was asked for last, of whatever table */
    uint64_t index; /* for lathe_table_next only */
} LatheRow;

void lathe_count_in(LatheTable *table, uint64_t key, uint64_t key2, uint64_t key3, long amount);
/* The next row, in no particular order; the first one if *row is zero. False: there are no more. */
bool lathe_table_next(const LatheTable *table, LatheRow *row);

/* ------------------------------------------------------------------------------------------------------ system calls */

/* At LATHE_SYSCALL: another value for an argument. At LATHE_SYSCALL_DONE: another result. */
void lathe_set_argument(unsigned index, uint64_t value);
void lathe_set_result(long result);
/* The name of a system call; NULL: there is none of this number. */
const char *lathe_syscall_name(uint64_t number);

/* ------------------------------------------------------------------------------------------------------- instructions */

/* The name of an opcode, such as "mov"; "?" if there is none of that number. Which opcode has which number may change with each version of Lathe. */
const char *lathe_opcode_name(uint64_t opcode);

/* What an instruction of the program's is, as its code is now, without executing it. */
typedef struct LatheInsn {
    uint32_t size;    /* in bytes */
    uint32_t classes; /* LATHE_CLASS_* */
    uint32_t opcode;
    uint32_t loads, stores; /* how many LATHE_LOAD and LATHE_STORE it has; if it is repeated, in each pass */
    uint32_t updates;       /* of these, how many are a load and a store of the same memory */
    bool computed;          /* a jump, call or return to where a register or memory says */
    uint64_t target;        /* of a jump, branch or call that is not computed; 0: it is none */
} LatheInsn;

bool lathe_insn(uint64_t address, LatheInsn *out); /* false: there is no instruction that is known */
/* As disassemblers write it; it comes from a process beside the program, like lines. False: there is none that is known. */
bool lathe_insn_text(uint64_t address, char *text, size_t size);

/* ------------------------------------------------------------------------------------------------------------- output */

/* Prints to standard error, as it was when the program began: as printf, without floating point; NULL for %s is "(null)"; behind a conversion that is not known, nothing is converted. */
void lathe_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* lathe_fail(format, …) prints a message to the same place, with "lathe: the tool: " in front and the end of a line behind it, writes out all files, and ends the program with status 127, without LATHE_END. */
_Noreturn void lathe_fail_of(unsigned tool, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define lathe_fail(...) lathe_fail_of(LATHE_TOOL_NUMBER, __VA_ARGS__)

/* A file that is written from its beginning. Any number of threads may write to it; what one call writes is not mixed with what others write. It is
 * buffered; what is in the buffer is written when the program ends, however that happens (but for SIGKILL), at exec and fork, and when a thread ends. If
 * it cannot be written, because the disk is full, a message says what is lost. */
typedef struct LatheFile LatheFile;

/* `name` is relative to the directory that the program began in. %p in it stands for the number of the process, %% for %, and "-" is where lathe_print prints.
 * The result is never NULL: if the file cannot be made, the program ends with a message. After fork, the copy of the program writes to a file of
 * its own if the name has %p, else to the same one. After exec, a name with %p that the program before has written gets .1, .2, … behind it. A program that was begun by exec
 * writes a file whose name has no %p from its beginning again: use %p where the program starts others. */
LatheFile *lathe_open(const char *name);
void lathe_write(LatheFile *file, const void *data, size_t size);
void lathe_fprint(LatheFile *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lathe_flush(LatheFile *file);
void lathe_close(LatheFile *file); /* writes what is left, and frees `file` */

/* ------------------------------------------------------------------------------------------------------------- memory */

/* Zeroed memory of the tool's own, aligned to 16 bytes. The result is never NULL: if there is no memory left, the program ends with a message. Memory is
 * shared by all threads. A copy of the program (fork) has a copy of it: LATHE_START is the place to empty what belongs to the one that made it. */
void *lathe_alloc(size_t size);
void *lathe_resize(void *memory, size_t size); /* what is added is zero; `memory` may be NULL */
void lathe_free(void *memory);                 /* NULL is allowed */
/* Makes a part of such memory zero, and gives its whole pages back to the system: in what is large and mostly unused, nothing is touched. */
void lathe_clear(void *memory, size_t size);

/* A lock that one thread at a time can hold. A zeroed one is free. A function of the tool gives back what it has taken before it returns; then fork,
 * signals and threads that end do no harm. */
typedef struct LatheLock {
    uint32_t word, owner;
} LatheLock;

void lathe_lock(LatheLock *lock);
void lathe_unlock(LatheLock *lock);

/* ----------------------------------------------------------------------------------------------------- maps and vectors */

/* A map from numbers of any kind, such as addresses, to values of one type, which are zero at first:
 *
 *     static LatheMap calls = LATHE_MAP(uint64_t);
 *     ...
 *     __atomic_fetch_add((uint64_t *)lathe_map_at(&calls, pc), 1, __ATOMIC_RELAXED);
 *
 * Threads may use it at the same time without a lock, except for lathe_map_clear. A value stays at its address until the map is cleared; what is in it is for the tool
 * to protect. */
typedef struct LatheMap {
    size_t bytes; /* of a value */
    size_t count; /* how many keys it has */
    struct LatheMapTable *table;
    struct LatheMapPart *first, *last;
    LatheLock lock;
} LatheMap;

#define LATHE_MAP(type)                                                                                                \
    { .bytes = sizeof(type) }

void *lathe_map_at(LatheMap *map, uint64_t key);         /* the value of a key, which is made if there is none */
void *lathe_map_find(const LatheMap *map, uint64_t key); /* NULL: there is none */
bool lathe_map_remove(LatheMap *map, uint64_t key);      /* false: there was none */
void lathe_map_clear(LatheMap *map);

/* All keys, in the order in which they were made: for (LatheWalk w = {0}; lathe_map_next(&map, &w);) … w.key, w.value … */
typedef struct LatheWalk {
    uint64_t key;
    void *value;
    struct LatheMapPart *part;
    size_t index;
} LatheWalk;

bool lathe_map_next(const LatheMap *map, LatheWalk *walk);

/* An array that grows: static LatheVector list = LATHE_VECTOR(Entry). Threads that use it at the same time need a LatheLock. */
typedef struct LatheVector {
    size_t bytes; /* of an element */
    size_t count, room;
    void *at; /* the first one; it moves when elements are added */
} LatheVector;

#define LATHE_VECTOR(type)                                                                                             \
    { .bytes = sizeof(type) }

void *lathe_vector_add(LatheVector *vector); /* a further element, zeroed */
void lathe_vector_clear(LatheVector *vector);
/* Sorts an array, or a vector's `at`. order: negative if the first one comes before the second, positive if behind it. */
void lathe_sort(void *at, size_t count, size_t bytes, int (*order)(const void *, const void *));

/* ------------------------------------------------------------------------------------------------------------ options */

const char *lathe_option_of(unsigned tool, const char *key); /* of the two functions that follow */
uint64_t lathe_option_number_of(unsigned tool, const char *key, uint64_t otherwise);

/* The value of an option: --tool=NAME,key=value,other=value. NULL: it is not given; "": it is given without a value. A key that is given twice is an error. A function of LATHE_START has to ask for every option that
 * the tool knows: if others are given, the program does not begin, and a message says which. Of several tools, each sees its own options only. */
static inline const char *lathe_option(const char *key) {
    return lathe_option_of(LATHE_TOOL_NUMBER, key);
}
/* Likewise, as a number: decimal, or 0x and hexadecimal. If it is none, the program ends with a message. */
static inline uint64_t lathe_option_number(const char *key, uint64_t otherwise) {
    return lathe_option_number_of(LATHE_TOOL_NUMBER, key, otherwise);
}

/* -------------------------------------------------------------------------------------------------------- the program */

const char *lathe_program(void);          /* the path of its file, as LatheSymbol has it */
const char *const *lathe_arguments(void); /* its arguments, from argv[0] on, ended by NULL */
uint64_t lathe_process(void);             /* the system's number of the process */
/* Reads memory of the program; false if not all of it is readable. This is also the way to what an address leads to that the tool has kept in a variable: in optimised code, LLVM takes an access by such
 * an address for one to the tool's own memory, and may make it before or after what the program stores. */
bool lathe_read_guest(void *to, uint64_t address, size_t size);
/* Reads a string of the program up to its zero, at most size - 1 bytes of it, and ends it with a zero; false if it is not readable. */
bool lathe_read_string(char *to, uint64_t address, size_t size);

/* A part of the program's address space in which the same is allowed everywhere. */
typedef struct LatheMapping {
    uint64_t from, to;
    bool readable, writable, executable;
} LatheMapping;

bool lathe_mapping(uint64_t address,
                   LatheMapping *out); /* the first one that ends behind an address; false: there is none */

/* ------------------------------------------------------------------------------------------------------------ symbols */

/* What is at an address of the program's code, by the symbols of its file. Texts stay where they are. If several symbols have the address of a function, the name is one of them: the one
 * with the fewest underscores in front (of a C++ name, _Z is none); of these a global one, else a weak one, else a local one; of these the first one in the alphabet. */
typedef struct LatheSymbol {
    const char *name; /* of the function; "?": not known */
    uint64_t offset;  /* of the address from its beginning; 0 if the function is not known */
    uint64_t size;    /* of the function; 0: not known */
    const char *file; /* the path of the program or library; "?": the address is in none */
    uint64_t address; /* as the file has it, which is what addr2line and objdump understand */
} LatheSymbol;

bool lathe_symbol(uint64_t address, LatheSymbol *out); /* false: the function is not known; *out is set all the same */
/* The addresses around this one for which lathe_symbol tells the same function, or that it knows none: from `from` up to, but not with, `to`. Where nothing is known, it is this address alone. */
void lathe_extent(uint64_t address, uint64_t *from, uint64_t *to);
/* Is this one of the names of the function that the address is in? As in LatheWhere, each * stands for anything. */
bool lathe_symbol_is(uint64_t address, const char *name);
/* A function begins at an address that no symbol names. For code that is translated from now on, it is as if there was one: for lathe_symbol, LATHE_FUNCTION and filters. The text has to
 * stay where it is. The instruction at the address is never optimised. */
void lathe_name_function(uint64_t address, const char *name);

/* The line of source that an address is from, if the file has DWARF, or another one with it is installed. The first question starts a process, and an answer takes up to 0.2 ms, so
 * most tools ask at LATHE_END. */
typedef struct LatheLine {
    const char *file; /* the path of the source; "?": not known */
    unsigned line;
    uint64_t end; /* where the code of the line that the address is in ends; another line, or the same, may follow */
} LatheLine;

bool lathe_line(uint64_t address, LatheLine *out); /* false: not known */
/* The text of a line of a source; false: the file cannot be read, or has fewer lines. */
bool lathe_source(const char *file, unsigned line, char *text, size_t size);
const char *lathe_demangle(const char *name); /* the readable form of a C++ name; any other name is returned as it is */

/* ---------------------------------------------------------------------------------------------------------- registers */

/* In functions that are called at instructions and system calls: the program's general registers, by their numbers in the instruction set, before the instruction. A function
 * that uses one of these is called in a slower way, and where it is called at an instruction, that is never optimised: give its hook a LatheWhere with a symbol, else nothing of the program is. Where LATHE_REGISTER,
 * LATHE_ARGUMENT or LATHE_RESULT do, they cost less. */
uint64_t lathe_register(unsigned number);
void lathe_set_register(unsigned number, uint64_t value);

/* At a function's first instruction: its nth argument that is an integer or a pointer, from 0 on, by the calling convention of the program's machine. */
uint64_t lathe_arg(unsigned index);
void lathe_set_arg(unsigned index, uint64_t value);
/* At the instruction behind a call: what the function has returned, if that is an integer or a pointer. */
uint64_t lathe_returned(void);
void lathe_set_returned(uint64_t value);

/* The program's call stack at an event: frames[0] is where the thread is, and the others are the addresses that its functions return to, the innermost first. It returns how many
 * there are, at most `most`. One less than such an address is in the call: that is what to ask lathe_symbol and lathe_line about. What a handler of a signal has
 * interrupted is among them, likewise.
 *
 * It goes by .eh_frame of the program's files, which compilers write unless they are told not to; elsewhere by frame pointers, and what has neither may be left out, or end the
 * list. A frame takes some 0.4 microseconds, and the first one in a file the time to read its .eh_frame. As with lathe_register, functions that use it are called in a
 * slower way. */
unsigned lathe_stack(uint64_t *frames, unsigned most);

/* --------------------------------------------------------------------------------------------------- undefined values */

/* A tool that defines all of these has optimised code follow which bits of registers and memory the program never set, and is told where they decide something. There is a table with a byte for each
 * byte of memory: a bit is 1 if that bit of memory is undefined. The byte for an address is lathe_undefined[address % LATHE_UNDEFINED_BYTES]. The tool allocates the table at LATHE_START, sets
 * what it takes for undefined (a new block of the heap), and clears what the system has written; room that optimised code makes on the stack is undefined. What a program loads, computes and stores then has masks likewise; to copy
 * undefined bits is no use of them. One tool at a time may have this.
 *
 * Quick code follows nothing: a hook at LATHE_STORE whose function is lathe_undefined_stored is to clear what is stored, and is called by quick code only. Registers are
 * defined when quick code goes on in optimised code. */
#define LATHE_UNDEFINED_BYTES (1ul << 46)

typedef enum LatheUndefinedUse {
    LATHE_UNDEFINED_JUMP,    /* a conditional jump depends on them */
    LATHE_UNDEFINED_ADDRESS, /* the address of an access, or of a computed jump, does */
} LatheUndefinedUse;

extern uint8_t *lathe_undefined;
/* Called before each use: is anything undefined there (0: no)? `own`: as LATHE_THREAD_OWN. */
void lathe_undefined_used(uint64_t any, uint64_t use, uint64_t pc, uint64_t sp, void *own);
/* Clears the table for so many bytes from an address on, if it is `wanted`. */
void lathe_undefined_clear(uint64_t wanted, uint64_t from, uint64_t bytes);
/* Sets the table for so many bytes from an address on, which the program has made room for on its stack. */
void lathe_undefined_set(uint64_t from, uint64_t bytes);
void lathe_undefined_stored(uint64_t address, uint64_t bytes);

/* At LATHE_MODULE: functions in this memory are optimised before they run, as far as they can be, and nothing else is optimised because it is hot. The first run of a program takes long then. False: there are
 * too many such pieces already. */
bool lathe_optimise(uint64_t from, uint64_t bytes);

/* -------------------------------------------------------------------------------------------------------------- others */

uint64_t lathe_nanoseconds(void); /* since some time in the past */

/* These are what they are in C, and so are memcpy, memmove, memset and memcmp of <string.h>. */
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t most);
char *strchr(const char *text, int byte);
char *strrchr(const char *text, int byte);
char *strstr(const char *text, const char *part);

#endif
