/* contained.c: see contained.h. */
#include "run/client/memory/contained.h"

#include <asm/resource.h>
#include <linux/auxvec.h>
#include <linux/elf.h>
#include <linux/memfd.h>

/* The header of this program. */
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

typedef struct Contained {
    const ContainedHead *head; /* NULL: nothing is contained */
    bool starts, no_packs;
    u64 linker_start, linker_end;
} Contained;

static Contained contained;

u64 contained_page(void) {
    u64 page = 0;
    for (u32 i = CONTAINED_IDENT_BYTES; i--;)
        page = page << 8 | __ehdr_start.e_ident[CONTAINED_IDENT + i];
    return page;
}

/* -------------------------------------------------------------------------------------------------------------- the head */

static const void *at(u64 off) {
    return (const u8 *)contained.head + off;
}

static bool is_inside(const ContainedHead *h, u64 off, u64 size) {
    return off <= h->size && size <= h->size - off;
}

static bool is_text(const ContainedHead *h, u64 off) {
    return off < h->size && memchr((const u8 *)h + off, 0, h->size - off);
}

static bool is_sound(const ContainedHead *h) {
    const ContainedFile *files = (const ContainedFile *)((const u8 *)h + h->files);
    const ContainedPack *packs = (const ContainedPack *)((const u8 *)h + h->packs);
    if (!h->file_count || !is_inside(h, h->files, (u64)h->file_count * sizeof(*files)) ||
        !is_inside(h, h->packs, (u64)h->pack_count * sizeof(*packs)) || !is_text(h, h->options))
        return false;
    bool ok = is_inside(h, h->image, h->image_size);
    for (u32 i = 0; i < h->file_count; i++)
        ok &= is_inside(h, files[i].off, files[i].size) && is_text(h, files[i].path) && is_text(h, files[i].name);
    for (u32 i = 0; i < h->pack_count; i++)
        ok &= is_inside(h, packs[i].off, packs[i].size);
    return ok;
}

const char *contained_adopt(const ContainedHead *head, bool starts) {
    if (head->magic != CONTAINED_MAGIC || head->version != CONTAINED_VERSION || !is_sound(head))
        return "the program in it is damaged";
    contained.head = head;
    contained.starts = starts;
    return NULL;
}

void contained_move(const ContainedHead *head) {
    contained.head = head;
}

bool contained_starts(void) {
    return contained.starts;
}

const char *contained_options(void) {
    return at(contained.head->options);
}

void contained_note_linker(u64 start, u64 end) {
    contained.linker_start = start;
    contained.linker_end = end;
}

bool contained_is_linker(u64 pc) {
    return pc - contained.linker_start < contained.linker_end - contained.linker_start;
}

bool contained_image(ContainedImage *image) {
    const ContainedHead *h = contained.head;
    if (!h || !h->image_size || contained.no_packs || !contained.starts)
        return false;
    *image = (ContainedImage){contained_page() * CONTAINED_PAGE + h->image, h->image_size, h->window};
    return true;
}

const char *contained_started_as(void) {
    for (const u64 *a = the.auxv; a[0] != AT_NULL; a += 2)
        if (a[0] == AT_EXECFN)
            return (const char *)a[1];
    return NULL;
}

i64 contained_open_own(void) {
    const char *path = contained_started_as();
    i64 fd = sys_open("/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
    return fd < 0 && path ? sys_open(path, O_RDONLY | O_CLOEXEC, 0) : fd;
}

/* --------------------------------------------------------------------------------------------------------------- files */

static u32 file_count(void) {
    return contained.head ? contained.head->file_count : 0;
}

static const ContainedFile *file_no(u32 i) {
    return (const ContainedFile *)at(contained.head->files) + i;
}

static const ContainedFile *find_path(const char *path) {
    for (u32 i = 0; i < file_count(); i++)
        if (!strcmp(at(file_no(i)->path), path))
            return file_no(i);
    return NULL;
}

static const ContainedFile *find_name(const char *name) {
    for (u32 i = 0; i < file_count(); i++)
        if (file_no(i)->name && !strcmp(at(file_no(i)->name), name))
            return file_no(i);
    return NULL;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Writes the file's bytes to the copy and gives it the original's time and rights. By its size and time contained_identity recognises the copy. */
static bool fill(int fd, const ContainedFile *f) {
    enum { RIGHTS = 0555 };
    struct timespec times[2];
    for (u32 i = 0; i < ARRAY_LEN(times); i++)
        times[i] = (struct timespec){.tv_sec = f->identity.mtime_s, .tv_nsec = f->identity.mtime_ns};
    return sys_write_all(fd, at(f->off), f->size) && !sys_fchmod(fd, f->mode & RIGHTS) &&
           !sys4(__NR_utimensat, (u64)fd, 0, (u64)times, 0) && sys_lseek(fd, 0, 0) == 0;
}

/* Opened once more, the file cannot be written to, like any program. Without /proc it can be, which harms nobody. */
static i64 open_again(int fd, u32 flags) {
    char link[32];
    format_text(link, sizeof(link), "/proc/self/fd/%d", fd);
    i64 again = sys_open(link, O_RDONLY | flags, 0);
    if (again < 0)
        return fd;
    sys_close(fd);
    return again;
}

/* The guest's limit of file sizes is meant for files that the guest writes, so it is raised for a moment. A copy larger than the hard limit is not
 * written at all: the kernel would kill the process. */
static bool fill_within_limits(int fd, const ContainedFile *f) {
    Limit guests = {RLIM_INFINITY, RLIM_INFINITY};
    sys_prlimit(RLIMIT_FSIZE, NULL, &guests.soft);
    if (f->size <= guests.soft)
        return fill(fd, f);
    Limit most = {guests.hard, guests.hard};
    if (f->size > guests.hard || sys_prlimit(RLIMIT_FSIZE, &most.soft, NULL))
        return false;
    bool ok = fill(fd, f);
    sys_prlimit(RLIMIT_FSIZE, &guests.soft, NULL);
    return ok;
}

static i64 open_file(const ContainedFile *f, u32 flags) {
    if (!f)
        return -ENOENT;
    i64 fd = sys_memfd_create(last_part(at(f->path)), flags ? MFD_CLOEXEC : 0);
    if (fd < 0)
        return fd;
    if (fill_within_limits((int)fd, f))
        return open_again((int)fd, flags);
    sys_close((int)fd);
    return -ENOMEM;
}

i64 contained_open_program(u32 flags) {
    return open_file(file_no(0), flags);
}

i64 contained_open_path(const char *path, u32 flags) {
    return open_file(find_path(path), flags);
}

i64 contained_open_self(u32 flags) {
    return contained.starts ? contained_open_program(flags) : contained_open_path(the.opt.guest_path, flags);
}

i64 contained_open_library(const char *path, u32 flags) {
    const ContainedFile *f = find_path(path);
    return open_file(f ? f : find_name(last_part(path)), flags);
}

bool contained_has_path(const char *path) {
    return find_path(path);
}

/* ---------------------------------------------------------------------------------------------------------------- code */

/* A wrong match does no harm: before a record of the cache is used, the guest's bytes are compared with those that it was made from. */
const PackIdentity *contained_identity(const struct stat *st) {
    for (u32 i = 0; i < file_count(); i++) {
        const PackIdentity *id = &file_no(i)->identity;
        if (id->size == (u64)st->st_size && id->mtime_s == (i64)st->st_mtime && id->mtime_ns == (i64)st->st_mtime_nsec)
            return id;
    }
    return NULL;
}

u64 contained_cpu(void) {
    return contained.head->cpu;
}

void contained_forget_packs(void) {
    contained.no_packs = true;
}

const u8 *contained_pack(Key pack, u64 *size) {
    const ContainedPack *packs = contained.head && !contained.no_packs ? at(contained.head->packs) : NULL;
    for (u32 i = 0; packs && i < contained.head->pack_count; i++) {
        if (memcmp(&packs[i].key, &pack, sizeof(pack)))
            continue;
        *size = packs[i].size;
        return at(packs[i].off);
    }
    return NULL;
}
