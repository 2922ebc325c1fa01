/* contained_start.c: see contained_start.h. */
#include "run/client/contained_start.h"

#include "cache/cpu.h"
#include "run/client/memory/contained.h"
#include "run/client/memory/own.h"

typedef struct Self {
    int fd; /* this program's file, until contained_settle */
    u64 off, size;
    i64 map;
} Self;

static Self self;

/* For the guest, this file is its program. */
static void note_path(void) {
    char path[sizeof(the.opt.guest_path)];
    const char *started = contained_started_as();
    i64 len = sys_readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (len > 0 && len < (i64)sizeof(path) - 1)
        path[len] = 0;
    else
        format_text(path, sizeof(path), "%s", started ? started : "");
    memcpy(the.opt.guest_path, path, sizeof(path));
    memcpy(the.opt.client_path, path, sizeof(path));
}

static _Noreturn void fail(const char *what) {
    const char *path = contained_started_as();
    die("%s: %s", path ? path : "/proc/self/exe", what);
}

static const ContainedHead *map_self(void) {
    struct stat st;
    i64 fd = contained_open_own();
    self.off = contained_page() * CONTAINED_PAGE;
    if (fd < 0 || sys_fstat((int)fd, &st) || (u64)st.st_size < self.off + sizeof(ContainedHead))
        fail("the file cannot be read, or is cut off; the program is in it");
    self.fd = (int)fd;
    self.size = (u64)st.st_size - self.off;
    self.map = sys_mmap(0, self.size, PROT_READ, MAP_PRIVATE, self.fd, self.off);
    if (sys_failed(self.map) || ((const ContainedHead *)self.map)->size > self.size)
        fail("the file cannot be read, or is cut off; the program is in it");
    return (const ContainedHead *)self.map;
}

bool contained_begin(int argc, char **argv, Start *start) {
    if (!contained_exists())
        return false;
    bool starts = !argc || strcmp(argv[0], CONTAINED_AS_CLIENT);
    const char *problem = contained_adopt(map_self(), starts);
    if (problem)
        fail(problem);
    if (contained_cpu() != cpu_kind())
        contained_forget_packs();
    if (!options_parse(contained_options(), &the.opt))
        fail("the options in it are damaged");
    if (!starts)
        return false;
    note_path();
    *start = (Start){(char *)contained_started_as(), argc, argv};
    if (!start->path)
        start->path = the.opt.guest_path;
    return true;
}

void contained_settle(void) {
    if (!contained_exists())
        return;
    i64 map = own_map(self.size, PROT_READ, MAP_PRIVATE, self.fd, self.off);
    if (sys_failed(map))
        fail("no memory for what is in it");
    contained_move((const ContainedHead *)map);
    sys_munmap((u64)self.map, self.size);
    sys_close(self.fd);
}
