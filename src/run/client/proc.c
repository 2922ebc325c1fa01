/* proc.c: what /proc tells the guest of itself.
 *
 * Most of it is the kernel's own: the name, the arguments, the environment and the auxiliary vector of the process are
 * the guest's (stack.c, load.c), for everybody who looks. Two files know of the client and get an answer of ours, which
 * other processes do not see: exe, and the list of mappings.
 *
 * A file of ours is told by its last name and by where the kernel finds the directory in front of it, so that links,
 * relative paths and descriptors all lead to the same answer.
 */
#include <linux/memfd.h>

#include "run/client/client.h"
#include "run/client/maps.h"
#include "run/client/space.h"

enum { PATH_BYTES = 4096, OUT_BYTES = 16 << 10, LINE_BYTES = MAPS_BUFFER + 128, NAME_COLUMN = 73 };

/* --------------------------------------------------------------------------------------------------------- finding */

/* "/proc/17" or "/proc/17/task/18", with the number of this process. */
static bool is_own_directory(const char *path) {
    char own[32];
    size_t len = format_text(own, sizeof(own), "/proc/%d", (int)sys_getpid());
    return !strncmp(path, own, len) &&
           (!path[len] || (!strncmp(path + len, "/task/", 6) && !strchr(path + len + 6, '/')));
}

/* Where the kernel finds a directory. */
static bool resolve(int dir, const char *path, char *out, size_t size) {
    char link[32];
    i64 fd = sys_openat(dir, path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    format_text(link, sizeof(link), "/proc/self/fd/%d", (int)fd);
    i64 len = sys_readlink(link, out, size - 1);
    sys_close((int)fd);
    out[len > 0 ? len : 0] = 0;
    return len > 0;
}

ProcFile proc_find(int dir, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    ProcFile file = !strcmp(name, "exe") ? PROC_EXE : !strcmp(name, "maps") ? PROC_MAPS : PROC_OTHER;
    char parent[PATH_BYTES] = ".", found[PATH_BYTES];
    size_t len = (size_t)(name - path);
    if (file == PROC_OTHER || len >= sizeof(parent))
        return PROC_OTHER;
    if (len)
        memcpy(parent, path, len), parent[len] = 0;
    return resolve(dir, parent, found, sizeof(found)) && is_own_directory(found) ? file : PROC_OTHER;
}

/* ------------------------------------------------------------------------------------------------------------ maps */

typedef struct Out {
    int fd;
    bool failed;
    size_t len, written;
    char text[OUT_BYTES + LINE_BYTES];
} Out;

static void flush(Out *o) {
    o->written += o->len;
    o->failed |= !limits_allow_file(o->written) || !sys_write_all(o->fd, o->text, o->len);
    o->len = 0;
}

static const char *name_of(u64 addr, const MapsLine *line) {
    if (addr >= the.stack_start && addr < the.stack_end)
        return "[stack]";
    if (addr >= the.brk_start && addr < the.brk_now)
        return "[heap]";
    bool others = !strcmp(line->name, "[stack]") || !strcmp(line->name, "[heap]");
    return others ? "" : line->name;
}

/* One line as the kernel writes it, whose names begin in one column. */
static void put_mapping(Out *o, u64 start, u64 end, u32 prot, const MapsLine *line) {
    const char *name = name_of(start, line);
    size_t begin = o->len;
    char *at = o->text + begin;
    size_t n = format_text(at, LINE_BYTES, "%08lx-%08lx %c%c%c%c %08lx %s ", start, end, prot & PROT_READ ? 'r' : '-',
                           prot & PROT_WRITE ? 'w' : '-', prot & PROT_EXEC ? 'x' : '-', line->prot[3],
                           line->file ? line->off + (start - line->start) : 0, line->origin);
    while (*name && n < NAME_COLUMN)
        at[n++] = ' ';
    n += format_text(at + n, LINE_BYTES - n, "%s\n", name);
    o->len += n;
    if (o->len >= OUT_BYTES)
        flush(o);
}

/* The end of a piece that begins at `start`: what is the heap or the stack is no part of anything else. */
static u64 cut(u64 start, u64 end) {
    const u64 bounds[] = {the.stack_start, the.stack_end, the.brk_start, page_up(the.brk_now)};
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
        if (bounds[i] > start && bounds[i] < end)
            end = bounds[i];
    return end;
}

/* Of a mapping of the host's, what is the guest's, with what the guest may do there. */
static void put_line(Out *o, const MapsLine *line) {
    u64 from, to;
    u32 prot;
    for (u64 at = line->start; at < line->end && space_next(at, &from, &to, &prot) && from < line->end;) {
        u64 start = from > at ? from : at;
        at = cut(start, to < line->end ? to : line->end);
        put_mapping(o, start, at, prot, line);
    }
}

static bool write_maps(int fd) {
    MapsReader *reader = sys_pages(sizeof(*reader));
    Out *o = sys_pages(sizeof(*o));
    MapsLine line;
    bool ok = reader && o && maps_open(reader);
    if (ok) {
        o->fd = fd;
        while (maps_next(reader, &line))
            put_line(o, &line);
        maps_close(reader);
        flush(o);
        ok = !o->failed;
    }
    if (reader)
        sys_pages_free(reader, sizeof(*reader));
    if (o)
        sys_pages_free(o, sizeof(*o));
    return ok;
}

/* A file in memory that can be read from its start, opened as asked for; negative errno. */
static i64 open_copy(u32 flags) {
    char link[32];
    i64 fd = sys_memfd_create("maps", MFD_CLOEXEC);
    if (fd < 0)
        return fd;
    format_text(link, sizeof(link), "/proc/self/fd/%d", (int)fd);
    i64 result = write_maps((int)fd) ? sys_open(link, flags & (O_ACCMODE | O_CLOEXEC | O_NONBLOCK), 0) : -ENOMEM;
    sys_close((int)fd);
    return result;
}

i64 proc_open_maps(int fd, u32 flags) {
    i64 copy = open_copy(flags);
    if (copy < 0) {
        sys_close(fd);
        return copy;
    }
    i64 result = sys_dup3((int)copy, fd, flags & O_CLOEXEC);
    sys_close((int)copy);
    return result;
}
