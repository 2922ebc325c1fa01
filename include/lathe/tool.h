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
 * and is used by `lathe run --tool=count.c -- PROGRAM`. Lathe compiles it, and looks into the functions: one that only counts is not
 * called, its additions are put between the program's instructions, and those of many instructions become one.
 *
 * The file is freestanding: there is no C library, only what is declared here. Its memory is its own, and the program cannot see it. Threads
 * of the program run at the same time, and so do the functions of a tool; counters are exact all the same. */
#ifndef LATHE_TOOL_H
#define LATHE_TOOL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------------------- events */

typedef enum LatheEvent {
    LATHE_NOTHING,
    LATHE_INSN,  /* an instruction is about to be executed */
    LATHE_START, /* the program begins; in a child after fork, or after exec, it begins anew */
    LATHE_END, /* the program ends by exit, a fault that it does not handle, or exec; not if a signal is sent to it that ends it */
    LATHE_SYSCALL, /* a system call is about to be made */
    LATHE_SYSCALL_DONE, /* it has returned. Calls that do not return, or are made again because of a signal, have no such event */
    LATHE_SIGNAL,     /* a handler of the program's is about to run for a signal */
    LATHE_THREAD,     /* a thread begins, in that thread; the first one has none */
    LATHE_THREAD_END, /* a thread ends, in that thread, before the program does */
    LATHE_FORKED, /* the program has made a copy of itself, in the one that made it; the copy begins with LATHE_START */
    LATHE_EVENTS, /* how many there are */
} LatheEvent;

/* What a function is given, as 64 bits each, in the order of the hook. */
typedef enum LatheWhat {
    LATHE_NO_VALUE,
    LATHE_CONSTANT,   /* a number that the hook has */
    LATHE_PC,         /* the address of an instruction, or of the next one where the event is about none */
    LATHE_SIZE,       /* how many bytes the instruction has */
    LATHE_NUMBER,     /* of the system call or the signal; of the process that was made */
    LATHE_ARGUMENT,   /* of a system call; the hook has which one, from 0 to 5 */
    LATHE_RESULT,     /* of a system call that is done: a negative number from -4095 on is an error */
    LATHE_THREAD_ID,  /* the system's number of the thread */
    LATHE_THREAD_OWN, /* the address of LATHE_OWN_WORDS words that the tool has in each thread, all zero at first */
} LatheWhat;

enum { LATHE_OWN_WORDS = 64 };

typedef struct LatheValue {
    LatheWhat what;
    long number; /* of LATHE_CONSTANT and LATHE_ARGUMENT */
} LatheValue;

enum { LATHE_VALUES = 6 };

typedef struct LatheHook {
    LatheEvent event;
    void (*call)(void); /* a function that takes as many arguments as the hook has values */
    LatheValue value[LATHE_VALUES];
} LatheHook;

/* A hook: an event, a function, and what the function is given: LATHE_ON(LATHE_INSN, look, {LATHE_PC}, {LATHE_CONSTANT, 3}). */
#define LATHE_ON(event, function, ...)                                                                                 \
    {                                                                                                                  \
        event, (void (*)(void))(function), {                                                                           \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

/* All hooks of a tool. */
#define LATHE_HOOKS(...) const LatheHook lathe_hooks[] = {__VA_ARGS__, {LATHE_NOTHING, NULL, {{LATHE_NO_VALUE, 0}}}}

/* ----------------------------------------------------------------------------------------------------------- counters */

/* A number that only grows by additions. Each thread has one of its own; nobody waits for anybody, and nothing is lost. A counter is a global
 * variable of the tool's. */
typedef struct LatheCounter {
    unsigned long number; /* which one it is; Lathe sets it */
} LatheCounter;

void lathe_count(LatheCounter *counter, long amount);
/* The sum over all threads, of those that have ended, too. */
unsigned long lathe_total(const LatheCounter *counter);

/* ------------------------------------------------------------------------------------------------------ system calls */

/* At LATHE_SYSCALL: another value for an argument. At LATHE_SYSCALL_DONE: another result. */
void lathe_set_argument(unsigned index, uint64_t value);
void lathe_set_result(long result);
/* The name of a system call; NULL: there is none of this number. */
const char *lathe_syscall_name(uint64_t number);

/* -------------------------------------------------------------------------------------------------------------- others */

uint64_t lathe_nanoseconds(void); /* since some time in the past */

/* ------------------------------------------------------------------------------------------------------------- output */

/* Prints to standard error, as it was when the program began. Knows %d %i %u %x %c %s %p %%, with l and ll, and a width. */
void lathe_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
