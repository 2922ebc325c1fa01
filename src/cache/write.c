/* write.c: the server's side of the cache: appending to packs, and keeping the directory within its size.
 *
 * A pack is opened, locked and written to once for each record. Compared with the translation this costs nothing, and it leaves no state
 * that another process or a crash could spoil. A pack is never shortened or overwritten, because clients have it mapped: the remains of
 * a failed write stay, and readers skip them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cache/pack.h"

#define LIMIT_DEFAULT_MIB 1024u
#define MIB ((u64)1 << 20)

struct PackWriter {
    int dir;
    u64 limit;     /* of the size of all packs, in bytes */
    u64 unchecked; /* bytes written since the limit was last checked */
    bool failed;   /* nothing is written any more, because the disk is full or has failed */
};

/* ---------------------------------------------------------------------------------------------------- the directory */

static bool make_directories(const char *dir) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s", dir) >= (int)sizeof(path))
        return false;
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* A directory that other users can write to is not used, because its code might be theirs. */
static bool is_ours(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && pack_is_private(st.st_uid, st.st_mode, geteuid());
}

static int by_use(const void *a, const void *b) {
    const PackFile *f = a, *g = b;
    return (f->used_s > g->used_s) - (f->used_s < g->used_s);
}

static void add_file(PackFiles *files, int dir, const char *name) {
    struct stat st;
    Key pack;
    if (!pack_parse_name(name, &pack) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
        return;
    i64 used_s = st.st_atime > st.st_mtime ? st.st_atime : st.st_mtime;
    VEC_PUSH(files, ((PackFile){.pack = pack, .size = pack_disk_bytes((u64)st.st_blocks), .used_s = used_s}));
}

bool pack_list(int dir, PackFiles *files) {
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream)
        return false;
    for (struct dirent *entry; (entry = readdir(stream));)
        add_file(files, dir, entry->d_name);
    closedir(stream);
    if (files->len)
        qsort(files->at, files->len, sizeof(*files->at), by_use);
    return true;
}

/* Removes packs until a quarter of the limit is free. Processes that have one mapped keep it. One process at a time
 * does this. */
static void enforce_limit(PackWriter *w) {
    w->unchecked = 0;
    if (flock(w->dir, LOCK_EX | LOCK_NB))
        return;
    PackFiles files = {0};
    pack_list(w->dir, &files);
    size_t surplus = pack_surplus(files.at, files.len, w->limit);
    for (size_t i = 0; i < surplus; i++) {
        char name[PACK_NAME_SIZE];
        pack_name(files.at[i].pack, name);
        unlinkat(w->dir, name, 0);
    }
    VEC_FREE(&files);
    flock(w->dir, LOCK_UN);
}

static bool has_code_of(int fd, Key pack) {
    PackImageModule modules[PACK_IMAGE_MODULES];
    PackImage image;
    if (pread(fd, &image, sizeof(image), 0) != sizeof(image) || image.magic != PACK_IMAGE_MAGIC ||
        image.module_count > PACK_IMAGE_MODULES)
        return false;
    ssize_t size = (ssize_t)(image.module_count * sizeof(*modules));
    if (pread(fd, modules, (size_t)size, (off_t)image.modules_off) != size)
        return false;
    for (u64 i = 0; i < image.module_count; i++)
        if (!memcmp(&modules[i].pack, &pack, sizeof(pack)))
            return true;
    return false;
}

void pack_drop_images(const char *dir, Key pack) {
    PackFiles files = {0};
    int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return;
    pack_list(at, &files);
    for (size_t i = 0; i < files.len; i++) {
        char name[PACK_NAME_SIZE];
        pack_name(files.at[i].pack, name);
        int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0 && has_code_of(fd, pack))
            unlinkat(at, name, 0);
        if (fd >= 0)
            close(fd);
    }
    VEC_FREE(&files);
    close(at);
}

/* ---------------------------------------------------------------------------------------------------------- records */

bool pack_is_inside(const PackFunction *f, const LatheRange *ranges, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (ranges[i].start < f->base || ranges[i].end > f->end || ranges[i].start > ranges[i].end)
            return false;
    return f->base && count <= PACK_RANGES_MAX;
}

/* The space before the record makes up for an incomplete record in front of it. */
static bool append(int fd, const PackRecord *r) {
    static const u8 zeros[PACK_ALIGN];
    struct stat st;
    if (flock(fd, LOCK_EX) || fstat(fd, &st))
        return false;
    size_t gap = -(u64)st.st_size % PACK_ALIGN;
    struct iovec parts[] = {{(void *)zeros, gap}, {(void *)r, r->size}};
    return writev(fd, parts, 2) == (ssize_t)(gap + r->size);
}

static bool write_record(PackWriter *w, Key pack, const PackRecord *r) {
    char name[PACK_NAME_SIZE];
    pack_name(pack, name);
    int fd = openat(w->dir, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return false;
    bool ok = is_ours(fd) && append(fd, r);
    close(fd);
    return ok;
}

u64 pack_limit(void) {
    const char *text = getenv("LATHE_CACHE_SIZE");
    char *end = NULL;
    u64 mib = text ? strtoull(text, &end, 10) : 0;
    bool valid = text && *text >= '0' && *text <= '9' && !*end && mib < UINT64_MAX / MIB;
    return (valid ? mib : LIMIT_DEFAULT_MIB) * MIB;
}

PackWriter *pack_writer_open(const char *dir) {
    u64 limit = pack_limit();
    int fd = limit && make_directories(dir) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0 || !is_ours(fd)) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    PackWriter *w = mem_new(sizeof(PackWriter));
    *w = (PackWriter){.dir = fd, .limit = limit};
    enforce_limit(w);
    return w;
}

PackRecord *pack_record_new(Key pack, const PackFunction *f, const LatheRange *ranges, size_t range_count,
                            u64 guest_hash, const void *object, u32 object_size, u32 insns) {
    if (object_size > PACK_OBJECT_MAX || !pack_is_inside(f, ranges, range_count))
        return NULL;
    size_t size = pack_record_size(range_count, object_size);
    PackRecord *r = mem_new(size);
    *r = (PackRecord){.magic = PACK_MAGIC,
                      .size = (u32)size,
                      .off = f->pc - f->base,
                      .base = f->position_independent ? 0 : f->base,
                      .guest_hash = guest_hash,
                      .range_count = (u32)range_count,
                      .object_size = object_size,
                      .insns = insns};
    PackRange *to = (PackRange *)(r + 1);
    for (size_t i = 0; i < range_count; i++)
        to[i] = (PackRange){ranges[i].start - f->base, ranges[i].end - f->base};
    if (object_size)
        memcpy(to + range_count, object, object_size);
    pack_seal(pack, r);
    return r;
}

void pack_append(PackWriter *w, const PackFunction *f, const LatheRange *ranges, size_t range_count, u64 guest_hash,
                 const void *object, u32 object_size, u32 insns) {
    PackRecord *r = NULL;
    if (w && !w->failed)
        r = pack_record_new(f->pack, f, ranges, range_count, guest_hash, object, object_size, insns);
    if (!r)
        return;
    w->failed = !write_record(w, f->pack, r);
    w->unchecked += r->size;
    mem_free(r);
    if (w->unchecked > w->limit / 8)
        enforce_limit(w);
}

void pack_writer_close(PackWriter *w) {
    if (w)
        close(w->dir);
    mem_free(w);
}
