/* wrappers.c: functions of the C library whose types or constants are not those that the program was compiled with. Raised code calls lathe_wrap_NAME for
 * NAME (src/raise/foreign/special.c has the list). */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <fenv.h>
#include <ftw.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "raise/runtime/runtime.h"

/* ----------------------------------------------------------------------------------------------------------------- stat */

static int give(int result, void *to, const struct stat *st) {
    if (result == 0)
        guest_put_stat(to, st);
    return result;
}

int lathe_wrap_stat(const char *path, void *to) {
    struct stat st;
    return give(stat(path, &st), to, &st);
}
int lathe_wrap_lstat(const char *path, void *to) {
    struct stat st;
    return give(lstat(path, &st), to, &st);
}
int lathe_wrap_fstat(int fd, void *to) {
    struct stat st;
    return give(fstat(fd, &st), to, &st);
}
int lathe_wrap_fstatat(int fd, const char *path, void *to, int flags) {
    struct stat st;
    return give(fstatat(fd, path, &st, flags), to, &st);
}
/* Programs that were made with an old C library give a version of the struct, of which there was one. */
int lathe_wrap___xstat(int version, const char *path, void *to) {
    (void)version;
    return lathe_wrap_stat(path, to);
}
int lathe_wrap___lxstat(int version, const char *path, void *to) {
    (void)version;
    return lathe_wrap_lstat(path, to);
}
int lathe_wrap___fxstat(int version, int fd, void *to) {
    (void)version;
    return lathe_wrap_fstat(fd, to);
}
int lathe_wrap___fxstatat(int version, int fd, const char *path, void *to, int flags) {
    (void)version;
    return lathe_wrap_fstatat(fd, path, to, flags);
}
/* All files are large here. */
int lathe_wrap___xstat64(int version, const char *path, void *to) __attribute__((alias("lathe_wrap___xstat")));
int lathe_wrap___lxstat64(int version, const char *path, void *to) __attribute__((alias("lathe_wrap___lxstat")));
int lathe_wrap___fxstat64(int version, int fd, void *to) __attribute__((alias("lathe_wrap___fxstat")));
int lathe_wrap___fxstatat64(int version, int fd, const char *path, void *to, int flags)
    __attribute__((alias("lathe_wrap___fxstatat")));
int lathe_wrap_stat64(const char *path, void *to) __attribute__((alias("lathe_wrap_stat")));
int lathe_wrap_lstat64(const char *path, void *to) __attribute__((alias("lathe_wrap_lstat")));
int lathe_wrap_fstat64(int fd, void *to) __attribute__((alias("lathe_wrap_fstat")));
int lathe_wrap_fstatat64(int fd, const char *path, void *to, int flags) __attribute__((alias("lathe_wrap_fstatat")));

/* The program's function sees each file with a stat as it knows it. */
enum { STAT_MAX_BYTES = 256 };
static __thread void *visitor;

static int visit(const char *path, const struct stat *st, int kind) {
    u8 own[STAT_MAX_BYTES] __attribute__((aligned(16)));
    guest_put_stat(own, st);
    return ((int (*)(const char *, const void *, int))visitor)(path, own, kind);
}

static int visit_with(const char *path, const struct stat *st, int kind, struct FTW *place) {
    u8 own[STAT_MAX_BYTES] __attribute__((aligned(16)));
    guest_put_stat(own, st);
    return ((int (*)(const char *, const void *, int, struct FTW *))visitor)(path, own, kind, place);
}

int lathe_wrap_ftw(const char *path, void *function, int open) {
    void *before = visitor;
    visitor = function;
    int result = ftw(path, visit, open);
    visitor = before;
    return result;
}
int lathe_wrap_nftw(const char *path, void *function, int open, int flags) {
    void *before = visitor;
    visitor = function;
    int result = nftw(path, visit_with, open, flags);
    visitor = before;
    return result;
}
int lathe_wrap_ftw64(const char *path, void *function, int open) __attribute__((alias("lathe_wrap_ftw")));
int lathe_wrap_nftw64(const char *path, void *function, int open, int flags) __attribute__((alias("lathe_wrap_nftw")));

/* ----------------------------------------------------------------------------------------------------------------- open */

static int third(va_list list) {
    return va_arg(list, int);
}

int lathe_wrap_openat(int fd, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int result = openat(fd, path, guest_open_flags(flags), third(list));
    va_end(list);
    return result;
}

int lathe_wrap_open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int result = open(path, guest_open_flags(flags), third(list));
    va_end(list);
    return result;
}

int lathe_wrap___open_2(const char *path, int flags) {
    return open(path, guest_open_flags(flags), 0);
}

int lathe_wrap___openat_2(int fd, const char *path, int flags) {
    return openat(fd, path, guest_open_flags(flags), 0);
}

int lathe_wrap___openat64_2(int fd, const char *path, int flags) __attribute__((alias("lathe_wrap___openat_2")));
int lathe_wrap_open64(const char *path, int flags, ...) __attribute__((alias("lathe_wrap_open")));
int lathe_wrap_openat64(int fd, const char *path, int flags, ...) __attribute__((alias("lathe_wrap_openat")));
int lathe_wrap___open64_2(const char *path, int flags) __attribute__((alias("lathe_wrap___open_2")));

int lathe_wrap_fcntl(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    u64 argument = va_arg(list, u64);
    va_end(list);
    if (command == F_SETFL)
        return fcntl(fd, command, guest_open_flags((int)argument));
    int result = fcntl(fd, command, argument);
    return command == F_GETFL && result >= 0 ? guest_of_open_flags(result) : result;
}

int lathe_wrap_fcntl64(int fd, int command, ...) __attribute__((alias("lathe_wrap_fcntl")));

/* ----------------------------------------------------------------------------------------------------------------- glob */

/* The program's own functions for reading directories would fill a struct stat of the other kind. */
int lathe_wrap_glob(const char *pattern, int flags, int (*error)(const char *, int), glob_t *found) {
    static const char text[] = "glob() with functions of the program's own";
    if (flags & GLOB_ALTDIRFUNC)
        lathe_raise_stop(text, sizeof(text) - 1, 0);
    return glob(pattern, flags, error, found);
}

void lathe_wrap_globfree(glob_t *found) {
    globfree(found);
}

int lathe_wrap_glob64(const char *pattern, int flags, int (*error)(const char *, int), glob_t *found)
    __attribute__((alias("lathe_wrap_glob")));
void lathe_wrap_globfree64(glob_t *found) __attribute__((alias("lathe_wrap_globfree")));

/* ---------------------------------------------------------------------------------------------------------------- error */

void lathe_wrap_verror(int status, int number, const char *format, va_list list) {
    char *text = NULL;
    if (vasprintf(&text, format, list) < 0)
        abort();
    error(status, number, "%s", text);
    free(text);
}

void lathe_wrap_verror_at_line(int status, int number, const char *file, unsigned line, const char *format,
                               va_list list) {
    char *text = NULL;
    if (vasprintf(&text, format, list) < 0)
        abort();
    error_at_line(status, number, file, line, "%s", text);
    free(text);
}

/* -------------------------------------------------------------------------------------------------------------- polling */

/* Two numbers, with or without room between them: what happens, and the program's own. */
static void get_event(struct epoll_event *to, const u8 *from) {
    memcpy(&to->events, from, sizeof(to->events));
    memcpy(&to->data, from + guest_type_bytes(GUEST_POLL_EVENT) - sizeof(to->data), sizeof(to->data));
}

static int put_events(u8 *to, const struct epoll_event *from, int count) {
    size_t size = guest_type_bytes(GUEST_POLL_EVENT);
    for (int i = 0; i < count; i++) {
        memcpy(to + i * size, &from[i].events, sizeof(from[i].events));
        memcpy(to + (i + 1) * size - sizeof(from[i].data), &from[i].data, sizeof(from[i].data));
    }
    return count;
}

/* The kernel may give fewer events than there is room for. */
enum { EVENTS_MAX = 1024 };

static int room_for(int count) {
    return count < EVENTS_MAX ? count : EVENTS_MAX;
}

int lathe_wrap_epoll_ctl(int poll, int operation, int fd, const void *event) {
    struct epoll_event own;
    if (event)
        get_event(&own, event);
    return epoll_ctl(poll, operation, fd, event ? &own : NULL);
}

int lathe_wrap_epoll_wait(int poll, void *to, int count, int timeout) {
    struct epoll_event events[EVENTS_MAX];
    return put_events(to, events, epoll_wait(poll, events, room_for(count), timeout));
}

int lathe_wrap_epoll_pwait(int poll, void *to, int count, int timeout, const sigset_t *mask) {
    struct epoll_event events[EVENTS_MAX];
    return put_events(to, events, epoll_pwait(poll, events, room_for(count), timeout, mask));
}

int lathe_wrap_epoll_pwait2(int poll, void *to, int count, const struct timespec *timeout, const sigset_t *mask) {
    struct epoll_event events[EVENTS_MAX];
    return put_events(to, events, epoll_pwait2(poll, events, room_for(count), timeout, mask));
}

/* ------------------------------------------------------------------------------------------------------- floating point */

static int host_rounding(int mode) {
    for (int i = 0; i < GUEST_ROUNDINGS; i++)
        if (guest_roundings[i].own == mode)
            return guest_roundings[i].host;
    return -1;
}

static int own_rounding(int mode) {
    for (int i = 0; i < GUEST_ROUNDINGS; i++)
        if (guest_roundings[i].host == mode)
            return guest_roundings[i].own;
    return -1;
}

static int host_exceptions(int flags) {
    int host = 0;
    for (int i = 0; i < GUEST_EXCEPTIONS; i++)
        host |= flags & guest_exception_flags[i].own ? guest_exception_flags[i].host : 0;
    return host;
}

static int own_exceptions(int flags) {
    int own = 0;
    for (int i = 0; i < GUEST_EXCEPTIONS; i++)
        own |= flags & guest_exception_flags[i].host ? guest_exception_flags[i].own : 0;
    return own;
}

int lathe_wrap_fesetround(int mode) {
    int host = host_rounding(mode);
    return host < 0 ? 1 : fesetround(host);
}

int lathe_wrap_fegetround(void) {
    return own_rounding(fegetround());
}

int lathe_wrap_feclearexcept(int flags) {
    return feclearexcept(host_exceptions(flags));
}

int lathe_wrap_feraiseexcept(int flags) {
    return feraiseexcept(host_exceptions(flags));
}

int lathe_wrap_fetestexcept(int flags) {
    return own_exceptions(fetestexcept(host_exceptions(flags)));
}

/* ---------------------------------------------------------------------------------------------------- symbols of libraries */

/* Only on machines where a function cannot be called without its prototype. */
static void *check_symbol(void *found) {
    static const char text[] = "dlsym() has found a function, and its prototype is not known";
    const Elf64_Sym *symbol = NULL;
    Dl_info info;
    if (found && (!dladdr1(found, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
                  ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT))
        lathe_raise_stop(text, sizeof(text) - 1, 0);
    return found;
}

void *lathe_wrap_dlsym(void *library, const char *name) {
    return check_symbol(dlsym(library, name));
}

void *lathe_wrap_dlvsym(void *library, const char *name, const char *version) {
    return check_symbol(dlvsym(library, name, version));
}

/* -------------------------------------------------------------------------------------------------------- system calls */

long lathe_wrap_syscall(long number, ...) {
    static const char text[] = "a system call that may be another one on this machine";
    long host = guest_system_call(number), argument[5];
    va_list list;
    va_start(list, number);
    for (size_t i = 0; i < sizeof(argument) / sizeof(*argument); i++)
        argument[i] = va_arg(list, long);
    va_end(list);
    if (host < 0)
        lathe_raise_stop(text, sizeof(text) - 1, 0);
    return syscall(host, argument[0], argument[1], argument[2], argument[3], argument[4]);
}

unsigned long lathe_wrap_getauxval(unsigned long type) {
    return guest_auxiliary(type, getauxval(type));
}

unsigned long lathe_wrap___getauxval(unsigned long type) __attribute__((alias("lathe_wrap_getauxval")));

/* --------------------------------------------------------------------------------------------------------------- threads */

extern __thread u8 lathe_raise_thread[];

/* The program, and what was joined with it, has one block of thread-local variables. Of another file's, the first word is a function that finds it. */
void *lathe_wrap___tls_get_addr(const u64 *place) {
    u8 *begin = place[0] ? ((u8 * (*)(void)) place[0])() : lathe_raise_thread;
    return begin + place[1];
}

/* The library clears its own type as a whole, which may be larger: of that, the program has the first bytes. */
int lathe_wrap_pthread_attr_init(void *to) {
    pthread_attr_t own;
    int result = pthread_attr_init(&own);
    memcpy(to, &own, guest_type_bytes(GUEST_THREAD_ATTRIBUTES));
    return result;
}

int lathe_wrap_pthread_mutex_init(void *to, const pthread_mutexattr_t *attributes) {
    pthread_mutex_t own;
    int result = pthread_mutex_init(&own, attributes);
    memcpy(to, &own, guest_type_bytes(GUEST_MUTEX));
    return result;
}

int lathe_wrap_pthread_mutexattr_init(void *to) {
    pthread_mutexattr_t own;
    int result = pthread_mutexattr_init(&own);
    memcpy(to, &own, guest_type_bytes(GUEST_SMALL_ATTRIBUTES));
    return result;
}

int lathe_wrap_pthread_condattr_init(void *to) {
    pthread_condattr_t own;
    int result = pthread_condattr_init(&own);
    memcpy(to, &own, guest_type_bytes(GUEST_SMALL_ATTRIBUTES));
    return result;
}

int lathe_wrap_pthread_barrierattr_init(void *to) {
    pthread_barrierattr_t own;
    int result = pthread_barrierattr_init(&own);
    memcpy(to, &own, guest_type_bytes(GUEST_SMALL_ATTRIBUTES));
    return result;
}
