/* files.c: LatheFile of lathe/tool.h.
 *
 * All files and their buffers are under one lock. The guest does not see their descriptors (code/server/hidden.c). A process that shares memory with the program but has
 * descriptors of its own (a vfork child) does not write: what is for a file stays in the buffer, which grows. */
#include "run/client/memory/limits.h"
#include "run/client/tool/runtime.h"
#include "run/client/tool/tool.h"

enum { PATH_BYTES = 4096, BUFFER_BYTES = 256 << 10, COPIES_MOST = 10000 };

struct LatheFile {
    LatheFile *next;
    int fd;           /* -1: it is not open */
    bool is_stderr;   /* its descriptor is that of lathe_print */
    bool has_process; /* its name has %p */
    bool failed;      /* writing has failed, and a message said so */
    u64 written;
    u8 *buffer;
    u64 used, room;
    const char *name; /* as the tool has given it */
    char path[PATH_BYTES];
};

typedef struct Files {
    u32 lock;
    u32 owner; /* the thread that holds it */
    LatheFile *all;
    char directory[PATH_BYTES]; /* in which the program began */
} Files;

static Files files;

void tool_files_init(void) {
    if (sys_failed(sys2(__NR_getcwd, (u64)files.directory, sizeof(files.directory))))
        files.directory[0] = 0;
}

void tool_files_lock(void) {
    lock(&files.lock);
    files.owner = thread_self()->tid;
}

void tool_files_unlock(void) {
    files.owner = 0;
    unlock(&files.lock);
}

/* What a negative errno means, for those that files usually have. */
static const char *error_text(i64 error) {
    switch (-error) {
    case ENOENT:
        return "no such directory";
    case ENOTDIR:
        return "a part of the path is no directory";
    case EACCES:
    case EPERM:
        return "it is not allowed";
    case EISDIR:
        return "it is a directory";
    case EROFS:
        return "the file system is read-only";
    case ENOSPC:
    case EDQUOT:
        return "no space is left";
    case EFBIG:
        return "it would be too large";
    case EMFILE:
    case ENFILE:
        return "too many files are open";
    case ENAMETOOLONG:
        return "the name is too long";
    case EPIPE:
        return "nobody reads it";
    default:
        return "the system does not do it";
    }
}

/* ------------------------------------------------------------------------------------------------------------- opening */

/* The name with the process's number in place of %p, behind the directory; false: it is too long. */
static bool expand(LatheFile *f) {
    char *at = f->path, *end = f->path + sizeof(f->path) - 32;
    f->has_process = false;
    if (*f->name != '/')
        at += format_text(at, sizeof(f->path), "%s/", files.directory);
    for (const char *p = f->name; *p && at < end; p++) {
        bool process = p[0] == '%' && p[1] == 'p';
        f->has_process |= process;
        if (process)
            at += format_text(at, 24, "%d", (int)sys_getpid());
        else
            *at++ = *p;
        p += p[0] == '%' && (p[1] == 'p' || p[1] == '%');
    }
    *at = 0;
    return at < end;
}

/* A program that this one has become by exec has the same number: its file must not replace the one that the former has written. */
static i64 create(LatheFile *f) {
    enum { FLAGS = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, MODE = 0666 };
    if (!the.opt.by_guest || !f->has_process)
        return sys_open(f->path, FLAGS | O_TRUNC, MODE);
    i64 fd = sys_open(f->path, FLAGS | O_EXCL, MODE);
    char *end = f->path + strlen(f->path);
    for (u32 i = 1; fd == -EEXIST && i < COPIES_MOST; i++) {
        format_text(end, 16, ".%u", i);
        fd = sys_open(f->path, FLAGS | O_EXCL, MODE);
    }
    return fd;
}

/* Returns 0 or a negative errno. */
static i64 open_file(LatheFile *f) {
    if (f->is_stderr)
        return 0;
    i64 fd = expand(f) ? create(f) : -ENAMETOOLONG, away = fd < 0 ? fd : limits_dup_away((int)fd);
    if (fd < 0)
        return fd;
    if (away >= 0)
        sys_close((int)fd);
    f->fd = (int)(away < 0 ? fd : away);
    f->written = 0;
    return 0;
}

static LatheFile *new_file(const char *name) {
    LatheFile *f = lathe_alloc(sizeof(*f));
    char *copy = lathe_alloc(strlen(name) + 1);
    memcpy(copy, name, strlen(name));
    f->name = copy;
    f->fd = -1;
    f->is_stderr = !strcmp(name, "-");
    f->room = BUFFER_BYTES;
    f->buffer = lathe_alloc(f->room);
    return f;
}

LatheFile *lathe_open(const char *name) {
    LatheFile *f = new_file(name);
    tool_files_lock();
    i64 error = open_file(f);
    f->next = files.all;
    files.all = f;
    tool_files_unlock();
    if (error)
        lathe_fail("%s cannot be written: %s (error %d)", f->path, error_text(error), (int)-error);
    return f;
}

/* ------------------------------------------------------------------------------------------------------------- writing */

static void lose(LatheFile *f, u64 bytes, i64 error) {
    if (!f->failed)
        tool_say("the tool: %s cannot be written: %s (error %d): %lu bytes and all that follows are lost",
                 f->is_stderr ? "standard error" : f->path, error_text(error), (int)-error, bytes);
    f->failed = true;
}

static i64 put_all(LatheFile *f, const u8 *data, u64 size) {
    int fd = f->is_stderr ? the.stats_fd : f->fd;
    if (!f->is_stderr && !limits_allow_file(f->written + size))
        return -EFBIG; /* the kernel would send a signal */
    while (size) {
        i64 n = sys_write(fd, data, size);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return n ? n : -EIO;
        data += n, size -= (u64)n, f->written += (u64)n;
    }
    return 0;
}

/* Under the lock. */
static void put(LatheFile *f, const void *data, u64 size) {
    if (!size || f->failed)
        return;
    i64 error = f->fd < 0 ? open_file(f) : 0;
    if (!error)
        error = put_all(f, data, size);
    if (error)
        lose(f, size, error);
}

static bool may_write(void) {
    return !thread_self()->process.own_files;
}

static void flush(LatheFile *f) {
    if (!may_write())
        return;
    put(f, f->buffer, f->used);
    f->used = 0;
}

static void make_room(LatheFile *f, u64 size) {
    if (f->used + size > f->room)
        flush(f);
    if (f->used + size <= f->room)
        return;
    f->room = 2 * (f->used + size);
    f->buffer = lathe_resize(f->buffer, f->room);
}

static void add(LatheFile *f, const void *data, u64 size) {
    make_room(f, size);
    memcpy(f->buffer + f->used, data, size);
    f->used += size;
}

/* What is large is not copied. */
void lathe_write(LatheFile *f, const void *data, size_t size) {
    enum { LARGE_BYTES = BUFFER_BYTES / 4 };
    tool_files_lock();
    if (size >= LARGE_BYTES && may_write()) {
        flush(f);
        put(f, data, size);
    } else
        add(f, data, size);
    tool_files_unlock();
}

void lathe_fprint(LatheFile *f, const char *format, ...) {
    ToolText text;
    va_list args;
    va_start(args, format);
    tool_text(&text, format, args);
    va_end(args);
    lathe_write(f, text.at, text.len);
    tool_text_free(&text);
}

void lathe_flush(LatheFile *f) {
    tool_files_lock();
    flush(f);
    tool_files_unlock();
}

static void unlist(LatheFile *f) {
    LatheFile **at = &files.all;
    while (*at && *at != f)
        at = &(*at)->next;
    if (*at)
        *at = f->next;
}

void lathe_close(LatheFile *f) {
    tool_files_lock();
    flush(f);
    unlist(f);
    if (f->fd >= 0)
        sys_close(f->fd);
    tool_files_unlock();
    lathe_free(f->buffer);
    lathe_free((void *)f->name);
    lathe_free(f);
}

/* --------------------------------------------------------------------------------------------- all files of the process */

void tool_files_flush_locked(void) {
    for (LatheFile *f = files.all; f; f = f->next)
        flush(f);
}

void tool_files_flush(void) {
    tool_files_lock();
    tool_files_flush_locked();
    tool_files_unlock();
}

/* A thread that holds the lock comes here, too, if its call of a function in this file has failed: what is in the buffers is whole even then. */
void tool_files_flush_dying(void) {
    enum { PATIENCE_MS = 1000 };
    u32 self = thread_self()->tid;
    for (u32 i = 0; i < PATIENCE_MS && __atomic_load_n(&files.lock, __ATOMIC_ACQUIRE) && files.owner != self; i++)
        sys_poll(NULL, 0, 1);
    if (!files.lock || files.owner == self)
        tool_files_flush_locked();
}

/* A file without the process's number in its name is shared with the parent: whoever writes does so at its end. */
void tool_files_after_fork(void) {
    for (LatheFile *f = files.all; f; f = f->next)
        if (f->has_process && f->fd >= 0) {
            sys_close(f->fd);
            f->fd = -1, f->failed = false;
        }
}

int *tool_descriptor(u32 index) {
    LatheFile *f = files.all;
    if (!index--)
        return tool_lines_descriptor();
    while (f && index--)
        f = f->next;
    return f ? &f->fd : NULL;
}
