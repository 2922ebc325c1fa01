/* pack.h: the files of the persistent cache; docs/cache.md describes them.
 *
 * A pack holds the code made from one guest file with one configuration; its name is the hash of both (PackIdentity). It is a sequence of
 * records. Each has the object for one guest function, the places of the guest bytes that the object was made from, and their hash.
 * Records are only ever appended, and the last one for a function counts. Nothing in a pack is trusted: a record is used if its checksum
 * is right and the guest's bytes have the hash that it names, so a torn or damaged record is merely not found.
 *
 * The client uses pack.c, too, which therefore needs nothing of a C library but memcpy and memcmp. write.c is for the server.
 */
#ifndef CACHE_PACK_H
#define CACHE_PACK_H

#include "cache/key.h"
#include "lathe/types.h"

/* ---------------------------------------------------------------------------------------------------------- hashing */

#define PACK_HASH_START 0x6c617468652d7061u

/* A fast hash that detects accidental differences; it does not resist an attacker. Two inputs of the same size that
 * differ only within one aligned group of 8 bytes never have the same hash. */
u64 pack_hash(u64 start, const void *data, size_t size);

/* The same hash over the guest's bytes in a range, PACK_PIECE bytes at a time. Returns false if some of them cannot be
 * read. A record has the hash over all its ranges in order, begun with PACK_HASH_START. */
enum { PACK_PIECE = 4096 };
bool pack_hash_guest(u64 *hash, u64 start, u64 end, LatheReadMemory *read, void *user);

/* ------------------------------------------------------------------------------------------------------------ trust */

/* True if of all users but root only that one could have written a file or directory with this owner and mode. What is in others is not used,
 * because code from there is run. */
static inline bool pack_is_private(u32 owner, u32 mode, u32 user) {
    const u32 others_write = 0022;
    return owner == user && !(mode & others_write);
}

/* ------------------------------------------------------------------------------------------------------------ names */

/* Identifies a file and its version. */
typedef struct PackIdentity {
    u64 device, inode, size;
    i64 mtime_s, mtime_ns, ctime_s, ctime_ns;
} PackIdentity;

Key pack_key(const PackIdentity *file, const CodeConfig *config);

/* CodeConfig.polls, .memory and .exact may change while a file is mapped. Each changes the second word of a key by one
 * of the constants below; pack_key_kind has all that apply to a configuration. */
u64 pack_key_kind(const CodeConfig *config); /* all of it */
#define PACK_KEY_POLLS 0x706f6c6c73u
#define PACK_KEY_EXACT 0x6578616374u
#define PACK_KEY_MEMORY(order) ((u64)(order) << 48)

enum { PACK_NAME_SIZE = 38 }; /* 32 digits, ".pack", zero */
void pack_name(Key pack, char name[PACK_NAME_SIZE]);
bool pack_parse_name(const char *name, Key *pack); /* false: it is not the name of a pack */

/* A file that begins with this number has the name of a pack but is an image of translated code: see
 * run/client/code/image.c. */
#define PACK_IMAGE_MAGIC 0x31676d692d65686cu

typedef struct PackImage {
    u64 magic, checksum;
    u64 version, window;
    u64 modules_off, module_count; /* place of its PackImageModules in the file, and their number */
} PackImage;

typedef struct PackImageModule {
    u64 base, end;
    Key pack; /* without pack_key_kind: whatever kind of code the image has */
} PackImageModule;

enum { PACK_IMAGE_MODULES = 1024 }; /* the most modules of an image */

/* The name of the image of a program that this client runs with that tier; which kind of code it has does not matter. */
enum { PACK_IMAGE_VERSION = 10 };
Key pack_image_key(const PackIdentity *program, const PackIdentity *client, u32 tier, const CodeConfig *config);

/* ---------------------------------------------------------------------------------------------------------- records */

enum { PACK_MAGIC = 0x314b504c, PACK_ALIGN = 16, PACK_RANGES_MAX = 1 << 16, PACK_OBJECT_MAX = 64 << 20 };

typedef struct PackRange {
    u64 start, end; /* offsets from the module's base */
} PackRange;

/* The record is followed by its ranges, the object, zeros up to a multiple of PACK_ALIGN, and a PackEnd. */
typedef struct PackRecord {
    u32 magic;
    u32 size;                     /* size of the whole record, a multiple of PACK_ALIGN */
    u64 off;                      /* offset of the guest function from the module's base */
    u64 base;                     /* the only base for which the object is right; 0: any base */
    u64 guest_hash;               /* hash over the ranges: see pack_hash_guest */
    u32 range_count, object_size; /* object_size 0: this function has no object, and none should be requested */
    u32 insns;                    /* number of guest instructions */
    u32 reserved;
} PackRecord;

typedef struct PackEnd {
    u64 head_hash; /* hash of the PackRecord; a record that was cut off has other bytes here */
    u64 checksum;  /* of everything before it, begun with the pack's name */
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

/* Writes the end of a record whose other parts are complete. */
void pack_seal(Key pack, PackRecord *r);
/* True if a record that pack_next returned is unchanged since it was sealed, in the pack of that name. */
bool pack_is_intact(Key pack, const PackRecord *r);

/* Finds the next record of a file's bytes at or behind *at, and moves *at behind it. Returns NULL if there is none. The
 * record and the parts that it names lie within the bytes, but their content may be damaged. `data` is aligned to
 * PACK_ALIGN. */
const PackRecord *pack_next(const u8 *data, size_t size, size_t *at);

/* ---------------------------------------------------------------------------------------------------------- writing */

/* Appends to the packs of a directory. Several processes may do so at the same time. */
typedef struct PackWriter PackWriter;

/* True if all bytes that an object was made from lie in the function's module. */
bool pack_is_inside(const PackFunction *f, const LatheRange *ranges, size_t range_count);

/* Makes a sealed record of the object for a function, to be freed by mem_free. Returns NULL if the object depends on
 * bytes outside its module. */
PackRecord *pack_record_new(Key pack, const PackFunction *f, const LatheRange *ranges, size_t range_count,
                            u64 guest_hash, const void *object, u32 object_size, u32 insns);

/* The limit of the size of all files of the directory together, in bytes: LATHE_CACHE_SIZE MiB, or 1 GiB. */
u64 pack_limit(void);

/* Makes the directory if there is none. Returns NULL if nothing can be stored there, or it belongs to another user. If
 * the packs are larger than pack_limit, those that were not used for the longest time are removed. */
PackWriter *pack_writer_open(const char *dir);

/* Stores the object made for a function in its pack. An object that depends on bytes outside its module is not stored.
 * Once the disk is full or has failed, nothing more is stored. */
void pack_append(PackWriter *w, const PackFunction *f, const LatheRange *ranges, size_t range_count, u64 guest_hash,
                 const void *object, u32 object_size, u32 insns);
void pack_writer_close(PackWriter *w);

/* Removes images with code of that pack (its key without pack_key_kind), because the pack now has better code. */
void pack_drop_images(const char *dir, Key pack);

/* ------------------------------------------------------------------------------------------- looking at a directory */

typedef struct PackFile {
    Key pack;
    u64 size;   /* bytes on the disk: images have holes */
    i64 used_s; /* when it was last read or written, in seconds since 1970 */
} PackFile;

typedef VEC(PackFile) PackFiles;

/* The size of a file that has so many blocks, as stat counts them. */
static inline u64 pack_disk_bytes(u64 blocks) {
    enum { BLOCK = 512 };
    return blocks * BLOCK;
}

/* How many of the files, counted from the first, must be removed so that a quarter of the limit is free; 0 if all are
 * within the limit. */
size_t pack_surplus(const PackFile *files, size_t count, u64 limit);

/* Lists the packs of a directory, those not used for the longest time first. Returns false if it cannot be read. */
bool pack_list(int dir, PackFiles *files);

#endif
