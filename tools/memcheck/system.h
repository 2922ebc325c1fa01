/* system.h: system calls that give memory to the program, and those that are told where to read or write. */
#ifndef MEMCHECK_SYSTEM_H
#define MEMCHECK_SYSTEM_H

#include "shadow.h"

enum { SYSTEM_CALLS = 512, CALL_ARGUMENTS = 3, MAY_WRITE = 2, HUGE = 4 << 20 };

/* A call with a buffer: which of its arguments is the address, which one the size. */
typedef struct BufferCall {
    const char *name;
    uint8_t pointer, size;
    bool writes;
} BufferCall;

static const BufferCall buffer_calls[] = {
    {"read", 1, 2, true},     {"pread64", 1, 2, true}, {"write", 1, 2, false},    {"pwrite64", 1, 2, false},
    {"recvfrom", 1, 2, true}, {"sendto", 1, 2, false}, {"getrandom", 0, 1, true}, {"getdents64", 1, 2, true},
};

typedef enum CallKind {
    CALL_OTHER,
    CALL_EXIT,
    CALL_EXEC,
    CALL_STACK,
    CALL_BRK,
    CALL_MMAP,
    CALL_MREMAP,
    CALL_SHMAT,
    CALL_MPROTECT
} CallKind;

/* What a call may do to memory by its arguments. */
typedef enum CallHow { CALL_WRITES, CALL_READS, CALL_LISTS, CALL_ANY_TIME } CallHow;

static const struct {
    const char *name;
    CallHow how;
} hows[] = {
    {"write", CALL_READS},       {"pwrite64", CALL_READS},
    {"writev", CALL_READS},      {"pwritev", CALL_READS},
    {"sendto", CALL_READS},      {"sendmsg", CALL_READS},
    {"open", CALL_READS},        {"openat", CALL_READS},
    {"mmap", CALL_READS},        {"munmap", CALL_READS},
    {"mprotect", CALL_READS},    {"madvise", CALL_READS},
    {"brk", CALL_READS},         {"access", CALL_READS},
    {"futex", CALL_READS},       {"mremap", CALL_READS},
    {"readv", CALL_LISTS},       {"preadv", CALL_LISTS},
    {"preadv2", CALL_LISTS},     {"recvmsg", CALL_LISTS},
    {"recvmmsg", CALL_LISTS},    {"process_vm_readv", CALL_LISTS},
    {"sendmmsg", CALL_LISTS},    {"vmsplice", CALL_LISTS},
    {"keyctl", CALL_LISTS},      {"ioctl", CALL_LISTS},
    {"io_setup", CALL_ANY_TIME}, {"io_uring_setup", CALL_ANY_TIME},
    {"bpf", CALL_LISTS},         {"ptrace", CALL_LISTS},
};

static const struct {
    const char *name;
    CallKind kind;
} kinds[] = {
    {"exit_group", CALL_EXIT},   {"execve", CALL_EXEC}, {"execveat", CALL_EXEC},
    {"brk", CALL_BRK},           {"mmap", CALL_MMAP},   {"mremap", CALL_MREMAP},
    {"mprotect", CALL_MPROTECT}, {"shmat", CALL_SHMAT}, {"sigaltstack", CALL_STACK},
};

typedef struct SystemCall {
    CallKind kind;
    const BufferCall *buffer; /* NULL: it has none */
    CallHow how;
} SystemCall;

static SystemCall system_calls[SYSTEM_CALLS + 1]; /* the last one is for all others */
static uint64_t program_break;

static const SystemCall *system_call_no(uint64_t number) {
    return &system_calls[number < SYSTEM_CALLS ? number : SYSTEM_CALLS];
}

static void system_start(void) {
    for (unsigned number = 0; number < SYSTEM_CALLS; number++) {
        const char *name = lathe_syscall_name(number);
        for (unsigned i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]); i++)
            if (!strcmp(name, kinds[i].name))
                system_calls[number].kind = kinds[i].kind;
        for (unsigned i = 0; name && i < sizeof(hows) / sizeof(hows[0]); i++)
            if (!strcmp(name, hows[i].name))
                system_calls[number].how = hows[i].how;
        for (unsigned i = 0; name && i < sizeof(buffer_calls) / sizeof(buffer_calls[0]); i++)
            if (!strcmp(name, buffer_calls[i].name))
                system_calls[number].buffer = &buffer_calls[i];
    }
}

/* Memory is new at these addresses. Of a large piece only the ends are forbidden to others: it becomes one block. */
static void system_new(uint64_t from, uint64_t bytes, bool allocator) {
    uint64_t to = from + ((bytes + PAGE - 1) & -(uint64_t)PAGE);
    heap_remove(from, to);
    if (!allocator)
        return;
    if (bytes < HUGE) {
        heap_add(from, to);
        return;
    }
    memset(heap_page_of(from), 1, (to - from) >> PAGE_BITS);
    shadow_forbid(from, from + PAGE, TAG_HEAP);
    shadow_forbid(to - PAGE, to, TAG_HEAP);
}

static void system_break(uint64_t now, bool allocator) {
    if (program_break && now > program_break)
        system_new(program_break, now - program_break, allocator);
    program_break = now;
}

/* The allocator asks for memory without access first, and makes it accessible in pieces. */
static void system_map(CallKind kind, uint64_t result, const uint64_t arg[CALL_ARGUMENTS], bool allocator) {
    if (kind == CALL_BRK)
        system_break(result, allocator);
    if (kind == CALL_MMAP)
        system_new(result, arg[1], allocator && arg[2] & MAY_WRITE);
    if (kind == CALL_MREMAP)
        system_new(result, arg[2], allocator);
    if (kind == CALL_MPROTECT && allocator && arg[2] & MAY_WRITE)
        system_new(arg[0], arg[1], true);
}

#endif
