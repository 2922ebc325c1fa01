/* image.c: keeps translated code between runs of a program, in a file that the next run maps.
 *
 * An image is everything that both tiers have made, as it lies in memory: code, the literals behind it, and the tables. The next run can use it if
 * the block that modules and code lie in is at the same address, and the same files are mapped at the same places in it. So the block is at a fixed
 * low address or else at one that depends on the program's path (image_window_hint), and modules are placed one after the other. Each module is
 * compared as it is mapped (image_check): if it is another one, its code is forgotten. Code that the guest may have changed, and code of no file, is
 * not kept.
 *
 * The file is named like a pack, so that the cache's bound and `lathe cache` know it. It is written under another name and then renamed, so a process
 * that has the old file mapped keeps it; no file is changed after that. Nothing in it is believed before its checksum was compared, and files of
 * other users are not read. Computing the checksum takes longer than many programs run, so a file that has passed once is marked, by its time of
 * modification. */
#include "run/client/code/image.h"

#include "cache/pack.h"
#include "run/client/code/arena/arena.h"
#include "run/client/code/cache/store.h"
#include "run/client/code/learn.h"
#include "run/client/code/optimised/code.h"
#include "run/client/code/quick/map.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/quick/visit.h"
#include "run/client/code/tier.h"
#include "run/client/code/verdict.h"
#include "run/client/memory/contained.h"
#include "run/client/memory/key.h"
#include "run/client/memory/limits.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"
#include "run/client/memory/watch.h"

/* Below where the kernel puts position independent programs. Sanitizers' shadow memory, Go's and Java's heaps leave that free for
 * programs, and have fixed places nearly everywhere else. */
#define WINDOWS ((u64)0x55 << 40) /* the lowest of them */
#define WINDOW_DISTANCE ((u64)1 << 31)

enum { WINDOW_COUNT = 160, PATH_BYTES = 512 };
enum { OWNER_READ = 0400 }; /* set twice, because open applies the guest's umask */
enum { FROM_START = 0 };    /* SEEK_SET of a header that does not go with others */

/* The arena's code and data, what the quick tier has, what the optimising one has, and the pages of the map: its runs (quick/map.h) with holes between them. */
enum {
    PART_CODE,
    PART_DATA,
    PART_QUICK,
    PART_OPTIMISED = PART_QUICK + QUICK_PARTS,
    PART_MAP = PART_OPTIMISED + CODE_PARTS,
    PARTS
};
enum { PART_RUNS = PART_QUICK + QUICK_PART_RUNS };

/* How many blocks of quick code and how many optimised functions a file has. */
typedef struct ImageContents {
    u64 blocks, functions;
} ImageContents;

/* Followed by the modules and the parts, each of which begins a page. */
typedef struct ImageHead {
    PackImage common; /* checksum: of all behind it that was written, begun with the image's key */
    CodeCounts optimised;
    ImageContents contents;
    u64 polls;                    /* loops of its optimised code look for signals */
    u64 exact;                    /* accesses to memory of its optimised code can leave with the state in whole */
    u64 shared;                   /* its optimised code is for several threads */
    u64 keeps_flags;              /* returns of its quick code keep the flags */
    u64 map;                      /* its quick code looks into the map (quick/map.h) */
    u64 size[PARTS], room[PARTS]; /* bytes of each part, and of the pages that the part has in the file */
} ImageHead;

/* The offsets of the parts in the file. */
typedef struct ImageLayout {
    u64 modules_end, off[PARTS], end;
} ImageLayout;

typedef struct ImageState {
    Key name;
    ImageContents contents;                /* of the image that was loaded or written last */
    u64 lost;                              /* functions that were given up, or not to be had, by then */
    u64 renewals;                          /* how often all code was begun anew, by then */
    PackImageModule expected[MODULES_MAX]; /* of the image that was loaded, and not seen yet */
    u32 expected_count;
    bool usable;  /* there is a place for images, and the block is where it should be */
    bool damaged; /* the file has a wrong checksum, so no process can load it */
} ImageState;

_Static_assert((u32)MODULES_MAX == (u32)PACK_IMAGE_MODULES, "what is written can be read");

static ImageState image;

/* -------------------------------------------------------------------------------------------------------------- names */

u64 image_window_hint(const char *program) {
    ContainedImage contained;
    if (contained_image(&contained))
        return contained.window;
    return WINDOWS + pack_hash(PACK_HASH_START, program, strlen(program)) % WINDOW_COUNT * WINDOW_DISTANCE;
}

static Key key_of(const Module *m) {
    Key key = m->pack;
    key.word[1] ^= pack_key_kind(&the.opt.code);
    return key;
}

/* True if the file was changed so lately that the next change may get the same time: then its key would not tell the two apart. */
static bool is_fresh(const struct stat *st) {
    enum { REALTIME = 0, SECONDS = 2 };
    struct timespec now;
    return sys_clock_gettime(REALTIME, &now) || (i64)st->st_ctime + SECONDS >= now.tv_sec;
}

/* Finds the image's name, which depends on the program's file, this client's file and the configuration. */
static bool find_name(const char *program) {
    struct stat st[2];
    if (sys_stat(program, &st[0]) || sys_stat(the.opt.client_path, &st[1]))
        return false;
    if (is_fresh(&st[0]))
        return false;
    PackIdentity files[] = {key_identity(&st[0]), key_identity(&st[1])};
    image.name = pack_image_key(&files[0], &files[1], the.opt.tier, &the.opt.code);
    return true;
}

static void path_of(char path[PATH_BYTES], const char *behind) {
    char name[PACK_NAME_SIZE];
    pack_name(image.name, name);
    format_text(path, PATH_BYTES, "%s/%s%s", the.opt.cache_dir, name, behind);
}

/* ------------------------------------------------------------------------------------------------------------- loading */

static i64 open_file(void) {
    char path[PATH_BYTES];
    path_of(path, "");
    return sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
}

/* The whole file, or NULL. */
static u8 *map_file(int fd, struct stat *st) {
    if (sys_fstat(fd, st) || !S_ISREG(st->st_mode) || !pack_is_private(st->st_uid, st->st_mode, (u32)sys_geteuid()) ||
        (u64)st->st_size < sizeof(ImageHead))
        return NULL;
    i64 map = own_map((u64)st->st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    return sys_failed(map) ? NULL : (u8 *)map;
}

static ImageLayout layout(const ImageHead *head) {
    ImageLayout l = {.modules_end = sizeof(*head) + head->common.module_count * sizeof(PackImageModule)};
    l.end = page_up(l.modules_end);
    for (u32 i = 0; i < PARTS; i++) {
        l.off[i] = l.end;
        l.end += head->room[i];
    }
    return l;
}

static u64 run_count(const ImageHead *head) {
    return head->size[PART_RUNS] / sizeof(MapRun);
}

static u64 checksum(const u8 *data, const ImageHead *head, const ImageLayout *l) {
    u64 from = offsetof(ImageHead, common.version), sum = pack_hash(PACK_HASH_START, &image.name, sizeof(image.name));
    const MapRun *runs = (const MapRun *)(data + l->off[PART_RUNS]);
    sum = pack_hash(sum, data + from, l->modules_end - from);
    for (u32 i = 0; i < PART_MAP; i++)
        sum = pack_hash(sum, data + l->off[i], head->size[i]);
    for (u64 i = 0; i < run_count(head); i++)
        sum = pack_hash(sum, data + l->off[PART_MAP] + runs[i].off, (u64)runs[i].count * PAGE);
    return sum;
}

/* Do the parts fit into the file? */
static bool is_sound(const ImageHead *head, const u8 *data, u64 size) {
    const PackImage *c = &head->common;
    if (c->magic != PACK_IMAGE_MAGIC || c->version != PACK_IMAGE_VERSION || c->window != the.memory.window ||
        c->modules_off != sizeof(*head) || c->module_count > MODULES_MAX || head->map > the.map)
        return false;
    for (u32 i = 0; i < PARTS; i++)
        if (head->size[i] > head->room[i] || head->room[i] > size || head->room[i] % PAGE)
            return false;
    ImageLayout l = layout(head);
    return l.end == size &&
           map_runs_fit((const MapRun *)(data + l.off[PART_RUNS]), run_count(head), head->size[PART_MAP]);
}

/* When this system was started, in seconds. What was written before may not have reached the disk in whole. */
static i64 boot_time(void) {
    enum { REALTIME = 0, BOOTTIME = 7 };
    struct timespec now = {0}, since = {0};
    return sys_clock_gettime(REALTIME, &now) || sys_clock_gettime(BOOTTIME, &since) ? INT64_MAX
                                                                                    : now.tv_sec - since.tv_sec;
}

/* The nanoseconds of a checked file's time of modification are its checksum's. Any later write sets another time. */
static u64 mark_of(u64 sum) {
    enum { NANOSECONDS = 1000000000 };
    return sum % NANOSECONDS;
}

static bool is_marked(const struct stat *st, u64 sum) {
    return st->st_mtime_nsec == mark_of(sum) && (i64)st->st_mtime > boot_time();
}

/* On a file system that keeps no nanoseconds the mark is lost, and files are checked each time. */
static void mark(int fd, u64 sum) {
    enum { REALTIME = 0, OMIT = (1 << 30) - 2 };
    struct timespec times[] = {{.tv_nsec = OMIT}, {0}};
    sys_clock_gettime(REALTIME, &times[1]);
    times[1].tv_nsec = (i64)mark_of(sum);
    sys4(__NR_utimensat, (u64)fd, 0, (u64)times, 0);
}

static bool is_whole(int fd, const u8 *data, const struct stat *st) {
    ImageHead head;
    memcpy(&head, data, sizeof(head));
    if (!is_sound(&head, data, (u64)st->st_size))
        return false;
    if (is_marked(st, head.common.checksum))
        return true;
    ImageLayout l = layout(&head);
    image.damaged = head.common.checksum != checksum(data, &head, &l);
    if (!image.damaged)
        mark(fd, head.common.checksum);
    return !image.damaged;
}

static void note_contents(const ImageHead *head) {
    image.contents = head->contents;
    image.lost = the.stats.refused + the.stats.reverted;
    image.renewals = the.stats.renewals;
    image.damaged = false;
}

/* `start`: where the image begins in its file. */
static void take_arena(int fd, u64 start, const u8 *data, const ImagePart parts[PARTS]) {
    const ImagePart *code = &parts[PART_CODE], *rest = &parts[PART_DATA];
    arena_import(fd, &(ArenaParts){code->at, rest->at, code->size, rest->size, start + (u64)(code->at - data),
                                   start + (u64)(rest->at - data)});
}

static void take(Thread *t, int fd, u64 start, u8 *data) {
    ImageHead head;
    ImagePart parts[PARTS];
    memcpy(&head, data, sizeof(head));
    image.expected_count = (u32)head.common.module_count;
    memcpy(image.expected, data + sizeof(head), head.common.module_count * sizeof(PackImageModule));
    ImageLayout l = layout(&head);
    for (u32 i = 0; i < PARTS; i++)
        parts[i] = (ImagePart){data + l.off[i], head.size[i], head.room[i]};
    if (!head.map)
        space_make_room(LOW_MAP, PAGE);
    if (head.exact)
        tier_keep_state(t);
    else if (head.polls)
        tier_use_polls(t);
    if (head.shared)
        code_share();
    take_arena(fd, start, data, parts);
    quick_import(t, parts + PART_QUICK);
    map_import((const MapRun *)parts[PART_RUNS].at, run_count(&head), fd, start + l.off[PART_MAP]);
    code_import(t, parts + PART_OPTIMISED, head.optimised);
    if (head.keeps_flags)
        quick_keep_flags(false);
    visits_begin_once();
    note_contents(&head);
}

static void load(Thread *t, int fd) {
    struct stat st;
    u8 *data = map_file(fd, &st);
    if (data && is_whole(fd, data, &st))
        take(t, fd, 0, data);
    else if (data)
        own_unmap((u64)data, (u64)st.st_size);
}

/* An image that is in one file with this client is trusted like the client's own code, so its checksum is not computed. */
static void load_contained(Thread *t) {
    ContainedImage c;
    ImageHead head;
    bool wanted = the.opt.tier == TIER_AUTO && !the.memory.scale && the.memory.window_as_wished && contained_image(&c);
    i64 fd = wanted ? contained_open_own() : -1;
    i64 map = fd < 0 ? -1 : own_map(c.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, (int)fd, c.off);
    if (fd >= 0 && !sys_failed(map)) {
        memcpy(&head, (const void *)map, sizeof(head));
        if (c.size >= sizeof(head) && is_sound(&head, (const u8 *)map, c.size))
            take(t, (int)fd, c.off, (u8 *)map);
        else
            own_unmap((u64)map, c.size);
    }
    if (fd >= 0)
        sys_close((int)fd);
}

static void load_cached(Thread *t) {
    i64 fd = image.usable ? open_file() : -1;
    if (fd < 0)
        return;
    load(t, (int)fd);
    sys_close((int)fd);
}

/* With --perf no image is used, because perf is told of code as it is linked. */
void image_load(Thread *t, const char *program) {
    image.usable = !the.memory.scale && !the.opt.no_cache && !the.opt.perf && the.opt.cache_mib &&
                   the.memory.window_as_wished && find_name(program);
    if (contained_exists())
        load_contained(t);
    else
        load_cached(t);
    for (u32 i = 0; i < the.memory.module_count; i++)
        image_check(&the.memory.modules[i]);
}

void image_check(const Module *m) {
    Key key = key_of(m);
    for (u32 i = 0; i < image.expected_count;) {
        PackImageModule *e = &image.expected[i];
        bool touches = e->base < m->end && m->base < e->end;
        bool same = e->base == m->base && e->end == m->end && !memcmp(&e->pack, &key, sizeof(key));
        if (!touches) {
            i++;
            continue;
        }
        u64 base = e->base, end = e->end;
        *e = image.expected[--image.expected_count];
        if (!same)
            code_discard(base, end);
    }
}

/* -------------------------------------------------------------------------------------------------------------- saving */

static bool is_kept(const Module *m) {
    return (m->pack.word[0] || m->pack.word[1]) && !m->changes;
}

bool image_keeps(u64 pc) {
    const Module *m = space_module(pc);
    int prot = space_prot(pc);
    return m && is_kept(m) && prot != PROT_UNMAPPED && (prot & PROT_EXEC) && !(prot & PROT_WRITE);
}

static u32 list_modules(PackImageModule *list) {
    u32 n = 0;
    for (u32 i = 0; i < the.memory.module_count; i++)
        if (is_kept(&the.memory.modules[i]))
            list[n++] = (PackImageModule){the.memory.modules[i].base, the.memory.modules[i].end,
                                          key_of(&the.memory.modules[i])};
    return n;
}

static bool write_at(int fd, u64 off, const void *data, u64 size) {
    return sys_lseek(fd, (i64)off, FROM_START) == (i64)off && sys_write_all(fd, data, size);
}

static bool write_parts(int fd, const ImageHead *head, const ImageLayout *l, const PackImageModule *modules,
                        const ImagePart parts[PARTS]) {
    const MapRun *runs = (const MapRun *)parts[PART_RUNS].at;
    bool ok = sys_write_all(fd, head, sizeof(*head)) &&
              sys_write_all(fd, modules, head->common.module_count * sizeof(PackImageModule));
    for (u32 i = 0; ok && i < PART_MAP; i++)
        ok = write_at(fd, l->off[i], parts[i].at, parts[i].size);
    for (u64 i = 0; ok && i < run_count(head); i++)
        ok = write_at(fd, l->off[PART_MAP] + runs[i].off, map_run_at(&runs[i]), (u64)runs[i].count * PAGE);
    return ok && !sys_ftruncate(fd, l->end);
}

/* Writes the checksum into the finished file. It is computed from the file and not from memory, which other threads may change meanwhile. */
static bool seal(int fd, const ImageHead *head, const ImageLayout *l) {
    i64 map = own_map(l->end, PROT_READ, MAP_SHARED, fd, 0);
    if (sys_failed(map))
        return false;
    u64 sum = checksum((const u8 *)map, head, l);
    own_unmap((u64)map, l->end);
    if (sys_pwrite(fd, &sum, sizeof(sum), offsetof(ImageHead, common.checksum)) != sizeof(sum))
        return false;
    mark(fd, sum);
    return true;
}

/* Writes the image to a new file, which then gets the image's name. If another process is just writing the same image, its file will do. */
static void write_image(const ImageHead *head, const PackImageModule *modules, const ImagePart parts[PARTS]) {
    char path[PATH_BYTES], temporary[PATH_BYTES];
    ImageLayout l = layout(head);
    if (!limits_allow_file(l.end))
        return;
    path_of(path, "");
    path_of(temporary, TIDY_SUFFIX);
    i64 fd = sys_open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, OWNER_READ);
    if (fd < 0)
        return;
    bool ok = !sys_fchmod((int)fd, OWNER_READ) && write_parts((int)fd, head, &l, modules, parts) &&
              seal((int)fd, head, &l) && !sys_rename(temporary, path);
    if (!ok)
        sys_unlink(temporary);
    sys_close((int)fd);
}

/* Optimised code that calls a tool's functions, which it does here and there even if only once, has their addresses: it comes from the cache in each process. */
static bool keeps_optimised(u64 pc) {
    return !sites_call() && image_keeps(pc);
}

static void export(const Thread *t, ImageHead *head, ImagePart parts[PARTS]) {
    code_drop(keeps_optimised);
    quick_drop(image_keeps);
    head->optimised = code_export(t, parts + PART_OPTIMISED);
    head->polls = head->optimised.functions && the.opt.code.polls;
    head->exact = head->optimised.functions && the.opt.code.exact;
    head->shared = head->optimised.functions && the.opt.code.memory == guest_facts.memory;
    head->keeps_flags = quick_keeps_flags();
    head->map = the.map;
    head->contents = (ImageContents){quick_count(), head->optimised.functions};
    quick_export(t, parts + PART_QUICK);
    ArenaParts arena = arena_export();
    parts[PART_CODE] = (ImagePart){arena.code, arena.code_size, 0};
    parts[PART_DATA] = (ImagePart){arena.data, arena.data_size, 0};
    const ImagePart *runs = &parts[PART_RUNS];
    parts[PART_MAP] = (ImagePart){NULL, map_runs_size((const MapRun *)runs->at, runs->size / sizeof(MapRun)), 0};
    for (u32 i = 0; i < PARTS; i++) {
        head->size[i] = parts[i].size;
        head->room[i] = page_up(parts[i].room > parts[i].size ? parts[i].room : parts[i].size);
    }
}

/* What the image's file has now. Another process may have replaced it since this one has loaded it. */
static ImageContents contents_now(void) {
    ImageHead head;
    i64 fd = image.damaged ? -1 : open_file();
    if (fd < 0)
        return image.contents;
    bool ok = sys_pread((int)fd, &head, sizeof(head), 0) == sizeof(head) && head.common.magic == PACK_IMAGE_MAGIC &&
              head.common.version == PACK_IMAGE_VERSION;
    sys_close((int)fd);
    return ok ? head.contents : image.contents;
}

/* How many new blocks are worth writing a new image: as many as could be made in the same time. Without such a bound, each of many short processes
 * that fork has made would write one, for a few blocks that all of them make anew. */
static u64 worth_writing(const ImageContents *file) {
    enum { LEAST = 8, MOST = 200, SHARE = 256 };
    u64 share = file->blocks / SHARE;
    return share < LEAST ? LEAST : share < MOST ? share : MOST;
}

/* The functions that an image would have. */
static u64 kept_functions(void) {
    return sites_call() ? 0 : the.stats.functions;
}

/* Is there anything at all that was not in the image? */
static bool has_news(void) {
    return quick_count() != image.contents.blocks || kept_functions() != image.contents.functions ||
           the.stats.refused + the.stats.reverted != image.lost;
}

/* Is a new image worth writing? A process that has begun all code anew (renew.c) has nothing left of the image that it had loaded. The next process
 * would have to do the same with that image, so it is replaced even if the new one has fewer blocks. Called with the arena's lock held. */
static bool has_grown(void) {
    enum { SHARE = 64 };
    u64 known = the.stats.renewals > image.renewals ? 0 : image.contents.blocks;
    u64 made = quick_count_kept(known, image_keeps), functions = kept_functions();
    ImageContents file = contents_now();
    bool others_wrote = file.blocks != image.contents.blocks;
    return (made >= worth_writing(&file) && (!others_wrote || known + made >= file.blocks + worth_writing(&file))) ||
           (functions > file.functions && (functions - file.functions) * SHARE > functions) ||
           the.stats.refused + the.stats.reverted > image.lost;
}

Key image_key(void) {
    return image.name;
}

bool image_is_usable(void) {
    return image.usable;
}

static bool may_write(const Thread *t) {
    return image.usable && !the.tier.no_image && !t->process.borrows_memory;
}

bool image_is_writable(const Thread *t) {
    return may_write(t) && !the.tier.forked;
}

/* With the arena's lock held. */
static void write_all(Thread *t) {
    static PackImageModule modules[MODULES_MAX];
    ImagePart parts[PARTS];
    ImageHead head = {.common = {.magic = PACK_IMAGE_MAGIC,
                                 .version = PACK_IMAGE_VERSION,
                                 .window = the.memory.window,
                                 .modules_off = sizeof(head)}};
    tidy_make_folder();
    tidy_cache();
    export(t, &head, parts);
    head.common.module_count = list_modules(modules);
    write_image(&head, modules, parts);
    note_contents(&head);
}

void image_save(Thread *t) {
    if (!may_write(t))
        return;
    arena_lock();
    if (!the.tier.forked) {
        verdict_end();
        learn_save();
    }
    if (has_news() && has_grown())
        write_all(t);
    arena_unlock();
}

void image_save_after(Thread *t) {
    arena_lock();
    learn_save_after();
    if (kept_functions() > image.contents.functions || the.stats.refused)
        write_all(t);
    arena_unlock();
}
