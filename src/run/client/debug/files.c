/* files.c: see files.h. By default, gdb asks the client for the guest's program and libraries, so a guest of another machine is debugged without any
 * setting in gdb. Files are opened for reading only. */
#include "run/client/debug/files.h"

#include "run/client/memory/limits.h"
#include "run/client/memory/program.h"

enum { FILES = 1024, TRANSFER = PACKET_BYTES / 2 - 64 };
/* Error numbers of the protocol, which are those of old systems. */
enum { FILE_ENOENT = 2, FILE_EBADF = 9, FILE_EACCES = 13, FILE_EINVAL = 22, FILE_EUNKNOWN = 9999 };

static int open_files[FILES]; /* descriptors, plus 1; 0: not in use */

static void fail(Packet *answer, i64 error) {
    u32 known = error == -ENOENT ? FILE_ENOENT : error == -EACCES ? FILE_EACCES : FILE_EUNKNOWN;
    put_text(answer, "F-1,%x", known);
}

static bool take_path(Packet *request, char path[INTERP_MAX]) {
    size_t n = take_hex(request, path, INTERP_MAX - 1);
    path[n] = 0;
    take_char(request, ',');
    return n;
}

/* The descriptor gets a number that the guest does not expect for one of its own (limits_dup_away). gdb keeps one open for each library. */
static void open_file(Packet *request, Packet *answer) {
    char path[INTERP_MAX], inside[INTERP_MAX];
    if (!take_path(request, path)) {
        fail(answer, -ENOENT);
        return;
    }
    u32 slot = 0;
    while (slot < FILES && open_files[slot])
        slot++;
    i64 fd = slot < FILES ? sys_open(sysroot_find(the.opt.sysroot, path, inside), O_RDONLY | O_CLOEXEC, 0) : -EMFILE;
    if (fd < 0) {
        fail(answer, fd);
        return;
    }
    i64 away = limits_dup_away((int)fd);
    if (away >= 0)
        sys_close((int)fd);
    open_files[slot] = (int)(away >= 0 ? away : fd) + 1;
    put_text(answer, "F%x", slot);
}

/* Reads the number of an open file. Returns its descriptor, or -1 if there is no such file. */
static int take_file(Packet *request, u32 *slot) {
    *slot = (u32)take_number(request);
    take_char(request, ',');
    return *slot < FILES ? open_files[*slot] - 1 : -1;
}

static void read_file(Packet *request, Packet *answer) {
    static u8 bytes[TRANSFER];
    u32 slot;
    int fd = take_file(request, &slot);
    u64 size = take_number(request);
    take_char(request, ',');
    u64 off = take_number(request);
    i64 n = fd < 0 ? -EBADF : sys_pread(fd, bytes, size < TRANSFER ? size : TRANSFER, off);
    if (n < 0) {
        fail(answer, n);
        return;
    }
    put_text(answer, "F%x;", (u32)n);
    put_bytes(answer, bytes, (size_t)n);
}

static void close_file(Packet *request, Packet *answer) {
    u32 slot;
    int fd = take_file(request, &slot);
    if (fd < 0) {
        fail(answer, -EBADF);
        return;
    }
    sys_close(fd);
    open_files[slot] = 0;
    put_text(answer, "F0");
}

/* struct stat of the protocol, whose numbers begin with the highest byte. */
typedef struct FileStat {
    u32 dev, ino, mode, nlink, uid, gid, rdev;
    u64 size, blksize, blocks;
    u32 atime, mtime, ctime;
} __attribute__((packed)) FileStat;

static void describe_file(Packet *request, Packet *answer) {
    u32 slot;
    struct stat st;
    int fd = take_file(request, &slot);
    if (fd < 0 || sys_fstat(fd, &st)) {
        fail(answer, -EBADF);
        return;
    }
    FileStat f = {.dev = __builtin_bswap32((u32)st.st_dev),
                  .ino = __builtin_bswap32((u32)st.st_ino),
                  .mode = __builtin_bswap32((u32)st.st_mode),
                  .nlink = __builtin_bswap32((u32)st.st_nlink),
                  .uid = __builtin_bswap32(st.st_uid),
                  .gid = __builtin_bswap32(st.st_gid),
                  .size = __builtin_bswap64((u64)st.st_size),
                  .blksize = __builtin_bswap64((u64)st.st_blksize),
                  .blocks = __builtin_bswap64((u64)st.st_blocks),
                  .mtime = __builtin_bswap32((u32)st.st_mtime)};
    put_text(answer, "F%x;", (u32)sizeof(f));
    put_bytes(answer, &f, sizeof(f));
}

static void read_link(Packet *request, Packet *answer) {
    char path[INTERP_MAX], inside[INTERP_MAX], target[INTERP_MAX];
    i64 n = -ENOENT;
    if (take_path(request, path))
        n = sys_readlink(sysroot_find(the.opt.sysroot, path, inside), target, sizeof(target));
    if (n < 0) {
        fail(answer, n);
        return;
    }
    put_text(answer, "F%x;", (u32)n);
    put_bytes(answer, target, (size_t)n);
}

void files_close(void) {
    for (u32 slot = 0; slot < FILES; slot++) {
        if (open_files[slot])
            sys_close(open_files[slot] - 1);
        open_files[slot] = 0;
    }
}

void files_answer(Packet *request, Packet *answer) {
    if (take_word(request, "setfs:"))
        put_text(answer, "F0"); /* one file system for all */
    else if (take_word(request, "open:"))
        open_file(request, answer);
    else if (take_word(request, "pread:"))
        read_file(request, answer);
    else if (take_word(request, "close:"))
        close_file(request, answer);
    else if (take_word(request, "fstat:"))
        describe_file(request, answer);
    else if (take_word(request, "readlink:"))
        read_link(request, answer);
}
