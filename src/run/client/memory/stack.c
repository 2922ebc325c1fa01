/* stack.c: the guest's first stack, as the kernel would have filled it.
 *
 * From high to low: the program's path, the strings of the environment and of the arguments (in order, so that
 * programs which overwrite their own command line find it in one piece), the platform's name, 16 random bytes; then,
 * below an address that makes rsp a multiple of 16, the words: argc, argv, envp, auxiliary vector.
 */
#include <elf.h>
#include <linux/prctl.h>
#include <linux/resource.h>

#include "run/client/core/client.h"
#include "run/client/memory/load.h"
#include "run/client/memory/space.h"

#define STACK_DEFAULT ((u64)8 << 20)
#define STACK_LEAST ((u64)128 << 10) /* the kernel also begins with this much */
#define STACK_MOST ((u64)1 << 30)
#define STACK_ROOM ((u64)256 << 20) /* addresses that are kept free for a guest that raises its limit */
#define STACK_GUARD ((u64)1 << 20)  /* PROT_NONE below; the kernel keeps as much free below its stacks */

enum { AUXV_MAX = 32 };

typedef struct Auxv {
    u64 pair[AUXV_MAX][2];
    u32 count;
} Auxv;

static u64 stack_size(void) {
    u64 limit[2] = {STACK_DEFAULT, 0};
    sys_prlimit(RLIMIT_STACK, NULL, limit);
    u64 size = page_down(limit[0]);
    return size < STACK_LEAST ? STACK_LEAST : size > STACK_MOST ? STACK_MOST : size;
}

static bool map_at(u64 start, u64 end, u32 prot) {
    return !sys_failed(
        space_mmap(start, end - start, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

/* Maps the stack and returns its end, or 0. */
static u64 map_stack(const LoadedImage *image, u64 size) {
    u64 room = the.memory.limited || size > STACK_ROOM ? size : STACK_ROOM;
    i64 start = sys_mmap(0, room + STACK_GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sys_failed(start))
        return 0;
    u64 top = (u64)start + STACK_GUARD + room;
    if (!map_at(top - size, top, PROT_READ | PROT_WRITE | (image->executable_stack ? PROT_EXEC : 0u)))
        return 0;
    the.memory.stack_lowest = (u64)start;
    the.memory.stack_start = top - size;
    return the.memory.stack_end = top;
}

/* The guest has a new limit for its stack. The kernel's stacks grow when they are used, up to the limit in force at
 * that moment; this stack grows at once. */
void stack_grow(u64 limit) {
    u64 room = the.memory.stack_end - the.memory.stack_lowest - STACK_GUARD,
        size = limit < room ? page_down(limit) : room, start = the.memory.stack_end - size;
    u64 next_start, next_end;
    u32 prot;
    if (start < the.memory.stack_start && space_next(start, &next_start, &next_end, &prot) &&
        next_start == the.memory.stack_start && map_at(start, the.memory.stack_start, prot))
        the.memory.stack_start = start;
}

static size_t count_strings(char **list, u64 *bytes) {
    size_t n = 0;
    for (; list[n]; n++)
        *bytes += strlen(list[n]) + 1;
    return n;
}

static u64 push_bytes(u64 sp, const void *bytes, size_t size) {
    memcpy((void *)(sp - size), bytes, size);
    return sp - size;
}

/* Copies the strings upwards from *at, and writes their addresses and a NULL to `words`. */
static u64 *put_strings(u64 *words, char **list, u64 *at) {
    for (; *list; list++) {
        size_t size = strlen(*list) + 1;
        memcpy((void *)*at, *list, size);
        *words++ = *at;
        *at += size;
    }
    *words++ = 0;
    return words;
}

static void add(Auxv *a, u64 type, u64 value) {
    CHECK(a->count < AUXV_MAX, "the auxiliary vector has room");
    a->pair[a->count][0] = type;
    a->pair[a->count++][1] = value;
}

/* The value that the guest sees for this entry of the host's auxiliary vector. */
static u64 shown(u64 type, u64 value) {
    switch (type) {
    case AT_HWCAP:
        return (value & guest_facts.hwcap) | guest_facts.more_hwcap;
    case AT_HWCAP2:
        return (value & guest_facts.hwcap2) | guest_facts.more_hwcap2;
    case AT_MINSIGSTKSZ:
        return guest_facts.signal_stack ? guest_facts.signal_stack : value;
    default:
        return value;
    }
}

/* Adds the entries of the client's own auxiliary vector that are true for the guest, too. AT_RSEQ_* are left out:
 * restartable sequences name code addresses, but the code that runs is the translation, elsewhere. */
static void add_inherited(Auxv *a) {
    static const u8 types[] = {AT_HWCAP, AT_PAGESZ, AT_CLKTCK, AT_UID,    AT_EUID,
                               AT_GID,   AT_EGID,   AT_SECURE, AT_HWCAP2, AT_MINSIGSTKSZ};
    for (const u64 *host = the.auxv; host && host[0] != AT_NULL; host += 2) {
        if (host[0] > 255 || !memchr(types, (int)host[0], sizeof(types)))
            continue;
        add(a, host[0], shown(host[0], host[1]));
    }
}

static void add_program(Auxv *a, const LoadedImage *image) {
    if (the.memory.vdso)
        add(a, AT_SYSINFO_EHDR, the.memory.vdso);
    add(a, AT_PHDR, image->phdr);
    add(a, AT_PHENT, sizeof(Elf64_Phdr));
    add(a, AT_PHNUM, image->phnum);
    add(a, AT_BASE, image->interp_base);
    add(a, AT_FLAGS, 0);
    add(a, AT_ENTRY, image->entry);
}

/* Tells the kernel where the guest's arguments and environment are and gives it the auxiliary vector, because the
 * kernel shows them in /proc. Every process may do this, except for naming the program's file. Kernels that do not know
 * the call show the client's in /proc. */
static void tell_kernel(const LoadedImage *image, u64 sp, u64 args, u64 env, u64 env_end, Auxv *a) {
    struct prctl_mm_map map = {
        .start_code = image->base,
        .end_code = image->end,
        .start_data = image->base,
        .end_data = image->end,
        .start_brk = the.memory.brk_start,
        .brk = the.memory.brk_now,
        .start_stack = sp,
        .arg_start = args,
        .arg_end = env,
        .env_start = env,
        .env_end = env_end,
        .auxv = (void *)a->pair,
        .auxv_size = (u32)(a->count * sizeof(a->pair[0])),
        .exe_fd = ~0u,
    };
    sys_prctl(PR_SET_MM, PR_SET_MM_MAP, (u64)&map, sizeof(map), 0);
}

u64 stack_build(const LoadedImage *image, char **argv, char **envp, const char *path) {
    u64 arg_bytes = 0, env_bytes = 0, size = stack_size();
    size_t argc = count_strings(argv, &arg_bytes), envc = count_strings(envp, &env_bytes);
    u64 bytes = arg_bytes + env_bytes;
    u64 room = bytes + (argc + envc + 4 * AUXV_MAX) * sizeof(u64) + strlen(path) + PAGE;
    if (size < 4 * room)
        size = page_up(4 * room);
    u64 top = map_stack(image, size);
    if (!top)
        return 0;
    Auxv a = {0};
    add_inherited(&a);
    add_program(&a, image);
    u64 sp = push_bytes(top - sizeof(u64), path, strlen(path) + 1);
    add(&a, AT_EXECFN, sp);
    u64 strings = sp -= bytes, args = strings;
    if (guest_facts.platform) {
        sp = push_bytes(sp, guest_facts.platform, strlen(guest_facts.platform) + 1);
        add(&a, AT_PLATFORM, sp);
    }
    u8 random[16] = {0};
    sys_getrandom(random, sizeof(random), 0);
    sp = push_bytes(sp & -(u64)16, random, sizeof(random));
    add(&a, AT_RANDOM, sp);
    add(&a, AT_NULL, 0);
    sp = (sp - sizeof(u64) * (1 + argc + 1 + envc + 1 + 2 * a.count)) & -(u64)16;
    u64 *words = (u64 *)sp;
    *words++ = argc;
    words = put_strings(words, argv, &strings);
    words = put_strings(words, envp, &strings);
    memcpy(words, a.pair, a.count * sizeof(a.pair[0]));
    tell_kernel(image, sp, args, args + arg_bytes, args + bytes, &a);
    return sp;
}
