/* perf.c: see perf.h.
 *
 * perf reads the map when it reports. The dump has the format of perf's jitdump: `perf inject --jit` makes ELF files of it, which perf annotate shows. perf finds the dump by the
 * mapping that is made of it here. Both files are opened for each entry, since the guest may close descriptors. They are made anew with O_EXCL: somebody else's file, or a link, in /tmp is
 * not written to. */
#include "run/client/tool/perf.h"

#include <elf.h>

#include "run/client/code/arena/arena.h"
#include "run/client/core/client.h"
#include "run/client/memory/own.h"
#include "run/client/tool/tool.h"

enum { PATH_BYTES = 40, NAME_BYTES = 512, OWNER_ONLY = 0600 };
enum { DUMP_MAGIC = 0x4a695444, DUMP_VERSION = 1, DUMP_LOAD = 0, CLOCK = 1 /* CLOCK_MONOTONIC */ };

typedef struct DumpHead {
    u32 magic, version, size, machine, reserved, pid;
    u64 time_ns, flags;
} DumpHead;

typedef struct DumpLoad { /* the name with its zero and the code follow */
    u32 id, size;
    u64 time_ns;
    u32 pid, tid;
    u64 address, code, code_size, index;
} DumpLoad;

static struct {
    u32 pid; /* in the names of the files; 0: nothing is written */
    u64 pieces;
    bool dumps;
} perf;

/* Of this program, which is of the host's kind. */
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

static u64 now_ns(void) {
    struct timespec now = {0};
    sys_clock_gettime(CLOCK, &now);
    return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

static void name_map(char path[PATH_BYTES], u32 pid) {
    format_text(path, PATH_BYTES, "/tmp/perf-%u.map", pid);
}

static void name_dump(char path[PATH_BYTES]) {
    format_text(path, PATH_BYTES, "/tmp/jit-%u.dump", perf.pid);
}

/* Returns a descriptor, or a negative errno after a message. */
static i64 begin_file(const char *path) {
    sys_unlink(path); /* of a process that had the same number, or of a program before exec */
    i64 fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, OWNER_ONLY);
    if (fd < 0)
        say("--perf: %s: cannot be made: error %lu", path, (u64)-fd);
    return fd;
}

static i64 open_again(const char *path) {
    return sys_open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0);
}

/* perf looks for a mapping of the file's first page as code. Where files of /tmp cannot be executed, there is no dump. */
static void begin_dump(void) {
    char path[PATH_BYTES];
    DumpHead head = {DUMP_MAGIC, DUMP_VERSION, sizeof(head), __ehdr_start.e_machine, 0, perf.pid, now_ns(), 0};
    name_dump(path);
    i64 fd = begin_file(path);
    if (fd < 0)
        return;
    perf.dumps = sys_write_all((int)fd, &head, sizeof(head)) &&
                 !sys_failed(own_map(PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, (int)fd, 0));
    sys_close((int)fd);
    if (!perf.dumps)
        sys_unlink(path);
}

static bool begin_files(void) {
    char path[PATH_BYTES];
    perf.pid = (u32)sys_getpid();
    name_map(path, perf.pid);
    i64 fd = begin_file(path);
    if (fd < 0)
        perf.pid = 0;
    else
        sys_close((int)fd);
    if (perf.pid)
        begin_dump();
    return perf.pid;
}

void perf_begin(void) {
    if (the.opt.perf && begin_files())
        arena_announce();
}

/* ----------------------------------------------------------------------------------------------------------------- entries */

static const char *last_part(const char *path) {
    const char *last = path;
    for (; *path; path++)
        if (*path == '/')
            last = path + 1;
    return last;
}

/* Each line of the map is one name. */
static void keep_in_line(char *name) {
    for (; *name; name++)
        if ((u8)*name < ' ')
            *name = '?';
}

static void name_code(u64 pc, char name[NAME_BYTES]) {
    LatheSymbol s;
    if (lathe_symbol(pc, &s))
        format_text(name, NAME_BYTES, "%s", s.name);
    else if (s.address != pc || *s.file == '/')
        format_text(name, NAME_BYTES, "%s+0x%lx", last_part(s.file), s.address);
    else
        format_text(name, NAME_BYTES, "guest+0x%lx", pc);
    keep_in_line(name);
}

static void add_to_map(const char *name, const void *code, u64 size) {
    char path[PATH_BYTES], line[NAME_BYTES + 40];
    name_map(path, perf.pid);
    i64 fd = open_again(path);
    if (fd < 0)
        return;
    sys_write_all((int)fd, line, format_text(line, sizeof(line), "%lx %lx %s\n", (u64)code, size, name));
    sys_close((int)fd);
}

static void add_to_dump(const char *name, const void *code, u64 size) {
    char path[PATH_BYTES];
    u64 name_size = strlen(name) + 1;
    name_dump(path);
    i64 fd = open_again(path);
    if (fd < 0)
        return;
    DumpLoad load = {DUMP_LOAD,         (u32)(sizeof(load) + name_size + size),
                     now_ns(),          perf.pid,
                     (u32)sys_gettid(), (u64)code,
                     (u64)code,         size,
                     perf.pieces++};
    if (sys_write_all((int)fd, &load, sizeof(load)) && sys_write_all((int)fd, name, name_size))
        sys_write_all((int)fd, code, size);
    sys_close((int)fd);
}

void perf_note(u64 pc, const void *code, u64 size) {
    char name[NAME_BYTES];
    if (!perf.pid)
        return;
    name_code(pc, name);
    add_to_map(name, code, size);
    if (perf.dumps)
        add_to_dump(name, code, size);
}

/* -------------------------------------------------------------------------------------------------------------------- fork */

static void copy_map(u32 from_pid) {
    enum { PIECE = 4096 };
    char from[PATH_BYTES], to[PATH_BYTES], bytes[PIECE];
    name_map(from, from_pid);
    name_map(to, perf.pid);
    i64 in = sys_open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0), out = open_again(to), size;
    while (in >= 0 && out >= 0 && (size = sys_read((int)in, bytes, PIECE)) > 0 &&
           sys_write_all((int)out, bytes, (u64)size))
        ;
    if (in >= 0)
        sys_close((int)in);
    if (out >= 0)
        sys_close((int)out);
}

/* The dump has only what is new, since an entry is of one process. */
void perf_after_fork(void) {
    u32 parent = perf.pid;
    perf.dumps = false;
    if (parent && begin_files())
        copy_map(parent);
}
