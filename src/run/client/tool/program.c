/* program.c: what a tool asks about the program that it watches: its name, its arguments, its memory. */
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"
#include "run/client/tool/runtime.h"
#include "run/client/tool/tool.h"

static const char *const *arguments;

void tool_set_arguments(char **argv) {
    arguments = (const char *const *)argv;
}

const char *lathe_program(void) {
    return the.opt.guest_path;
}

const char *const *lathe_arguments(void) {
    return arguments;
}

uint64_t lathe_process(void) {
    return (u64)sys_getpid();
}

/* Up to 7 bytes, out of the aligned words that they are in: these are in the same pages. */
static bool read_few(u8 *to, u64 address, size_t size) {
    u64 words[2], off = address % 8;
    if (!copy_guarded(words, (const void *)(address - off), off + size > 8 ? 16 : 8))
        return false;
    memcpy(to, (const u8 *)words + off, size);
    return true;
}

/* Without the kernel, which would take much longer. */
bool lathe_read_guest(void *to, uint64_t address, size_t size) {
    size_t words = size & -(size_t)8;
    return copy_guarded(to, (const void *)address, words) &&
           (size == words || read_few((u8 *)to + words, address + words, size - words));
}

bool lathe_read_string(char *to, uint64_t address, size_t size) {
    if (!size)
        return false;
    size_t got = peek(address, to, size - 1);
    to[got] = 0;
    return got == size - 1 || strlen(to) < got;
}

bool lathe_mapping(uint64_t address, LatheMapping *out) {
    u64 from, to;
    u32 prot;
    if (!space_next(address, &from, &to, &prot))
        return false;
    *out = (LatheMapping){.from = from,
                          .to = to,
                          .readable = prot & PROT_READ,
                          .writable = prot & PROT_WRITE,
                          .executable = prot & PROT_EXEC};
    return true;
}
