/* profile.c: see profile.h. The client uses it, too: it needs nothing of a C library but memcpy, memset and memcmp. */
#include "cache/profile.h"

enum { RUNS_MAX = 256 };
/* A program is settled after so many runs, which took this long together, or after RUNS_MAX / 2 runs; from then on, one part in so many of its time is credit, of which
 * this much is kept. */
enum { SETTLED_RUNS = 3, SETTLED_MS = 2500, CREDIT_PART = 50, CREDIT_MOST_US = 2000000 };

#define HEAD_BYTES offsetof(Profile, modules)

void profile_init(Profile *p) {
    memset(p, 0, sizeof(*p));
    p->magic = PROFILE_MAGIC;
    p->version = PROFILE_VERSION;
}

/* ------------------------------------------------------------------------------------------------------------ files */

static u64 checksum(const u8 *bytes, size_t size, Key key) {
    size_t from = offsetof(Profile, version);
    return pack_hash(pack_hash(PACK_HASH_START, &key, sizeof(key)), bytes + from, size - from);
}

static size_t size_of(const Profile *p) {
    return HEAD_BYTES + p->module_count * sizeof(Key) + p->place_count * sizeof(ProfilePlace);
}

static bool is_sound(const Profile *p, size_t size) {
    return p->magic == PROFILE_MAGIC && p->version == PROFILE_VERSION && p->module_count <= PROFILE_MODULES &&
           p->place_count <= PROFILE_PLACES && size_of(p) == size;
}

static bool places_are_sound(const Profile *p) {
    for (u32 i = 0; i < p->place_count; i++)
        if (p->places[i].module >= p->module_count || p->places[i].state >= PLACE_STATES)
            return false;
    return true;
}

bool profile_parse(Profile *p, Key key, const void *bytes, size_t size) {
    profile_init(p);
    if (size < HEAD_BYTES)
        return false;
    memcpy(p, bytes, HEAD_BYTES);
    bool ok = is_sound(p, size) && p->checksum == checksum(bytes, size, key);
    if (ok) {
        const u8 *modules = (const u8 *)bytes + HEAD_BYTES;
        memcpy(p->modules, modules, p->module_count * sizeof(Key));
        memcpy(p->places, modules + p->module_count * sizeof(Key), p->place_count * sizeof(ProfilePlace));
        ok = places_are_sound(p);
    }
    if (!ok)
        profile_init(p);
    return ok;
}

size_t profile_format(const Profile *p, Key key, void *bytes) {
    u8 *modules = (u8 *)bytes + HEAD_BYTES;
    memcpy(bytes, p, HEAD_BYTES);
    memcpy(modules, p->modules, p->module_count * sizeof(Key));
    memcpy(modules + p->module_count * sizeof(Key), p->places, p->place_count * sizeof(ProfilePlace));
    size_t size = size_of(p);
    u64 sum = checksum(bytes, size, key);
    memcpy((u8 *)bytes + offsetof(Profile, checksum), &sum, sizeof(sum));
    return size;
}

/* ----------------------------------------------------------------------------------------------------------- places */

static u32 module_of(Profile *p, Key module) {
    u32 i = 0;
    while (i < p->module_count && memcmp(&p->modules[i], &module, sizeof(module)))
        i++;
    if (i == p->module_count && i < PROFILE_MODULES)
        p->modules[p->module_count++] = module;
    return i;
}

/* The entry of a new place. NULL: the profile is full, and all its places are hotter. */
static ProfilePlace *room_for(Profile *p, u32 heat) {
    if (p->place_count < PROFILE_PLACES)
        return &p->places[p->place_count++];
    ProfilePlace *coldest = p->places;
    for (u32 i = 1; i < p->place_count; i++)
        if (p->places[i].heat < coldest->heat)
            coldest = &p->places[i];
    return coldest->heat < heat ? coldest : NULL;
}

static ProfilePlace *place_of(Profile *p, u32 module, u64 off) {
    for (u32 i = 0; i < p->place_count; i++)
        if (p->places[i].off == off && p->places[i].module == module)
            return &p->places[i];
    return NULL;
}

void profile_add(Profile *p, Key module, u64 off, u32 heat, PlaceState state) {
    u32 number = module_of(p, module);
    if (number == PROFILE_MODULES)
        return;
    ProfilePlace *place = place_of(p, number, off);
    if (!place) {
        place = room_for(p, heat);
        if (!place)
            return;
        *place = (ProfilePlace){.off = off, .module = (u16)number};
    }
    place->heat = heat > UINT32_MAX - place->heat ? UINT32_MAX : place->heat + heat;
    if (state != PLACE_OPEN)
        place->state = (u16)state;
}

bool profile_is_settled(const Profile *p) {
    return p->runs >= RUNS_MAX / 2 || (p->runs >= SETTLED_RUNS && p->run_ms >= SETTLED_MS);
}

u64 profile_credit_of(u64 run_ms) {
    u64 ms = run_ms < CREDIT_MOST_US ? run_ms : CREDIT_MOST_US;
    return ms * 1000 / CREDIT_PART;
}

void profile_add_requests(Profile *p, u64 server_ms, u64 requests) {
    u64 us = server_ms < CREDIT_MOST_US ? server_ms * 1000 : CREDIT_MOST_US;
    p->server_ms += server_ms;
    p->requests += requests;
    p->credit_us = p->credit_us > us ? p->credit_us - us : 0;
}

void profile_add_run(Profile *p, u64 run_ms, u64 server_ms, u64 requests) {
    if (profile_is_settled(p))
        p->credit_us += profile_credit_of(run_ms);
    p->credit_us = p->credit_us < CREDIT_MOST_US ? p->credit_us : CREDIT_MOST_US;
    p->runs++;
    p->run_ms += run_ms;
    profile_add_requests(p, server_ms, requests);
    if (p->runs < RUNS_MAX)
        return;
    p->runs /= 2;
    p->run_ms /= 2;
    p->server_ms /= 2;
    p->requests /= 2;
    for (u32 i = 0; i < p->place_count; i++)
        p->places[i].heat /= 2;
}

/* By insertion: profiles are nearly sorted from the run before. */
void profile_sort(Profile *p) {
    for (u32 i = 1; i < p->place_count; i++) {
        ProfilePlace place = p->places[i];
        u32 k = i;
        for (; k && p->places[k - 1].heat < place.heat; k--)
            p->places[k] = p->places[k - 1];
        p->places[k] = place;
    }
}

u32 profile_count(const Profile *p, PlaceState state) {
    u32 count = 0;
    for (u32 i = 0; i < p->place_count; i++)
        count += p->places[i].state == state;
    return count;
}
