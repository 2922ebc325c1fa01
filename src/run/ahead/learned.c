/* learned.c: what runs have found hot, for `lathe compile --profile`. A place in a library counts for whichever program was found there. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/profile.h"
#include "run/ahead/ahead.h"

/* A place that runs were found in for less than that, in milliseconds, is not worth the time that LLVM takes. */
enum { HEAT_LEAST = 40 };

static bool read_profile(int dir, const PackFile *file, Profile *p) {
    char name[PACK_NAME_SIZE];
    struct stat st;
    static u8 bytes[sizeof(Profile)];
    pack_name(file->pack, name);
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool ours = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                !(st.st_mode & (S_IWGRP | S_IWOTH)) && (u64)st.st_size <= sizeof(bytes);
    ssize_t size = ours ? read(fd, bytes, sizeof(bytes)) : -1;
    if (fd >= 0)
        close(fd);
    return size > 0 && profile_parse(p, file->pack, bytes, (size_t)size);
}

/* Code that was no gain beside quick code may be one without it. */
static bool is_wanted(const ProfilePlace *place, const AheadPlan *plan) {
    bool lost = place->state == PLACE_GIVEN_UP || place->state == PLACE_REFUSED;
    return place->heat >= HEAT_LEAST && !(lost && plan->config.with_quick);
}

static void want_places(AheadFile *f, const AheadPlan *plan, const Profile *p, u32 module) {
    for (u32 i = 0; i < p->place_count; i++) {
        const ProfilePlace *place = &p->places[i];
        if (place->module != module || !is_wanted(place, plan))
            continue;
        file_want(f, place->off);
        if (place->heat > file_heat(f, place->off))
            map64_set(&f->heat, place->off, place->heat);
    }
}

/* The module of a profile that is this file, or PROFILE_MODULES. */
static u32 module_of(const AheadFile *f, const CodeConfig *seen_by, const Profile *p) {
    Key plain = pack_key(&f->identity, seen_by);
    u32 i = 0;
    plain.word[1] ^= pack_key_kind(seen_by);
    while (i < p->module_count && memcmp(&p->modules[i], &plain, sizeof(plain)))
        i++;
    return i < p->module_count ? i : PROFILE_MODULES;
}

typedef struct Learned {
    AheadFiles *files;
    const AheadPlan *plan;
    const CodeConfig *seen_by;
    bool exact; /* some profile of these files is of such runs */
} Learned;

static void take_profile(Learned *l, const Profile *p) {
    const CodeConfig *c = &l->plan->config;
    bool fits = !c->with_quick || (c->polls == p->polls && c->exact == p->exact);
    for (size_t i = 0; i < l->files->len; i++) {
        u32 module = module_of(l->files->at[i], l->seen_by, p);
        if (module != PROFILE_MODULES && fits)
            want_places(l->files->at[i], l->plan, p, module);
    }
}

/* The program is the first file. */
static void look_at_kind(Learned *l, const Profile *p) {
    l->exact |= p->exact && module_of(l->files->at[0], l->seen_by, p) != PROFILE_MODULES;
}

static void each_profile(Learned *l, void (*look)(Learned *l, const Profile *p)) {
    PackFiles all = {0};
    Profile *p = mem_new(sizeof(*p));
    int dir = open(l->plan->cache_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0)
        pack_list(dir, &all);
    for (size_t i = 0; i < all.len; i++)
        if (read_profile(dir, &all.at[i], p))
            look(l, p);
    VEC_FREE(&all);
    mem_free(p);
    if (dir >= 0)
        close(dir);
}

void files_want_learned(AheadFiles *files, const AheadPlan *plan, const CodeConfig *seen_by) {
    each_profile(&(Learned){files, plan, seen_by, false}, take_profile);
}

bool files_learned_exact(AheadFiles *files, const AheadPlan *plan, const CodeConfig *seen_by) {
    Learned l = {files, plan, seen_by, false};
    each_profile(&l, look_at_kind);
    return l.exact;
}
