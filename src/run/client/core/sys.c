/* sys.c: what the client has instead of a libc: memory and string functions, locks, text for people.
 *
 * gcc may call memcpy, memmove, memset and memcmp for plain C, and translated code calls them too: they are real
 * functions here. Vector registers belong to the guest, so copying is left to what the host has without them (host_memory.h).
 */
#include "run/client/core/sys.h"

#include <linux/futex.h>
#include <linux/signal.h>

#include "host_memory.h"
#include "run/client/core/client.h"

/* ----------------------------------------------------------------------------------------------------------- memory */

#define COPY_ENDS(T)                                                                                                   \
    do {                                                                                                               \
        T first, last;                                                                                                 \
        __builtin_memcpy(&first, from, sizeof(T));                                                                     \
        __builtin_memcpy(&last, (const u8 *)from + size - sizeof(T), sizeof(T));                                       \
        __builtin_memcpy(to, &first, sizeof(T));                                                                       \
        __builtin_memcpy((u8 *)to + size - sizeof(T), &last, sizeof(T));                                               \
    } while (0)

/* Copies up to 16 bytes as two words, which may overlap each other. `from` and `to` may overlap, too. */
static void *copy_small(void *to, const void *from, size_t size) {
    if (size >= 8)
        COPY_ENDS(u64);
    else if (size >= 4)
        COPY_ENDS(u32);
    else if (size >= 2)
        COPY_ENDS(u16);
    else if (size)
        *(u8 *)to = *(const u8 *)from;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    if (size <= 16)
        return copy_small(to, from, size);
    host_copy(to, from, size);
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    if (size <= 16)
        return copy_small(to, from, size);
    if ((u64)to - (u64)from >= size)
        return memcpy(to, from, size);
    u8 *d = (u8 *)to + size;
    const u8 *s = (const u8 *)from + size;
    for (; size >= 8; size -= 8) {
        u64 word;
        d -= 8, s -= 8;
        __builtin_memcpy(&word, s, 8);
        __builtin_memcpy(d, &word, 8);
    }
    while (size--)
        *--d = *--s;
    return to;
}

void *memset(void *to, int byte, size_t size) {
    host_fill(to, byte, size);
    return to;
}

int memcmp(const void *a, const void *b, size_t size) {
    const u8 *x = a, *y = b;
    for (; size >= 8; size -= 8, x += 8, y += 8) {
        u64 v, w;
        __builtin_memcpy(&v, x, 8);
        __builtin_memcpy(&w, y, 8);
        if (v != w)
            break;
    }
    for (; size; size--, x++, y++) {
        if (*x != *y)
            return *x - *y;
    }
    return 0;
}

void *memchr(const void *at, int byte, size_t size) {
    const u8 *p = at;
    for (; size; size--, p++) {
        if (*p == (u8)byte)
            return (void *)p;
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- strings */

size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

size_t strnlen(const char *s, size_t max) {
    size_t n = 0;
    while (n < max && s[n])
        n++;
    return n;
}

int strncmp(const char *a, const char *b, size_t max) {
    for (; max; max--, a++, b++) {
        if (*a != *b || !*a)
            return (u8)*a - (u8)*b;
    }
    return 0;
}

int strcmp(const char *a, const char *b) {
    return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *s, int c) {
    for (;; s++) {
        if (*s == (char)c)
            return (char *)s;
        if (!*s)
            return NULL;
    }
}

char *strrchr(const char *s, int c) {
    for (const char *p = s + strlen(s);; p--) {
        if (*p == (char)c)
            return (char *)p;
        if (p == s)
            return NULL;
    }
}

char *strstr(const char *s, const char *part) {
    size_t size = strlen(part);
    for (;; s++) {
        if (!strncmp(s, part, size))
            return (char *)s;
        if (!*s)
            return NULL;
    }
}

/* ------------------------------------------------------------------------------------------------------------ locks */

/* A process that shares memory with others must not be killed while it holds one of their locks, so its signals are
 * blocked until its last unlock. SIGKILL cannot be blocked. */
static void hold_signals(void) {
    Thread *t = thread_self();
    u64 all = ~(u64)0;
    if (t->process.separate && !t->process.locks++)
        sys_rt_sigprocmask(SIG_SETMASK, &all, &t->process.unlocked_mask);
}

static void let_signals(void) {
    Thread *t = thread_self();
    if (t->process.separate && !--t->process.locks)
        sys_rt_sigprocmask(SIG_SETMASK, &t->process.unlocked_mask, NULL);
}

/* *word: 0 free, 1 held, 2 held and another thread may sleep. */
void lock(u32 *word) {
    if (the.os.any_separate)
        hold_signals();
    for (int spin = 0; spin < 100; spin++) {
        u32 idle = 0;
        if (__atomic_compare_exchange_n(word, &idle, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return;
        host_relax();
    }
    while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE))
        sys_futex(word, FUTEX_WAIT_PRIVATE, 2, NULL);
}

void unlock(u32 *word) {
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
        sys_futex(word, FUTEX_WAKE_PRIVATE, 1, NULL);
    if (the.os.any_separate)
        let_signals();
}

/* --------------------------------------------------------------------------------------------------------- services */

u64 sys_now_us(void) {
    struct timespec t = {0};
    sys_clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

bool sys_write_all(int fd, const void *buf, size_t size) {
    for (const u8 *p = buf; size;) {
        i64 n = sys_write(fd, p, size);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n, size -= (size_t)n;
    }
    return true;
}

bool sys_read_all(int fd, void *buf, size_t size) {
    for (u8 *p = buf; size;) {
        i64 n = sys_read(fd, p, size);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n, size -= (size_t)n;
    }
    return true;
}

bool sys_pread_all(int fd, void *buf, size_t size, u64 off) {
    for (u8 *p = buf; size;) {
        i64 n = sys_pread(fd, p, size, off);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n, off += (u64)n, size -= (size_t)n;
    }
    return true;
}

/* Where the kernel has no word for the restorer, it is neither given nor got. */
i64 sys_rt_sigaction(int sig, const void *act, void *old) {
    enum { HANDLER, FLAGS, RESTORER, MASK, WORDS };
    const u32 mask = HOST_HAS_RESTORER ? MASK : RESTORER;
    u64 in[WORDS] = {0}, out[WORDS] = {0};
    if (act) {
        memcpy(in, act, sizeof(in));
        in[mask] = in[MASK];
    }
    i64 error = sys4(__NR_rt_sigaction, (u64)sig, act ? (u64)in : 0, old ? (u64)out : 0, sizeof(u64));
    out[MASK] = out[mask];
    if (old && !error)
        memcpy(old, out, sizeof(out));
    return error;
}

/* --------------------------------------------------------------------------------------------------------- messages */

ErrorText sys_error_text(i64 error) {
    ErrorText found;
    static const struct {
        i64 error;
        const char *text;
    } texts[] = {
        {-ENOENT, "not found"},
        {-EACCES, "permission denied"},
        {-EPERM, "not permitted"},
        {-ENOTDIR, "a part of its path is not a directory"},
        {-EISDIR, "is a directory"},
        {-ELOOP, "too many symbolic links"},
        {-ENAMETOOLONG, "its path is too long"},
        {-EROFS, "its file system is read-only"},
        {-ENOSPC, "no space is left on its file system"},
        {-ENXIO, "nobody is at the other end of it"},
        {-ETXTBSY, "a program writes to it"},
        {-E2BIG, "arguments and environment are too long"},
        {-EMFILE, "the limit of open files (ulimit -n) is too small"},
        {-ENFILE, "the system has too many open files"},
        {-ENOMEM, "no memory"},
        {-EIO, "input or output has failed"},
    };
    format_text(found.text, sizeof(found.text), "the system refuses (error %d)", (int)-error);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].error == error)
            format_text(found.text, sizeof(found.text), "%s", texts[i].text);
    return found;
}

enum { LINE_MAX = 4096 };

static void write_line(const char *before, const char *format, va_list args, const char *after) {
    char line[LINE_MAX];
    size_t len = format_text(line, sizeof(line), "%s", before);
    len += format_args(line + len, sizeof(line) - len - strlen(after), format, args);
    memcpy(line + len, after, strlen(after));
    sys_write_all(2, line, len + strlen(after));
}

void say_plain(const char *format, ...) {
    va_list args;
    va_start(args, format);
    write_line("", format, args, "");
    va_end(args);
}

void say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    write_line("lathe: ", format, args, "\n");
    va_end(args);
}

/* Shells use status 126 for a program that exists but cannot be started, and 127 for one that is not found. */
enum { STATUS_LIMITED = 126, STATUS_FAILED = 127 };

void die(const char *format, ...) {
    va_list args;
    if (the.os.over)
        sys_exit_group(the.os.status);
    va_start(args, format);
    write_line("lathe: ", format, args, "\n");
    va_end(args);
    sys_exit_group(the.memory.explain && the.memory.explain() ? STATUS_LIMITED : STATUS_FAILED);
}

void check_failed(const char *file, int line, const char *cond, const char *sentence) {
    say("internal error: %s (%s:%d: %s)", sentence, file, line, cond);
    enum { ABORTED = 6 };
    sys_kill(sys_getpid(), ABORTED);
    sys_exit_group(128 + ABORTED);
}
