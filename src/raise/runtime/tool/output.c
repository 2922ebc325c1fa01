/* output.c: what tools print, and LatheFile of lathe/tool.h, in a raised program. */
#include "raise/runtime/tool/runtime.h"

enum { PATH_BYTES = 4096, BUFFER_BYTES = 256 << 10, AWAY = 200, FAILED_STATUS = 127 };

struct LatheFile {
    LatheFile *next;
    int fd; /* -1: it is not open */
    bool is_stderr, has_process, failed;
    u8 *buffer;
    u64 used, room;
    char *name; /* as the tool has given it */
    char path[PATH_BYTES];
};

static struct {
    u32 lock;
    LatheFile *all;
    int fd;                     /* standard error as it was when the program began */
    char directory[PATH_BYTES]; /* in which it began */
} files = {.fd = STDERR_FILENO};

/* The program closes descriptors that it knows. */
static int away(int fd) {
    int other = LIBC(fcntl)(fd, F_DUPFD_CLOEXEC, AWAY);
    return other < 0 ? fd : other;
}

void output_begin(void) {
    files.fd = away(STDERR_FILENO);
    if (!LIBC(getcwd)(files.directory, sizeof(files.directory)))
        *files.directory = 0;
}

void output_lock(void) {
    lock(&files.lock);
}

void output_unlock(void) {
    unlock(&files.lock);
}

/* ------------------------------------------------------------------------------------------------------------------ text */

static bool write_all(int fd, const void *data, u64 size) {
    for (const u8 *at = data; size;) {
        ssize_t n = LIBC(write)(fd, at, size);
        if (n < 0 && *LIBC(__errno_location)() == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n, size -= (u64)n;
    }
    return true;
}

size_t format_text(char *buf, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = LIBC(vsnprintf)(buf, size, format, args);
    va_end(args);
    return len < 0 ? 0 : (size_t)len < size ? (size_t)len : size - 1;
}

/* A text in memory of the tool's. */
static char *text_of(const char *format, va_list args, size_t *len) {
    va_list again;
    va_copy(again, args);
    int size = LIBC(vsnprintf)(NULL, 0, format, again);
    va_end(again);
    *len = size < 0 ? 0 : (size_t)size;
    char *text = lathe_alloc(*len + 1);
    LIBC(vsnprintf)(text, *len + 1, format, args);
    return text;
}

void lathe_print(const char *format, ...) {
    int before = *LIBC(__errno_location)();
    va_list args;
    size_t len;
    va_start(args, format);
    char *text = text_of(format, args, &len);
    va_end(args);
    write_all(files.fd, text, len);
    lathe_free(text);
    *LIBC(__errno_location)() = before;
}

/* One line, without memory of the tool's. */
void output_say(const char *before, const char *format, va_list args) {
    char line[4096];
    size_t len = format_text(line, sizeof(line) - 1, "lathe: %s", before);
    int more = LIBC(vsnprintf)(line + len, sizeof(line) - 1 - len, format, args);
    len += more > 0 ? (size_t)more : 0;
    len = len < sizeof(line) - 1 ? len : sizeof(line) - 2;
    line[len++] = '\n';
    write_all(files.fd, line, len);
}

void lathe_fail_of(unsigned tool, const char *format, ...) {
    char before[256];
    va_list args;
    format_text(before, sizeof(before), tool_name(tool) ? "the tool %s: " : "the tool: ", tool_name(tool));
    va_start(args, format);
    output_say(before, format, args);
    va_end(args);
    output_flush();
    LIBC(_exit)(FAILED_STATUS);
    __builtin_unreachable();
}

void die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    output_say("", format, args);
    va_end(args);
    LIBC(_exit)(FAILED_STATUS);
    __builtin_unreachable();
}

/* ----------------------------------------------------------------------------------------------------------------- files */

/* The name with the process's number in place of %p, behind the directory; false: it is too long. */
static bool expand(LatheFile *f) {
    char *at = f->path, *end = f->path + sizeof(f->path) - 32;
    f->has_process = false;
    if (*f->name != '/')
        at += format_text(at, sizeof(f->path) - 32, "%s/", files.directory);
    for (const char *p = f->name; *p && at < end; p++) {
        bool process = p[0] == '%' && p[1] == 'p';
        f->has_process |= process;
        if (process)
            at += format_text(at, 24, "%d", (int)LIBC(getpid)());
        else
            *at++ = *p;
        p += p[0] == '%' && (p[1] == 'p' || p[1] == '%');
    }
    *at = 0;
    return at < end;
}

static bool open_file(LatheFile *f) {
    if (f->is_stderr)
        return true;
    int fd = expand(f) ? LIBC(open)(f->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_TRUNC, 0666) : -1;
    f->fd = fd < 0 ? fd : away(fd);
    if (f->fd != fd)
        LIBC(close)(fd);
    return fd >= 0;
}

LatheFile *lathe_open(const char *name) {
    int before = *LIBC(__errno_location)();
    LatheFile *f = lathe_alloc(sizeof(*f));
    f->name = lathe_alloc(strlen(name) + 1);
    memcpy(f->name, name, strlen(name));
    f->fd = -1;
    f->is_stderr = !strcmp(name, "-");
    f->room = BUFFER_BYTES;
    f->buffer = lathe_alloc(f->room);
    output_lock();
    bool ok = open_file(f);
    f->next = files.all;
    files.all = f;
    output_unlock();
    if (!ok)
        lathe_fail("%s cannot be written (error %d)", f->path, *LIBC(__errno_location)());
    *LIBC(__errno_location)() = before;
    return f;
}

static void say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    output_say("the tool: ", format, args);
    va_end(args);
}

/* Under the lock. */
static void flush(LatheFile *f) {
    int before = *LIBC(__errno_location)();
    bool open = f->is_stderr || f->fd >= 0 || (f->used && open_file(f));
    if (f->used && !f->failed && (!open || !write_all(f->is_stderr ? files.fd : f->fd, f->buffer, f->used))) {
        say("%s cannot be written (error %d): %lu bytes and all that follows are lost",
            f->is_stderr ? "standard error" : f->path, *LIBC(__errno_location)(), f->used);
        f->failed = true;
    }
    f->used = 0;
    *LIBC(__errno_location)() = before;
}

void lathe_write(LatheFile *f, const void *data, size_t size) {
    output_lock();
    if (f->used + size > f->room)
        flush(f);
    if (size > f->room) {
        f->room = size;
        f->buffer = lathe_resize(f->buffer, f->room);
    }
    memcpy(f->buffer + f->used, data, size);
    f->used += size;
    output_unlock();
}

void lathe_fprint(LatheFile *f, const char *format, ...) {
    va_list args;
    size_t len;
    va_start(args, format);
    char *text = text_of(format, args, &len);
    va_end(args);
    lathe_write(f, text, len);
    lathe_free(text);
}

void lathe_flush(LatheFile *f) {
    output_lock();
    flush(f);
    output_unlock();
}

void lathe_close(LatheFile *f) {
    output_lock();
    flush(f);
    LatheFile **at = &files.all;
    while (*at && *at != f)
        at = &(*at)->next;
    if (*at)
        *at = f->next;
    if (f->fd >= 0)
        LIBC(close)(f->fd);
    output_unlock();
    lathe_free(f->buffer);
    lathe_free(f->name);
    lathe_free(f);
}

void output_flush(void) {
    for (LatheFile *f = files.all; f; f = f->next)
        flush(f);
}

void output_after_fork(void) {
    for (LatheFile *f = files.all; f; f = f->next)
        if (f->has_process && f->fd >= 0) {
            LIBC(close)(f->fd);
            f->fd = -1, f->failed = false;
        }
}
