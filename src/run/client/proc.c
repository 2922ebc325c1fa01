/* proc.c: what /proc tells the guest of itself.
 *
 * Most of it is the kernel's own: the name, the arguments, the environment and the auxiliary vector of the process are
 * the guest's (stack.c, load.c), for everybody who looks. Some files know of the client, or of the host's processors, and get an answer
 * of ours, which other processes do not see: exe, the list of mappings, the status once the guest has filters of system calls, and
 * cpuinfo for guests that have another.
 *
 * A file of ours is told by its last name and by where the kernel finds the directory in front of it, so that links,
 * relative paths and descriptors all lead to the same answer.
 */
#include <linux/memfd.h>
#include <linux/seccomp.h>

#include "run/client/client.h"
#include "run/client/maps.h"
#include "run/client/seccomp.h"
#include "run/client/space.h"

enum {
    PATH_BYTES = 4096,
    OUT_BYTES = 16 << 10,
    LINE_BYTES = MAPS_BUFFER + 128,
    NAME_COLUMN = 73,
    STATUS_BYTES = 8 << 10
};

/* --------------------------------------------------------------------------------------------------------- finding */

/* The file systems of /proc have this type, and this number for their root. */
enum { PROC_TYPE = 0x9fa0, PROC_ROOT = 1 };

/* path, from the directory `dir` on, follows links. */
static bool is_same(int dir, const char *path, const struct stat *as) {
    struct stat st;
    return !sys_fstatat(dir, path, &st) && st.st_dev == as->st_dev && st.st_ino == as->st_ino;
}

static bool is_root(int dir, const char *path, const struct stat *inside) {
    struct stat st;
    return !sys_fstatat(dir, path, &st) && st.st_dev == inside->st_dev && st.st_ino == PROC_ROOT;
}

/* Is `dir` the directory of this process, or of a thread of it? Numbers do not tell: there may be several /proc, of several namespaces,
 * and in each of them this process has another number, which need not be what getpid says. But each of them has a link `self`, and it leads to
 * the directory of whoever follows it. While `dir` is open, the kernel has no second inode for it. */
static bool is_own_directory(int dir) {
    struct stat st, above;
    if (sys_fstat(dir, &st) || sys_fstatat(dir, "..", &above))
        return false;
    return (is_root(dir, "..", &st) && is_same(dir, "../self", &st)) ||
           (is_root(dir, "../../..", &st) && is_same(dir, "../../../self/task", &above));
}

static bool is_proc_root(int dir) {
    struct stat st;
    return !sys_fstat(dir, &st) && is_root(dir, ".", &st);
}

static bool is_in_proc(int dir) {
    struct statfs fs;
    return !sys_fstatfs(dir, &fs) && fs.f_type == PROC_TYPE;
}

static ProcFile file_named(const char *name) {
    static const char *const names[] = {
        [PROC_EXE] = "exe", [PROC_MAPS] = "maps", [PROC_STATUS] = "status", [PROC_CPUINFO] = "cpuinfo"};
    for (u32 i = PROC_EXE; i < ARRAY_LEN(names); i++)
        if (!strcmp(name, names[i]))
            return i == PROC_CPUINFO && !guest_facts.cpuinfo ? PROC_OTHER : (ProcFile)i;
    return PROC_OTHER;
}

/* The path without its last name; false: it is too long. */
static bool parent_of(const char *path, char parent[PATH_BYTES]) {
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash + 1 - path) : 0;
    if (len >= PATH_BYTES)
        return false;
    memcpy(parent, path, len);
    parent[len] = 0;
    return true;
}

ProcPath proc_find(int dir, const char *path) {
    const char *slash = strrchr(path, '/');
    ProcPath found = {dir, path, PROC_OTHER};
    ProcFile file = file_named(slash ? slash + 1 : path);
    char parent[PATH_BYTES];
    if (file == PROC_OTHER || !parent_of(path, parent))
        return found;
    i64 fd = sys_openat(dir, *parent ? parent : ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return found;
    if (is_in_proc((int)fd) && (file == PROC_CPUINFO ? is_proc_root((int)fd) : is_own_directory((int)fd)))
        found.file = file;
    sys_close((int)fd);
    return found;
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

/* fd: the host's list. */
static bool put_maps(Out *o, int fd) {
    MapsReader *reader = sys_pages(sizeof(*reader));
    MapsLine line;
    if (!reader)
        return false;
    maps_begin(reader, fd);
    while (maps_next(reader, &line))
        put_line(o, &line);
    sys_pages_free(reader, sizeof(*reader));
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- status */

/* The last number behind a name at the beginning of a line; *line is where the line begins, NULL: there is none. */
static u32 find_number(const char *text, const char *name, const char **line) {
    u32 value = 0;
    *line = text;
    while (*line && strncmp(*line, name, strlen(name))) {
        *line = strchr(*line, '\n');
        *line += *line != NULL;
    }
    for (const char *c = *line ? *line + strlen(name) : ""; *c && *c != '\n'; c++)
        value = *c >= '0' && *c <= '9' ? 10 * value + (u32)(*c - '0') : 0;
    return value;
}

/* The thread has a number in each namespace, from that of this /proc to its own, which is what the client knows it by. */
static SeccompFacts facts_in(const char *status) {
    const char *line;
    u32 tid = find_number(status, "NSpid:\t", &line);
    return seccomp_facts(line ? tid
                              : find_number(status, "Pid:\t", &line)); /* a kernel without namespaces has one number */
}

static void put_text(Out *o, const char *from, const char *end) {
    memcpy(o->text + o->len, from, (size_t)(end - from));
    o->len += (size_t)(end - from);
}

/* The host's text with other lines about filters; those that the host has are in force, too. */
static void put_status(Out *o, const char *status) {
    const char *mode, *count, *rest;
    SeccompFacts facts = facts_in(status);
    find_number(status, "Seccomp:\t", &mode);
    u32 host_count = find_number(status, "Seccomp_filters:\t", &count);
    rest = count ? strchr(count, '\n') : mode ? strchr(mode, '\n') : NULL;
    put_text(o, status, rest ? mode : status + strlen(status));
    if (rest && count)
        o->len += format_text(o->text + o->len, LINE_BYTES, "Seccomp:\t%u\nSeccomp_filters:\t%u", facts.mode,
                              host_count + facts.filters);
    else if (rest)
        o->len += format_text(o->text + o->len, LINE_BYTES, "Seccomp:\t%u", facts.mode);
    if (rest)
        put_text(o, rest, rest + strlen(rest));
}

/* --------------------------------------------------------------------------------------------------------- cpuinfo */

static void put_processor(Out *o, u32 number) {
    o->len += format_text(o->text + o->len, LINE_BYTES, guest_facts.cpuinfo, number, number);
    if (o->len >= OUT_BYTES)
        flush(o);
}

/* "0-3,6": the processors that there are. */
static void put_processors(Out *o, const char *list) {
    while (*list >= '0' && *list <= '9') {
        u32 first = 0, last = 0;
        for (; *list >= '0' && *list <= '9'; list++)
            first = first * 10 + (u32)(*list - '0');
        last = first;
        if (*list == '-')
            for (list++, last = 0; *list >= '0' && *list <= '9'; list++)
                last = last * 10 + (u32)(*list - '0');
        for (u32 i = first; i <= last; i++)
            put_processor(o, i);
        list += *list == ',';
    }
}

static void put_cpuinfo(Out *o) {
    char list[PATH_BYTES] = "0";
    i64 file = sys_open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC, 0);
    i64 n = file < 0 ? 0 : sys_pread((int)file, list, sizeof(list) - 1, 0);
    if (file >= 0)
        sys_close((int)file);
    if (n > 0)
        list[n] = 0;
    put_processors(o, list);
}

/* --------------------------------------------------------------------------------------------------------- opening */

/* Opens the client's descriptor `fd` anew, as the guest asked for it. The /proc that the guest found `file` in is taken, which may be the
 * only one that it has, as a descriptor. */
static i64 open_anew(const ProcPath *p, int fd, u32 flags) {
    char link[PATH_BYTES + 32];
    if (!parent_of(p->path, link))
        return -ENAMETOOLONG;
    size_t len = strlen(link);
    format_text(link + len, sizeof(link) - len, p->file == PROC_CPUINFO ? "self/fd/%d" : "fd/%d", fd);
    return sys_openat(p->dir, link, flags & (O_ACCMODE | O_CLOEXEC | O_NONBLOCK), 0);
}

/* A file in memory that can be read from its start, opened as asked for; negative errno. host: the host's file; status: what it has, if
 * it is a status. */
static i64 open_copy(Out *o, const ProcPath *p, int host, const char *status, u32 flags) {
    bool ok = true;
    i64 fd = sys_memfd_create(p->file == PROC_STATUS ? "status"
                              : p->file == PROC_MAPS ? "maps"
                                                     : "cpuinfo",
                              MFD_CLOEXEC);
    if (fd < 0)
        return fd;
    o->fd = (int)fd;
    if (p->file == PROC_STATUS)
        put_status(o, status);
    else if (p->file == PROC_MAPS)
        ok = put_maps(o, host);
    else
        put_cpuinfo(o);
    flush(o);
    i64 result = ok && !o->failed ? open_anew(p, (int)fd, flags) : -ENOMEM;
    sys_close((int)fd);
    return result;
}

/* In place of what the kernel has opened. */
static i64 replace(int fd, i64 copy, u32 flags) {
    if (copy < 0) {
        sys_close(fd);
        return copy;
    }
    i64 result = sys_dup3((int)copy, fd, flags & O_CLOEXEC);
    sys_close((int)copy);
    return result;
}

i64 proc_open(const ProcPath *p, int fd, u32 flags) {
    char status[STATUS_BYTES] = "";
    if (p->file == PROC_STATUS) {
        i64 n = sys_pread(fd, status, sizeof(status) - 1, 0);
        status[n > 0 ? n : 0] = 0;
        if (facts_in(status).mode == SECCOMP_MODE_DISABLED)
            return fd;
    }
    Out *o = sys_pages(sizeof(*o));
    i64 result = replace(fd, o ? open_copy(o, p, fd, status, flags) : -ENOMEM, flags);
    if (o)
        sys_pages_free(o, sizeof(*o));
    return result;
}
