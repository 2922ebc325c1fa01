/* key.c: see key.h. */
#include "run/client/memory/key.h"

#include "run/client/memory/contained.h"

PackIdentity key_identity(const struct stat *st) {
    return (PackIdentity){
        .device = st->st_dev,
        .inode = st->st_ino,
        .size = (u64)st->st_size,
        .mtime_s = (i64)st->st_mtime,
        .mtime_ns = (i64)st->st_mtime_nsec,
        .ctime_s = (i64)st->st_ctime,
        .ctime_ns = (i64)st->st_ctime_nsec,
    };
}

/* The device number in this key belongs to no file: the kernel's device numbers have 32 bits. */
Key key_of_bytes(const void *bytes, size_t size, const CodeConfig *config) {
    PackIdentity content = {.device = ~(u64)0, .inode = pack_hash(PACK_HASH_START, bytes, size), .size = size};
    return pack_key(&content, config);
}

Key key_of_file(int fd, const CodeConfig *config) {
    struct stat st;
    if (sys_fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return (Key){0};
    const PackIdentity *copied = contained_identity(&st);
    PackIdentity file = copied ? *copied : key_identity(&st);
    return pack_key(&file, config);
}
