/* loader.c: the client's ELF loader against damaged files. Freestanding like the client, from its own files.
 *
 *     fuzz-loader FILE [COUNT [SEED]]
 *
 * Each round changes a few fields or bytes of FILE's headers, or cuts the file, and loads it in a child process. The
 * loader must load it or say why not: a child that ends any other way, or has no sentence, is a failure. COUNT 0 loads
 * FILE as it is and prints the result.
 */
#include <elf.h>

#include "ground.h"
#include "run/client/memory/load.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"

enum { COPY_MAX = 4 << 20, BAD = 3 };

/* Values at which checks go wrong. */
static u64 odd_value(u64 *state) {
    static const u64 values[] = {0,
                                 1,
                                 2,
                                 0xfff,
                                 0x1000,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 (u64)1 << 32,
                                 (u64)1 << 46,
                                 0x7fffffffe000,
                                 0x7ffffffff000,
                                 0x800000000000,
                                 (u64)1 << 63,
                                 ~(u64)0,
                                 ~(u64)0xfff};
    u64 r = next(state);
    return r & 1 ? values[r / 2 % ARRAY_LEN(values)] : r >> (r / 2 % 64);
}

/* The ELF header and the program headers behind it, wherever they claim to be. */
static void damage(u8 *copy, u64 *size, u64 *state) {
    u64 headers = sizeof(Elf64_Ehdr) + 16 * sizeof(Elf64_Phdr), limit = *size < headers ? *size : headers;
    for (u64 n = 1 + next(state) % 4; n && limit > 8; n--) {
        u64 width = (u64)1 << next(state) % 4, at = next(state) % (limit / width) * width, value = odd_value(state);
        memcpy(copy + at, &value, width);
        if (next(state) % 4)
            memcpy(copy, ELFMAG, SELFMAG);
    }
    if (next(state) % 16 == 0)
        *size = next(state) % (*size + 1);
}

static int load(const char *path, bool show) {
    char message[256], *argv[8] = {(char *)path}, *envp[] = {"A=1", NULL};
    LoadedImage image;
    int error = load_program(path, argv, &image, message, sizeof(message));
    if (error)
        return message[0] && error > -4096 ? 1 : BAD;
    u64 sp = stack_build(&image, argv, envp, path);
    if (show) {
        say("base %lx end %lx entry %lx phdr %lx interp %lx start %lx sp %lx", image.base, image.end, image.entry,
            image.phdr, image.interp_base, image.start, sp);
    }
    return sp && sp % 16 == 0 ? 0 : BAD;
}

static int load_in_child(int fd) {
    i64 pid = sys_fork();
    if (!pid) {
        char path[32];
        format_text(path, sizeof(path), "/proc/self/fd/%d", fd);
        sys_exit_group(load(path, false));
    }
    int status = 0;
    sys_wait4(pid, &status, 0, NULL);
    return status;
}

/* A file of its own for each round: the descriptor's path must not be open for writing elsewhere. */
static int memory_file(const u8 *bytes, u64 size) {
    int fd = (int)sys_memfd_create("damaged", 0);
    CHECK(fd >= 0 && sys_write_all(fd, bytes, size), "there is memory for a file");
    return fd;
}

static int fuzz(const u8 *bytes, u64 size, u64 count, u64 seed) {
    u8 *copy = sys_pages(size + 1);
    u64 state = seed * 2654435761u + 1, loaded = 0, failures = 0;
    for (u64 i = 0; i < count; i++) {
        u64 copy_size = size, before = state;
        memcpy(copy, bytes, size);
        damage(copy, &copy_size, &state);
        int fd = memory_file(copy, copy_size), status = load_in_child(fd);
        sys_close(fd);
        loaded += status == 0;
        if (status != 0 && status != 1 << 8) {
            say("round %lu (state %lx): status %x", i, before, (u32)status);
            failures++;
        }
    }
    say_plain("%lu files, %lu loaded, %lu failures\n", count, loaded, failures);
    return failures || !loaded ? 1 : 0;
}

int client_main(int argc, char **argv, char **envp, u64 *auxv) {
    (void)envp;
    the.auxv = auxv;
    if (argc < 2 || !space_init(0, false))
        die("fuzz-loader FILE [COUNT [SEED]]");
    u64 count = argc > 2 ? number(argv[2]) : 1000;
    if (!count)
        return load(argv[1], true);
    int fd = (int)sys_open(argv[1], O_RDONLY | O_CLOEXEC, 0);
    u8 *bytes = sys_pages(COPY_MAX);
    i64 size = fd < 0 || !bytes ? -1 : sys_pread(fd, bytes, COPY_MAX, 0);
    if (size <= 0)
        die("%s cannot be read", argv[1]);
    return fuzz(bytes, (u64)size, count, argc > 3 ? number(argv[3]) : 1);
}
