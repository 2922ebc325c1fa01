/* runtime.h: the tools' run-time in a raised program, which is linked with its C library: what its parts have to do with each other.
 *
 * For the own machine, src/raise links it, which knows other files' symbols as lathe_import_NAME, and only where their addresses are data. So all that it uses of the
 * C library is in one table of pointers. */
#ifndef RAISE_RUNTIME_TOOL_RUNTIME_H
#define RAISE_RUNTIME_TOOL_RUNTIME_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "raise/runtime/tool/facts.h"
#include "tool/library/library.h"

int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library);

#define LIBC_FUNCTIONS(F)                                                                                              \
    F(__errno_location)                                                                                                \
    F(__register_atfork)                                                                                               \
    F(_exit)                                                                                                           \
    F(clock_gettime)                                                                                                   \
    F(close)                                                                                                           \
    F(fcntl)                                                                                                           \
    F(getcwd)                                                                                                          \
    F(getpid)                                                                                                          \
    F(gettid)                                                                                                          \
    F(madvise)                                                                                                         \
    F(memchr)                                                                                                          \
    F(memcmp)                                                                                                          \
    F(memcpy)                                                                                                          \
    F(memmove)                                                                                                         \
    F(memset)                                                                                                          \
    F(mmap)                                                                                                            \
    F(munmap)                                                                                                          \
    F(open)                                                                                                            \
    F(process_vm_readv)                                                                                                \
    F(pthread_getspecific)                                                                                             \
    F(pthread_key_create)                                                                                              \
    F(pthread_setspecific)                                                                                             \
    F(readlink)                                                                                                        \
    F(sched_yield)                                                                                                     \
    F(strchr)                                                                                                          \
    F(strcmp)                                                                                                          \
    F(strlen)                                                                                                          \
    F(strncmp)                                                                                                         \
    F(strrchr)                                                                                                         \
    F(strstr)                                                                                                          \
    F(vsnprintf)                                                                                                       \
    F(write)

int sched_yield(void);

typedef struct Libc {
#define F(name) __typeof__(name) *name##_at;
    LIBC_FUNCTIONS(F)
#undef F
} Libc;
extern Libc lathe_tool_libc __attribute__((visibility("hidden")));
#define LIBC(name) (*lathe_tool_libc.name##_at)

/* output.c */
void output_begin(void);
void output_flush(void);      /* writes out all that is in the buffers of files */
void output_after_fork(void); /* in the child: files whose names have the process's number begin anew */
void output_lock(void);       /* around fork */
void output_unlock(void);
void output_say(const char *before, const char *format, va_list args);

/* counts.c: in a child of fork, everything is zero. */
void counts_after_fork(void);

/* locks.c: no other thread holds a lock of the tool's. */
void locks_close(void);
void locks_open(void);

#endif
