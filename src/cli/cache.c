/* cache.c: `lathe cache`: shows and removes what earlier runs have stored. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache/pack.h"
#include "cache/profile.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/start/programs.h"
#include "tool/package.h"

typedef struct CacheSettings {
    const char *cache;
} CacheSettings;

static const Option table[] = {
    {"cache", "DIR", "the directory, if not the usual one", OPTION_TEXT, offsetof(CacheSettings, cache)},
    {0},
};

static const OptionSet options = {
    .command = "lathe cache",
    .usage = "[--cache=DIR] [show|clear|path]",
    .about = "Shows what translated code is kept from earlier runs, removes it, or tells its directory.",
    .table = table,
};

typedef struct PackContents {
    u64 records, damaged, insns;
    bool image;   /* it is an image of quick code, not a pack */
    bool tool;    /* it is a tool as it was built */
    bool profile; /* it has what runs have learned, and is whole */
    u32 runs, places;
} PackContents;

/* The size in a form for people, written to buf. */
static const char *size_text(u64 bytes, char *buf, size_t size) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < ARRAY_LEN(units); unit++)
        value /= 1024;
    snprintf(buf, size, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return buf;
}

static void count_records(Key pack, const u8 *data, size_t size, PackContents *c) {
    size_t at = 0;
    for (const PackRecord *r; (r = pack_next(data, size, &at));) {
        bool right = pack_is_intact(pack, r);
        c->records += right;
        c->damaged += !right;
        c->insns += right ? r->insns : 0;
    }
}

static void read_profile(Key pack, const u8 *data, size_t size, PackContents *c) {
    Profile *p = mem_new(sizeof(*p));
    c->profile = profile_parse(p, pack, data, size);
    c->damaged = !c->profile;
    c->runs = p->runs;
    c->places = p->place_count;
    mem_free(p);
}

static void read_pack(int dir, Key pack, PackContents *c) {
    char name[PACK_NAME_SIZE];
    struct stat st;
    pack_name(pack, name);
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        size_t size = (size_t)st.st_size;
        void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data != MAP_FAILED) {
            u64 magic = size >= sizeof(u64) ? *(const u64 *)data : 0;
            c->image = magic == PACK_IMAGE_MAGIC;
            c->tool = (u32)magic == TOOL_MAGIC;
            if (magic == PROFILE_MAGIC)
                read_profile(pack, data, size, c);
            else if (!c->image && !c->tool)
                count_records(pack, data, size, c);
            munmap(data, size);
        }
    }
    close(fd);
}

static void print_pack(const PackFile *f, const PackContents *c) {
    char name[PACK_NAME_SIZE], size[32], when[32];
    time_t used = (time_t)f->used_s;
    pack_name(f->pack, name);
    strftime(when, sizeof(when), "%Y-%m-%d %H:%M", localtime(&used));
    printf("%s  %s  ", name, when);
    if (c->image)
        printf("%-37s", "       image");
    else if (c->tool)
        printf("%-37s", "       tool");
    else if (c->profile)
        printf("%6u runs     %8u hot places  ", c->runs, c->places);
    else
        printf("%6lu records  %8lu instructions", c->records, c->insns);
    printf("  %10s", size_text(f->size, size, sizeof(size)));
    printf(c->damaged ? "  (%lu damaged)\n" : "\n", c->damaged);
}

static int show(int dir, const PackFiles *files) {
    u64 records = 0, bytes = 0;
    char size[32];
    for (size_t i = files->len; i-- > 0;) {
        PackContents c = {0};
        read_pack(dir, files->at[i].pack, &c);
        print_pack(&files->at[i], &c);
        records += c.records;
        bytes += files->at[i].size;
    }
    printf("%zu packs, %lu records, %s\n", files->len, records, size_text(bytes, size, sizeof(size)));
    return 0;
}

static int clear(int dir, const PackFiles *files) {
    u64 bytes = 0;
    char name[PACK_NAME_SIZE], size[32];
    for (size_t i = 0; i < files->len; i++) {
        pack_name(files->at[i].pack, name);
        if (unlinkat(dir, name, 0) && errno != ENOENT) {
            fprintf(stderr, "lathe: %s: %s\n", name, strerror(errno));
            return 1;
        }
        bytes += files->at[i].size;
    }
    printf("removed %zu packs, %s\n", files->len, size_text(bytes, size, sizeof(size)));
    return 0;
}

/* A directory that does not exist yet counts as empty. */
static int work_on(const char *path, int (*work)(int dir, const PackFiles *files)) {
    PackFiles files = {0};
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 ? errno != ENOENT : !pack_list(dir, &files)) {
        fprintf(stderr, "lathe: %s: %s\n", path, strerror(errno));
        return 1;
    }
    int status = work(dir, &files);
    VEC_FREE(&files);
    if (dir >= 0)
        close(dir);
    return status;
}

int command_cache(int argc, char **argv) {
    CacheSettings s = {0};
    char path[PATH_MAX];
    ParseResult parsed = options_environment(&options, &s);
    parsed = parsed == PARSE_OK ? options_parse(&options, &argc, argv, &s) : parsed;
    if (parsed != PARSE_OK)
        return parsed == PARSE_HELP ? 0 : 2;
    const char *verb = argc ? argv[1] : "show";
    if (argc > 1 || (strcmp(verb, "show") && strcmp(verb, "clear") && strcmp(verb, "path")))
        return options_misuse(&options, "'%s' is not one of show, clear and path", argv[argc]);
    if (!programs_cache_dir(s.cache, path, sizeof(path)))
        return 1;
    if (!*path) {
        fprintf(stderr, "lathe: there is no cache directory\n");
        return 1;
    }
    if (!strcmp(verb, "path"))
        return puts(path) < 0;
    return work_on(path, strcmp(verb, "clear") ? show : clear);
}
