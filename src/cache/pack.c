/* pack.c: the format of packs: hashing, names, and walking over records that may be damaged. See pack.h. */
#include "cache/pack.h"

#define K1 0x9fb21c651e98df25u
#define K2 0xd6e8feb86659fd93u

enum { LANES = 4, STRIPE_BYTES = LANES * 8 };

/* Part of every pack's name, so that packs of another format are not even opened. */
enum { PACK_VERSION = 1 };

/* ---------------------------------------------------------------------------------------------------------- hashing */

/* For each h this is a bijection of v, and for each v a bijection of h: no step loses a difference, and a single
 * difference survives to the end. */
static inline u64 mix(u64 h, u64 v) {
    h = (h ^ v) * K1;
    return h << 31 | h >> 33;
}

static inline void absorb(u64 lane[LANES], const u8 *stripe) {
    u64 word[LANES];
    memcpy(word, stripe, STRIPE_BYTES);
    for (int i = 0; i < LANES; i++)
        lane[i] = mix(lane[i], word[i]);
}

u64 pack_hash(u64 start, const void *data, size_t size) {
    u64 lane[LANES] = {start, start ^ K1, start + K2, start - K1};
    const u8 *at = data;
    size_t left = size;
    for (; left >= STRIPE_BYTES; at += STRIPE_BYTES, left -= STRIPE_BYTES)
        absorb(lane, at);
    if (left) {
        u8 last[STRIPE_BYTES] = {0};
        memcpy(last, at, left);
        absorb(lane, last);
    }
    u64 h = mix(start, size);
    for (int i = 0; i < LANES; i++)
        h = mix(h, lane[i]);
    h = (h ^ h >> 32) * K2;
    return h ^ h >> 29;
}

bool pack_hash_guest(u64 *hash, u64 start, u64 end, LatheReadMemory *read, void *user) {
    u8 piece[PACK_PIECE];
    for (u64 at = start; at < end;) {
        size_t size = end - at < PACK_PIECE ? end - at : PACK_PIECE;
        if (read(user, at, piece, size) != size)
            return false;
        *hash = pack_hash(*hash, piece, size);
        at += size;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ names */

u64 pack_key_kind(const CodeConfig *config) {
    return (config->polls ? PACK_KEY_POLLS : 0) ^ (config->exact ? PACK_KEY_EXACT : 0) ^
           PACK_KEY_MEMORY(config->memory);
}

Key pack_key(const PackIdentity *file, const CodeConfig *config) {
    Key key;
    CodeConfig plain = *config;
    plain.polls = plain.memory = plain.exact = 0;
    for (u64 i = 0; i < ARRAY_LEN(key.word); i++)
        key.word[i] = pack_hash(pack_hash(PACK_VERSION + (i << 32), file, sizeof(*file)), &plain, sizeof(plain));
    key.word[1] ^= pack_key_kind(config);
    return key;
}

/* The device number belongs to no file: the kernel's device numbers have 32 bits. */
Key pack_image_key(const PackIdentity *program, const PackIdentity *client, u32 tier, const CodeConfig *config) {
    PackIdentity both = {.device = ~(u64)1, .inode = tier, .size = PACK_IMAGE_VERSION};
    CodeConfig any = *config;
    any.polls = any.memory = any.exact = 0;
    both.inode = pack_hash(both.inode, program, sizeof(*program));
    both.inode = pack_hash(both.inode, client, sizeof(*client));
    return pack_key(&both, &any);
}

void pack_name(Key pack, char name[PACK_NAME_SIZE]) {
    for (int i = 0; i < 32; i++)
        name[i] = "0123456789abcdef"[pack.word[i / 16] >> (60 - i % 16 * 4) & 15];
    memcpy(name + 32, ".pack", 6);
}

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool pack_parse_name(const char *name, Key *pack) {
    *pack = (Key){0};
    for (int i = 0; i < 32; i++) {
        if (digit(name[i]) < 0)
            return false;
        pack->word[i / 16] = pack->word[i / 16] << 4 | (u64)digit(name[i]);
    }
    for (int i = 0; i < 6; i++)
        if (name[32 + i] != ".pack"[i])
            return false;
    return true;
}

size_t pack_surplus(const PackFile *files, size_t count, u64 limit) {
    u64 total = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        total += files[i].size;
    u64 goal = total > limit ? limit / 4 * 3 : total;
    for (; n < count && total > goal; n++)
        total -= files[n].size;
    return n;
}

/* ---------------------------------------------------------------------------------------------------------- records */

static PackEnd *end_of(const PackRecord *r) {
    return (PackEnd *)((u8 *)r + r->size - sizeof(PackEnd));
}

static u64 hash_head(const PackRecord *r) {
    return pack_hash(PACK_HASH_START, r, sizeof(*r));
}

/* The checksum of everything before it. It begins with the pack's name, so a record is right in one pack only. */
static u64 checksum(Key pack, const PackRecord *r) {
    return pack_hash(pack.word[0] ^ pack.word[1] * K2, r, r->size - sizeof(u64));
}

/* True if the parts that a record names fit into the record, the record fits into the remaining bytes, and its end is
 * intact. */
static bool is_whole(const PackRecord *r, size_t left) {
    if (left < sizeof(*r) || r->magic != PACK_MAGIC || r->size > left || r->size % PACK_ALIGN ||
        r->range_count > PACK_RANGES_MAX)
        return false;
    return pack_record_size(r->range_count, r->object_size) == r->size && end_of(r)->head_hash == hash_head(r);
}

void pack_seal(Key pack, PackRecord *r) {
    end_of(r)->head_hash = hash_head(r);
    end_of(r)->checksum = checksum(pack, r);
}

bool pack_is_intact(Key pack, const PackRecord *r) {
    return end_of(r)->checksum == checksum(pack, r);
}

/* Behind a record that was cut off or damaged, searches for the next one. */
const PackRecord *pack_next(const u8 *data, size_t size, size_t *at) {
    for (; *at < size; *at += PACK_ALIGN) {
        const PackRecord *r = (const PackRecord *)(data + *at);
        if (is_whole(r, size - *at)) {
            *at += r->size;
            return r;
        }
    }
    return NULL;
}
