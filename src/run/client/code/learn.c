/* learn.c: what a run learns is kept, and decides what the next one asks for.
 *
 * A request costs time of the server, and whether its code will be a gain is not known before. So a place must have been hot for long enough to pay for that: some
 * times (region_patience) the price of a request, as the servers of this program's runs had it on the average. The more of the earlier
 * requests were in vain, because their code was given up or there was none, the longer. Heat is added up over runs, so that a short program
 * that is run often gets its code, too.
 *
 * What a run leaves is compiled after it. The first runs are for learning: what will be hot enough by the time of the last of these is compiled after the first. From
 * then on (profile_is_settled) compiling after a run may take a small part of what the program takes, so that a program that is used all the time does not
 * go on compiling places that are ever colder.
 *
 * The profile (cache/profile.h) has all that. It is read when the first sample is taken: programs that end before that never look for it. At the end of a
 * run it is read again, since other processes may have written it meanwhile, and what this run has learned is added. A
 * file that cannot be read, or written, is not there. */
#include "run/client/code/learn.h"

#include "cache/profile.h"
#include "run/client/code/cache/store.h"
#include "run/client/code/image.h"
#include "run/client/code/optimised/code.h"
#include "run/client/code/optimised/entries.h"
#include "run/client/code/quick/region.h"
#include "run/client/memory/limits.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"

enum { PATH_BYTES = 512, OWNER_ONLY = 0600 };
/* What a request takes, as long as nothing else is known, and what it takes to start a server. */
enum { PRICE_MS = 40, SERVER_MS = 25 };
/* A run that has learned less than this, or less than this share of what is known, leaves the file alone. */
enum { HEAT_LEAST = 8, HEAT_SHARE = 64 };

typedef struct Learning {
    Profile profile; /* of the earlier runs */
    bool read;
    bool
        counted; /* this run is in the file already: a process may save twice, before an exec that fails and at its end */
    u32 modules; /* the.memory.module_count at the last call of learn_recall */
    u64 recalled[PROFILE_MODULES / 64];
    u32 kept, lost;  /* places of earlier runs: with code that was kept; with code that was no gain, or with none */
    u64 heat_before; /* of all places that had no code */
} Learning;

static Learning learning;

/* ----------------------------------------------------------------------------------------------------------- the file */

static Key profile_key(void) {
    Key key = image_key();
    key.word[1] ^= PROFILE_KEY;
    return key;
}

static void path_of(char path[PATH_BYTES], const char *behind) {
    char name[PACK_NAME_SIZE];
    pack_name(profile_key(), name);
    format_text(path, PATH_BYTES, "%s/%s%s", the.opt.cache_dir, name, behind);
}

/* An empty profile if there is none. Files that others may write to are not read. */
static void read_profile(Profile *p) {
    char path[PATH_BYTES];
    struct stat st;
    path_of(path, "");
    profile_init(p);
    i64 fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0)
        return;
    u8 *bytes = sys_pages(sizeof(Profile));
    if (bytes && !sys_fstat((int)fd, &st) && S_ISREG(st.st_mode) &&
        pack_is_private(st.st_uid, st.st_mode, (u32)sys_geteuid()) && (u64)st.st_size <= sizeof(Profile) &&
        sys_pread_all((int)fd, bytes, (u64)st.st_size, 0))
        profile_parse(p, profile_key(), bytes, (u64)st.st_size);
    if (bytes)
        sys_pages_free(bytes, sizeof(Profile));
    sys_close((int)fd);
}

/* A file that a dead process has left there is removed. */
static i64 create(const char *path) {
    i64 fd = sys_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, OWNER_ONLY);
    if (fd == -EEXIST)
        tidy_cache();
    return fd;
}

/* A second process that writes the same profile at this moment is not waited for: what this run has learned is lost then. */
static void write_profile(const Profile *p) {
    char path[PATH_BYTES], temporary[PATH_BYTES];
    u8 *bytes = sys_pages(sizeof(Profile));
    if (!bytes)
        return;
    size_t size = profile_format(p, profile_key(), bytes);
    path_of(path, "");
    path_of(temporary, TIDY_SUFFIX);
    i64 fd = limits_allow_file(size) ? create(temporary) : -1;
    if (fd >= 0) {
        if (sys_fchmod((int)fd, OWNER_ONLY) || !sys_write_all((int)fd, bytes, size) || sys_rename(temporary, path))
            sys_unlink(temporary);
        sys_close((int)fd);
    }
    sys_pages_free(bytes, sizeof(Profile));
}

/* -------------------------------------------------------------------------------------------------------- earlier runs */

/* The module's pack, whatever kind of code this run has. */
static Key plain_key(const Module *m) {
    Key key = m->pack;
    key.word[1] ^= pack_key_kind(&the.opt.code);
    return key;
}

static const Module *module_with(Key plain) {
    for (u32 i = 0; i < the.memory.module_count; i++) {
        const Module *m = &the.memory.modules[i];
        Key key = plain_key(m);
        if (m->end && !m->changes && !memcmp(&key, &plain, sizeof(key)))
            return m;
    }
    return NULL;
}

static void recall_module(const Profile *p, u32 number, const Module *m) {
    for (u32 i = 0; i < p->place_count; i++) {
        const ProfilePlace *place = &p->places[i];
        if (place->module == number && place->off < m->end - m->base)
            code_recall(m->base + place->off, place->heat, place->state == PLACE_GIVEN_UP,
                        place->state == PLACE_REFUSED);
    }
}

static void read_first(void) {
    Profile *p = &learning.profile;
    learning.read = true;
    if (image_is_usable())
        read_profile(p);
    learning.kept = profile_count(p, PLACE_KEPT);
    learning.lost = profile_count(p, PLACE_GIVEN_UP) + profile_count(p, PLACE_REFUSED);
    for (u32 i = 0; i < p->place_count; i++)
        learning.heat_before += p->places[i].state == PLACE_OPEN ? p->places[i].heat : 0;
}

void learn_recall(void) {
    const Profile *p = &learning.profile;
    if (!learning.read)
        read_first();
    if (learning.modules == the.memory.module_count)
        return;
    learning.modules = the.memory.module_count;
    for (u32 i = 0; i < p->module_count; i++) {
        const Module *m = learning.recalled[i / 64] >> i % 64 & 1 ? NULL : module_with(p->modules[i]);
        if (!m)
            continue;
        learning.recalled[i / 64] |= (u64)1 << i % 64;
        recall_module(p, i, m);
    }
}

/* ------------------------------------------------------------------------------------------------------------ the price */

static u64 server_ms(void) {
    const Stats *s = &the.stats;
    return (s->lift_us + s->opt_us + s->emit_us) / 1000 + s->servers * SERVER_MS;
}

/* A server that was started had a request, even if the program ended before its answer. */
static u64 requests(void) {
    return the.stats.requested > the.stats.servers ? the.stats.requested : the.stats.servers;
}

/* What a request takes on the average. */
static u64 price_ms(void) {
    const Profile *p = &learning.profile;
    u64 made = p->requests + requests(); /* of a profile that was made up, it may be anything */
    return (PRICE_MS + p->server_ms + server_ms()) / (made + 1 ? made + 1 : 1);
}

static u64 run_ms(void) {
    enum { PROCESS_CPU = 2 };
    struct timespec now;
    sys_clock_gettime(PROCESS_CPU, &now);
    return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}

u64 learn_need(void) {
    const Stats *s = &the.stats;
    if (the.opt.hot_ms)
        return the.opt.hot_ms;
    u64 lost = learning.lost + s->reverted + s->refused, kept = learning.kept;
    return price_ms() * region_patience() * (kept + 2 * lost + 2) / (kept + 2);
}

/* Idle time costs less: a place is worth it that has a part of the heat for which a run would ask. */
u64 learn_need_after(void) {
    enum { PART = 4, EARLY_RUNS = 2 };
    u32 runs = learning.profile.runs;
    u64 need = learn_need() / PART;
    if (the.opt.hot_ms)
        return 1;
    return runs < EARLY_RUNS ? need * (runs + 2) / (EARLY_RUNS + 2) : need;
}

u64 learn_most_after(void) {
    const Profile *p = &learning.profile;
    if (the.opt.hot_ms || !profile_is_settled(p))
        return UINT32_MAX;
    u64 price = price_ms();
    return (p->credit_us + profile_credit_of(run_ms())) / 1000 / (price ? price : 1);
}

/* ------------------------------------------------------------------------------------------------------------- this run */

static PlaceState state_of(const CodeEntry *e) {
    if (e->code)
        return PLACE_KEPT;
    if (e->refused)
        return PLACE_REFUSED;
    return e->given_up ? PLACE_GIVEN_UP : PLACE_OPEN;
}

/* What is said of places that are settled is of use only if they were asked for because they were hot. */
static bool is_worth_adding(const CodeEntry *e) {
    return e->used && (e->heat || (state_of(e) != PLACE_OPEN && e->past));
}

static void add_places(Profile *p) {
    Code *c = the.tier.code;
    for (u64 i = 0; i < c->map_cap; i++) {
        CodeEntry *e = &c->map[i];
        const Module *m = is_worth_adding(e) ? space_module(e->pc) : NULL;
        if (m && !m->changes && (m->pack.word[0] || m->pack.word[1]))
            profile_add(p, plain_key(m), e->pc - m->base, e->heat, state_of(e));
        e->past = e->heat > UINT32_MAX - e->past ? UINT32_MAX : e->past + e->heat;
        e->heat = 0;
    }
}

/* Also what came of requests is worth a new file. */
static bool has_learned(void) {
    const Stats *s = &the.stats;
    u64 heat = the.tier.code->heat;
    return (heat >= HEAT_LEAST && heat * HEAT_SHARE >= learning.heat_before) ||
           requests() + s->reverted + s->refused > 0;
}

void learn_save(void) {
    if (!learning.read || !has_learned())
        return;
    Profile *p = &learning.profile;
    tidy_make_folder();
    read_profile(p);
    add_places(p);
    p->polls = the.opt.code.polls;
    p->exact = the.opt.code.exact;
    if (!learning.counted)
        profile_add_run(p, run_ms(), server_ms(), requests());
    learning.counted = true;
    profile_sort(p);
    write_profile(p);
    the.tier.code->heat = 0;
}

void learn_save_after(void) {
    Profile *p = &learning.profile;
    read_profile(p);
    add_places(p);
    profile_add_requests(p, server_ms(), requests());
    write_profile(p);
}
