/* tidy.c: keeps the bound of the cache. The client does this when it writes an image, because not every run has a
 * server, which does the same for packs. */
#include "cache/pack.h"
#include "run/client/code/cache/store.h"
#include "run/client/memory/own.h"

enum { FILES_MAX = 1 << 15, LIST_BYTES = 4 << 10, PATH_BYTES = 512, SUFFIX_BYTES = sizeof(TIDY_SUFFIX) };

typedef struct ListEntry { /* struct linux_dirent64 */
    u64 inode;
    i64 off;
    u16 size;
    u8 type;
    char name[];
} ListEntry;

typedef struct Listing {
    PackFile *files; /* sorted: the file that was not used for the longest time is first */
    size_t count;
    i64 now;
} Listing;

static void path_of(char path[PATH_BYTES], const char *name) {
    format_text(path, PATH_BYTES, "%s/%s", the.opt.cache_dir, name);
}

static bool is_left_behind(const char *name) {
    char stem[PACK_NAME_SIZE];
    Key pack;
    if (strlen(name) != PACK_NAME_SIZE - 1 + SUFFIX_BYTES - 1 || strcmp(name + PACK_NAME_SIZE - 1, TIDY_SUFFIX))
        return false;
    memcpy(stem, name, PACK_NAME_SIZE - 1);
    stem[PACK_NAME_SIZE - 1] = 0;
    return pack_parse_name(stem, &pack);
}

/* Inserts a file at its place in the order. */
static void add(Listing *l, PackFile f) {
    size_t i = l->count++;
    for (; i && l->files[i - 1].used_s > f.used_s; i--)
        l->files[i] = l->files[i - 1];
    l->files[i] = f;
}

static void look_at(Listing *l, const char *name) {
    char path[PATH_BYTES];
    struct stat st;
    PackFile f;
    bool left = is_left_behind(name);
    path_of(path, name);
    if ((!left && !pack_parse_name(name, &f.pack)) || sys_stat(path, &st))
        return;
    i64 written = (i64)st.st_mtime, read = (i64)st.st_atime;
    f.size = pack_disk_bytes((u64)st.st_blocks);
    f.used_s = read > written ? read : written;
    if (left && written + TIDY_SECONDS < l->now)
        sys_unlink(path);
    else if (!left && l->count < FILES_MAX)
        add(l, f);
}

static void list(Listing *l, int fd) {
    u8 buffer[LIST_BYTES] __attribute__((aligned(8)));
    for (i64 n; (n = sys3(__NR_getdents64, (u64)fd, (u64)buffer, sizeof(buffer))) > 0;)
        for (i64 at = 0; at < n;) {
            const ListEntry *e = (const ListEntry *)(buffer + at);
            look_at(l, e->name);
            at += e->size;
        }
}

static void remove_surplus(const Listing *l) {
    size_t surplus = pack_surplus(l->files, l->count, (u64)the.opt.cache_mib << 20);
    for (size_t i = 0; i < surplus; i++) {
        char name[PACK_NAME_SIZE], path[PATH_BYTES];
        pack_name(l->files[i].pack, name);
        path_of(path, name);
        sys_unlink(path);
    }
}

/* The mode is set twice: the guest's umask may be anything. */
static void make_private(const char *path) {
    enum { OWNER_ALL = 0700 };
    if (!sys_mkdir(path, OWNER_ALL))
        sys_chmod(path, OWNER_ALL);
}

void tidy_make_folder(void) {
    char path[sizeof(the.opt.cache_dir)];
    for (const char *slash = strchr(the.opt.cache_dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        memcpy(path, the.opt.cache_dir, (size_t)(slash - the.opt.cache_dir));
        path[slash - the.opt.cache_dir] = 0;
        make_private(path);
    }
    make_private(the.opt.cache_dir);
}

void tidy_cache(void) {
    enum { REALTIME = 0 };
    struct timespec now;
    i64 fd = sys_open(the.opt.cache_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    Listing l = {.files = sys_pages(FILES_MAX * sizeof(PackFile))};
    if (fd >= 0 && l.files && !sys_clock_gettime(REALTIME, &now)) {
        l.now = now.tv_sec;
        list(&l, (int)fd);
        remove_surplus(&l);
    }
    if (l.files)
        sys_pages_free(l.files, FILES_MAX * sizeof(PackFile));
    if (fd >= 0)
        sys_close((int)fd);
}
