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

enum { PATH_BYTES = 4096, OUT_BYTES = 16 << 10, LINE_BYTES = MAPS_BUFFER + 128, NAME_COLUMN = 73, STATUS_BYTES = 8 << 10 };

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

static ProcFile file_named(const char *name) {
    static const char *const names[] = {[PROC_EXE] = "exe", [PROC_MAPS] = "maps", [PROC_STATUS] = "status", [PROC_CPUINFO] = "cpuinfo"};
    for (u32 i = PROC_EXE; i < ARRAY_LEN(names); i++)
        if (!strcmp(name, names[i]))
            return i == PROC_CPUINFO && !guest_facts.cpuinfo ? PROC_OTHER : (ProcFile)i;
    return PROC_OTHER;
}

ProcFile proc_find(int dir, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    ProcFile file = file_named(name);
    char parent[PATH_BYTES] = ".", found[PATH_BYTES];
    size_t len = (size_t)(name - path);
    if (file == PROC_OTHER || len >= sizeof(parent))
        return PROC_OTHER;
    if (len)
        memcpy(parent, path, len), parent[len] = 0;
    if (!resolve(dir, parent, found, sizeof(found)))
        return PROC_OTHER;
    return (file == PROC_CPUINFO ? !strcmp(found, "/proc") : is_own_directory(found)) ? file : PROC_OTHER;
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

static bool put_maps(Out *o) {
    MapsReader *reader = sys_pages(sizeof(*reader));
    MapsLine line;
    bool ok = reader && maps_open(reader);
    if (ok) {
        while (maps_next(reader, &line))
            put_line(o, &line);
        maps_close(reader);
    }
    if (reader)
        sys_pages_free(reader, sizeof(*reader));
    return ok;
}

/* ---------------------------------------------------------------------------------------------------------- status */

/* The number behind a name at the beginning of a line; *line is where the line begins, NULL: there is none. */
static u32 find_number(const char *text, const char *name, const char **line) {
    u32 value = 0;
    *line = text;
    while (*line && strncmp(*line, name, strlen(name))) {
        *line = strchr(*line, '\n');
        *line += *line != NULL;
    }
    for (const char *c = *line ? *line + strlen(name) : ""; *c && *c != '\n'; c++)
        value = *c >= '0' && *c <= '9' ? 10 * value + (u32)(*c - '0') : value;
    return value;
}

static SeccompFacts facts_in(const char *status) {
    const char *line;
    return seccomp_facts(find_number(status, "Pid:\t", &line));
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
        o->len += format_text(o->text + o->len, LINE_BYTES, "Seccomp:\t%u\nSeccomp_filters:\t%u", facts.mode, host_count + facts.filters);
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

/* A file in memory that can be read from its start, opened as asked for; negative errno. status: what the host's has. */
static i64 open_copy(Out *o, ProcFile file, const char *status, u32 flags) {
    char link[32];
    bool ok = true;
    i64 fd = sys_memfd_create(file == PROC_STATUS ? "status" : file == PROC_MAPS ? "maps" : "cpuinfo", MFD_CLOEXEC);
    if (fd < 0)
        return fd;
    o->fd = (int)fd;
    if (file == PROC_STATUS)
        put_status(o, status);
    else if (file == PROC_MAPS)
        ok = put_maps(o);
    else
        put_cpuinfo(o);
    flush(o);
    format_text(link, sizeof(link), "/proc/self/fd/%d", (int)fd);
    i64 result = ok && !o->failed ? sys_open(link, flags & (O_ACCMODE | O_CLOEXEC | O_NONBLOCK), 0) : -ENOMEM;
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

i64 proc_open(ProcFile file, int fd, u32 flags) {
    char status[STATUS_BYTES] = "";
    if (file == PROC_STATUS) {
        i64 n = sys_pread(fd, status, sizeof(status) - 1, 0);
        status[n > 0 ? n : 0] = 0;
        if (facts_in(status).mode == SECCOMP_MODE_DISABLED)
            return fd;
    }
    Out *o = sys_pages(sizeof(*o));
    i64 result = replace(fd, o ? open_copy(o, file, status, flags) : -ENOMEM, flags);
    if (o)
        sys_pages_free(o, sizeof(*o));
    return result;
}
