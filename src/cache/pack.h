/* pack.h: the files of the persistent cache; docs/cache.md has the whole story.
 *
 * A pack holds the code made from one guest file with one configuration; its name is the hash of both (PackIdentity).
 * It is a sequence of records, each with the object for one guest function, the places of the guest bytes that it was
 * made from and their hash. Records are only ever appended, and the last one for a function counts. Nothing in a pack
 * is trusted: a record is used if its checksum is right and the guest's bytes have the hash it names, so a torn or
 * damaged record is merely not found.
 *
 * pack.c is for the client too: it needs nothing of a C library but memcpy and memcmp. write.c is for the server.
 */
#ifndef CACHE_PACK_H
#define CACHE_PACK_H

#include "cache/key.h"
#include "lathe/types.h"

/* ---------------------------------------------------------------------------------------------------------- hashing */

#define PACK_HASH_START 0x6c617468652d7061u

/* A fast hash for telling apart what differs by accident; it resists no attacker. Two inputs of one size that differ
 * within one aligned group of 8 bytes never have the same hash. */
u64 pack_hash(u64 start, const void *data, size_t size);

/* The same over the guest's bytes in a range, PACK_PIECE at a time; false: not all of them can be read. A record has
 * the hash over its ranges in order, begun with PACK_HASH_START. */
enum { PACK_PIECE = 4096 };
bool pack_hash_guest(u64 *hash, u64 start, u64 end, LatheReadMemory *read, void *user);

/* ------------------------------------------------------------------------------------------------------------ names */

/* Which file, as the system tells files and their versions apart. */
typedef struct PackIdentity {
    u64 device, inode, size;
    i64 mtime_s, mtime_ns, ctime_s, ctime_ns;
} PackIdentity;

Key pack_key(const PackIdentity *file, const CodeConfig *config);

/* Whether loops look for signals, the order of memory accesses, and what their faults do (CodeConfig.polls, .memory and .exact) may change
 * while a file is mapped: keys differ in their second word by this. */
u64 pack_key_kind(const CodeConfig *config); /* all of it */
#define PACK_KEY_POLLS 0x706f6c6c73u
#define PACK_KEY_EXACT 0x6578616374u
#define PACK_KEY_MEMORY(order) ((u64)(order) << 48)

enum { PACK_NAME_SIZE = 38 }; /* 32 digits, ".pack", zero */
void pack_name(Key pack, char name[PACK_NAME_SIZE]);
bool pack_parse_name(const char *name, Key *pack); /* false: no pack's name */

/* A file that begins so has the name of a pack, but is an image of translated code: see run/client/code/image.c. */
#define PACK_IMAGE_MAGIC 0x31676d692d65686cu

typedef struct PackImage {
    u64 magic, checksum;
    u64 version, window;
    u64 modules_off, module_count; /* where its PackImageModules are in the file, and how many */
} PackImage;

typedef struct PackImageModule {
    u64 base, end;
    Key pack; /* without PACK_KEY_POLLS */
} PackImageModule;

enum { PACK_IMAGE_MODULES = 1024 }; /* at most */

/* ---------------------------------------------------------------------------------------------------------- records */

enum { PACK_MAGIC = 0x314b504c, PACK_ALIGN = 16, PACK_RANGES_MAX = 1 << 16, PACK_OBJECT_MAX = 64 << 20 };

typedef struct PackRange {
    u64 start, end; /* offsets from the module's base */
} PackRange;

/* Followed by the ranges, the object, zeros up to a multiple of PACK_ALIGN, and the end. */
typedef struct PackRecord {
    u32 magic;
    u32 size;                     /* of the whole record, a multiple of PACK_ALIGN */
    u64 off;                      /* of the guest function from the module's base */
    u64 base;                     /* the only base that the object is right for; 0: any */
    u64 guest_hash;               /* over the ranges: see pack_hash_guest */
    u32 range_count, object_size; /* 0: there is no object for it, and none is to be asked for */
    u32 insns;                    /* guest instructions */
    u32 reserved;
} PackRecord;

typedef struct PackEnd {
    u64 head_hash; /* of the PackRecord: a record that was cut has other bytes here */
    u64 checksum;  /* of all before it, begun with the pack's name */
} PackEnd;

static inline const PackRange *pack_ranges(const PackRecord *r) {
    return (const PackRange *)(r + 1);
}

static inline const void *pack_object(const PackRecord *r) {
    return pack_ranges(r) + r->range_count;
}

static inline size_t pack_record_size(size_t range_count, size_t object_size) {
    size_t parts = sizeof(PackRecord) + range_count * sizeof(PackRange) + object_size;
    return (parts + PACK_ALIGN - 1) / PACK_ALIGN * PACK_ALIGN + sizeof(PackEnd);
}

/* Make the end of a record whose other parts are there. */
void pack_seal(Key pack, PackRecord *r);
/* Is all of a record that pack_next returned as it was sealed, in the pack of that name? */
bool pack_is_intact(Key pack, const PackRecord *r);

/* The next record of a file's bytes at or behind *at, which is moved behind it; NULL: no more. The record lies within
 * the bytes, and so do the parts it names, but these may be damaged. `data` is aligned to PACK_ALIGN. */
const PackRecord *pack_next(const u8 *data, size_t size, size_t *at);

/* ---------------------------------------------------------------------------------------------------------- writing */

/* Appends to the packs of a directory. Any number of processes may do so at a time. */
typedef struct PackWriter PackWriter;

/* Are the bytes that an object was made from all of the function's module? */
bool pack_is_inside(const PackFunction *f, const LatheRange *ranges, size_t range_count);

/* The record of the object made for a function, sealed for a pack and for mem_free; NULL: it depends on bytes outside its
 * module. */
PackRecord *pack_record_new(Key pack, const PackFunction *f, const LatheRange *ranges, size_t range_count,
                            u64 guest_hash, const void *object, u32 object_size, u32 insns);

/* What all files of the directory may have together, in bytes: LATHE_CACHE_SIZE MiB, or 1 GiB. */
u64 pack_limit(void);

/* Makes the directory if there is none. NULL: nothing can be kept there, or it is someone else's. If the packs are
 * larger than pack_limit says, those that were not used for longest are removed. */
PackWriter *pack_writer_open(const char *dir);

/* Keep the object made for a function, in its pack. An object that depends on bytes outside its module is not kept; when the disk is
 * full or fails, nothing is from then on. */
void pack_append(PackWriter *w, const PackFunction *f, const LatheRange *ranges, size_t range_count, u64 guest_hash,
                 const void *object, u32 object_size, u32 insns);
void pack_writer_close(PackWriter *w);

/* Images with code of that pack go: what the pack has now is better. */
void pack_drop_images(const char *dir, Key pack);

/* ------------------------------------------------------------------------------------------- looking at a directory */

typedef struct PackFile {
    Key pack;
    u64 size;
    i64 used_s; /* when it was last read or written, seconds since 1970 */
} PackFile;

typedef VEC(PackFile) PackFiles;

/* How many files, the first ones, must go for a quarter of the limit to be free; 0 if all of them are within it. */
size_t pack_surplus(const PackFile *files, size_t count, u64 limit);

/* The packs of a directory, those not used for longest first; false: it cannot be read. */
bool pack_list(int dir, PackFiles *files);

#endif
