/* proc.c: the files of /proc in which the guest sees itself.
 *
 * Most of them are the kernel's own: the name, the arguments, the environment and the auxiliary vector of the process are the guest's
 * (stack.c, load.c), for every process that looks. Some files show the client or the host's processors, and the guest gets a file of ours
 * instead, which other processes do not see: exe, the files about memory (proc_memory.c), the status with the guest's sizes and filters of
 * system calls, and cpuinfo for guests that have another kind of processor.
 *
 * Such a file is recognised by its last name and by the directory in front of it, which the kernel looks up, so that links,
 * relative paths and descriptors all lead to the same answer.
 */
#include <linux/memfd.h>
#include <linux/seccomp.h>

#include "run/client/memory/limits.h"
#include "run/client/memory/own.h"
#include "run/client/os/proc.h"
#include "run/client/os/seccomp.h"

enum { PATH_BYTES = 4096, STATUS_BYTES = 8 << 10 };

/* --------------------------------------------------------------------------------------------------------- finding */

/* The file systems of /proc have this type, and this number for their root. */
enum { PROC_TYPE = 0x9fa0, PROC_ROOT = 1 };

/* True if `path`, from the directory `dir` on and with links followed, is the same file as `as`. */
static bool is_same(int dir, const char *path, const struct stat *as) {
    struct stat st;
    return !sys_fstatat(dir, path, &st) && st.st_dev == as->st_dev && st.st_ino == as->st_ino;
}

static bool is_root(int dir, const char *path, const struct stat *inside) {
    struct stat st;
    return !sys_fstatat(dir, path, &st) && st.st_dev == inside->st_dev && st.st_ino == PROC_ROOT;
}

/* True if `dir` is the directory of this process, or of one of its threads. Numbers do not tell: there may be several
 * /proc of several namespaces, and in each of them this process has another number, which need not be what getpid says.
 * But each /proc has a link `self` that leads to the directory of the process that follows it. While `dir` is open, the
 * kernel has no second inode for it. */
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
        [PROC_EXE] = "exe",        [PROC_MAPS] = "maps",           [PROC_SMAPS] = "smaps",
        [PROC_NUMA] = "numa_maps", [PROC_ROLLUP] = "smaps_rollup", [PROC_STATM] = "statm",
        [PROC_STAT] = "stat",      [PROC_LIMITS] = "limits",       [PROC_STATUS] = "status",
        [PROC_CPUINFO] = "cpuinfo"};
    for (u32 i = PROC_EXE; i < ARRAY_LEN(names); i++)
        if (!strcmp(name, names[i]))
            return i == PROC_CPUINFO && !guest_facts.cpuinfo ? PROC_OTHER : (ProcFile)i;
    return PROC_OTHER;
}

/* Copies the path without its last name. Returns false if it is too long. */
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

/* --------------------------------------------------------------------------------------------------------- writing */

void proc_flush(ProcOut *o) {
    o->written += o->len;
    o->failed |= !limits_allow_file(o->written) || !sys_write_all(o->fd, o->text, o->len);
    o->len = 0;
}

void proc_put(ProcOut *o, const char *format, ...) {
    va_list args;
    va_start(args, format);
    o->len += format_args(o->text + o->len, PROC_LINE_BYTES, format, args);
    va_end(args);
    if (o->len >= PROC_OUT_BYTES)
        proc_flush(o);
}

/* ---------------------------------------------------------------------------------------------------------- status */

/* The last number on the line that begins with `name`. *line is the beginning of that line, or NULL if there is none. */
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

/* A thread has a number in each namespace from that of this /proc down to its own. The line lists them in this order,
 * and the client knows the thread by the last one. */
static SeccompFacts facts_in(const char *status) {
    const char *line;
    u32 tid = find_number(status, "NSpid:\t", &line);
    return seccomp_facts(line ? tid
                              : find_number(status, "Pid:\t", &line)); /* a kernel without namespaces has one number */
}

static void put_text(ProcOut *o, const char *from, const char *end) {
    memcpy(o->text + o->len, from, (size_t)(end - from));
    o->len += (size_t)(end - from);
}

/* Writes the host's text with the guest's lines about filters. Filters of the host are in force, too, and are counted. */
static void put_status(ProcOut *o, const char *status) {
    const char *mode, *count, *rest;
    SeccompFacts facts = facts_in(status);
    if (facts.mode == SECCOMP_MODE_DISABLED) {
        put_text(o, status, status + strlen(status));
        return;
    }
    find_number(status, "Seccomp:\t", &mode);
    u32 host_count = find_number(status, "Seccomp_filters:\t", &count);
    rest = count ? strchr(count, '\n') : mode ? strchr(mode, '\n') : NULL;
    put_text(o, status, rest ? mode : status + strlen(status));
    if (rest && count)
        o->len += format_text(o->text + o->len, PROC_LINE_BYTES, "Seccomp:\t%u\nSeccomp_filters:\t%u", facts.mode,
                              host_count + facts.filters);
    else if (rest)
        o->len += format_text(o->text + o->len, PROC_LINE_BYTES, "Seccomp:\t%u", facts.mode);
    if (rest)
        put_text(o, rest, rest + strlen(rest));
}

/* --------------------------------------------------------------------------------------------------------- cpuinfo */

static void put_processor(ProcOut *o, u32 number) {
    proc_put(o, guest_facts.cpuinfo, number, number);
}

/* list: the processors that exist, for example "0-3,6". */
static void put_processors(ProcOut *o, const char *list) {
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

static void put_cpuinfo(ProcOut *o) {
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

/* Opens another file in the directory of /proc/PID in which the guest's path ends. The path may be the only way to
 * /proc that the guest has, for example through a descriptor. */
static i64 open_beside(const ProcPath *p, const char *name, u32 flags) {
    char path[PATH_BYTES + 32];
    if (!parent_of(p->path, path))
        return -ENAMETOOLONG;
    size_t len = strlen(path);
    format_text(path + len, sizeof(path) - len, p->file == PROC_CPUINFO ? "self/%s" : "%s", name);
    return sys_openat(p->dir, path, flags, 0);
}

static void put_file(ProcOut *o, ProcFile file, int host, int smaps) {
    char status[STATUS_BYTES];
    if (file == PROC_CPUINFO) {
        put_cpuinfo(o);
    } else if (file != PROC_STATUS) {
        o->failed |= !proc_put_memory(o, file, host, smaps);
    } else {
        i64 n = sys_pread(host, status, sizeof(status) - 1, 0);
        status[n > 0 ? n : 0] = 0;
        proc_correct_status(status, sizeof(status), smaps);
        put_status(o, status);
    }
    proc_flush(o);
}

/* Makes the guest's copy of a file in memory, and opens it from its start with the flags that the guest gave. host: the
 * file that the kernel has opened. Returns a descriptor or a negative errno. */
static i64 open_copy(ProcOut *o, const ProcPath *p, int host, u32 flags) {
    char link[32];
    i64 fd = sys_memfd_create("proc", MFD_CLOEXEC), smaps = open_beside(p, "smaps", O_RDONLY | O_CLOEXEC);
    o->fd = (int)fd;
    if (fd >= 0)
        put_file(o, p->file, host, (int)smaps);
    if (smaps >= 0)
        sys_close((int)smaps);
    if (fd < 0)
        return fd;
    format_text(link, sizeof(link), "fd/%d", (int)fd);
    i64 result = o->failed ? -ENOMEM : open_beside(p, link, flags & (O_ACCMODE | O_CLOEXEC | O_NONBLOCK));
    sys_close((int)fd);
    return result;
}

/* Makes fd refer to the copy instead of the file that the kernel has opened. */
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
    ProcOut *o = sys_pages(sizeof(*o));
    i64 result = replace(fd, o ? open_copy(o, p, fd, flags) : -ENOMEM, flags);
    if (o)
        sys_pages_free(o, sizeof(*o));
    return result;
}
