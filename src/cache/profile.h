/* profile.h: what runs of a program have learned: in which places of its code they have spent their time, and what came of optimising these.
 *
 * There is one profile for each program and configuration, a file of the cache beside the program's image (docs/cache.md). It is small and
 * bounded. Nothing in it is trusted: a profile that is damaged, or of another program, counts as none, and a wrong one costs time at most, because it
 * names places to optimise and never code to run. The client writes profiles; `lathe compile` and `lathe cache` read them. */
#ifndef CACHE_PROFILE_H
#define CACHE_PROFILE_H

#include "cache/pack.h"

/* A file that begins with this number has the name of a pack but is a profile. */
#define PROFILE_MAGIC 0x31666f72702d656cu
/* The key of a program's profile differs from that of its image by this, in the second word. */
#define PROFILE_KEY 0x70726f66696c65u

enum { PROFILE_VERSION = 2, PROFILE_MODULES = 128, PROFILE_PLACES = 1024 };

typedef enum PlaceState {
    PLACE_OPEN,     /* it has no optimised code yet */
    PLACE_KEPT,     /* it has */
    PLACE_GIVEN_UP, /* its optimised code was no gain */
    PLACE_REFUSED,  /* the server has no object for it */
    PLACE_STATES
} PlaceState;

typedef struct ProfilePlace {
    u64 off;   /* from the module's base */
    u32 heat;  /* tier.c: how long, and how steadily, runs were found there */
    u16 state; /* PlaceState */
    u16 module;
} ProfilePlace;

typedef struct Profile {
    u64 magic, checksum; /* the checksum is of all that follows, begun with the profile's key */
    u32 version, runs;
    u32 polls, exact;        /* CodeConfig: the kind of code that the last run had at its end */
    u64 run_ms;              /* CPU time of these runs, as far as they were sampled */
    u64 server_ms, requests; /* the time that servers took for requests of these runs, and the number of requests */
    u64 credit_us;           /* what servers may take for this program after its runs, once it is settled */
    u32 module_count, place_count;
    Key modules[PROFILE_MODULES];        /* their packs, without PACK_KEY_POLLS and the like */
    ProfilePlace places[PROFILE_PLACES]; /* the hottest first; in a file, both lists have no unused entries */
} Profile;

void profile_init(Profile *p);
/* Reads a profile from the bytes of a file. Returns false, and an empty profile, if they are not a profile with this key. */
bool profile_parse(Profile *p, Key key, const void *bytes, size_t size);
/* Writes a profile as a file has it to `bytes`, which has room for a Profile, and returns the size. */
size_t profile_format(const Profile *p, Key key, void *bytes);

/* Adds to the heat of a place, which gets the state unless that is PLACE_OPEN. If the profile is full, the coldest place makes room. */
void profile_add(Profile *p, Key module, u64 off, u32 heat, PlaceState state);
/* Counts one more run. After many of them, earlier ones count half. */
void profile_add_run(Profile *p, u64 run_ms, u64 server_ms, u64 requests);
/* Counts what servers took for this program. */
void profile_add_requests(Profile *p, u64 server_ms, u64 requests);
/* There were runs enough to learn from: what is optimised from now on has to be paid for by a share of the program's time. */
bool profile_is_settled(const Profile *p);
/* What a run of this time adds to the credit of a program that is settled. */
u64 profile_credit_of(u64 run_ms);
/* Sorts the places by heat. */
void profile_sort(Profile *p);
u32 profile_count(const Profile *p, PlaceState state);

#endif
