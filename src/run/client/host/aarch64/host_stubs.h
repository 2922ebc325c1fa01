/* host_stubs.h: small pieces of code that lead elsewhere, in the host's instructions. They are written at w, and run at `run`. */
#ifndef RUN_CLIENT_HOST_STUBS_H
#define RUN_CLIENT_HOST_STUBS_H

#include "base/base.h"

enum { STUB_BYTES = 16, STUB_TRAP_BYTES = 24 };
/* A direct jump reaches 128 MiB, and all code is to reach all other. */
enum { STUB_REACH = 112 << 20 };
/* Is what was written what runs, whatever the system is? See arena.c. */
enum { STUB_COHERENT = false };
/* Where stubs have the address that they lead to; 0: they become jumps. */
enum { STUB_LEADS_AT = 0 };

/* b */
static inline u32 stub_branch(const u8 *run, const void *target) {
    return 0x14000000 | ((u32)(((const u8 *)target - run) >> 2) & 0x03ffffff);
}

/* The jump at a site of quick code, which is this word, leads to the target. */
static inline u32 stub_site(u32 word, const u8 *site, const void *target) {
    return (word & 0xfc000000) | (stub_branch(site, target) & 0x03ffffff);
}

static inline void stub_put(u8 *w, u32 word) {
    memcpy(w, &word, sizeof(word));
}

/* ldr x17, . + 8; b lazy; the guest's address */
static inline void stub_write_lazy(u8 *w, const u8 *run, u64 pc, const u8 *lazy) {
    stub_put(w, 0x58000051);
    stub_put(w + 4, stub_branch(run + 4, lazy));
    memcpy(w + 8, &pc, 8);
}

/* ldr x16, . + 8; br x16; the address */
static inline void stub_write_far(u8 *w, u64 to) {
    stub_put(w, 0x58000050);
    stub_put(w + 4, 0xd61f0200);
    memcpy(w + 8, &to, 8);
}

/* A jump to the target, as the first eight bytes of what runs there. Threads may be at the second instruction, which stays. */
static inline u64 stub_jump(const void *run, const void *target) {
    u32 second;
    memcpy(&second, (const u8 *)run + 4, sizeof(second));
    return stub_branch(run, target) | (u64)second << 32;
}

/* A jump to so many bytes in front of itself. */
typedef u32 StubBack;
static inline StubBack stub_back(u32 bytes) {
    return 0x14000000 | (-(bytes / 4) & 0x03ffffff);
}

/* Sets the word at this offset of the guest's state and returns with pc, as translated code does: movz w16, value; str w16, [x7, off]; ldr x7, . + 8; ret; pc */
static inline void stub_write_trap(u8 w[STUB_TRAP_BYTES], u32 off, u32 value, u64 pc) {
    stub_put(w, 0x52800010 | value << 5);
    stub_put(w + 4, 0xb90000f0 | off / 4 << 10);
    stub_put(w + 8, 0x58000047);
    stub_put(w + 12, 0xd65f03c0);
    memcpy(w + 16, &pc, 8);
}

/* movz w0, number; ret */
static inline void stub_write_number(u8 *w, u32 number) {
    stub_put(w, 0x52800000 | number << 5);
    stub_put(w + 4, 0xd65f03c0);
}

/* What was written to code at w is what runs. Data and code have caches of their own, whose lines have at least 16 bytes on every CPU. */
static inline void stub_written(const u8 *w, const u8 *run, u64 bytes) {
    enum { LINE = 16 };
    for (u64 at = (u64)w & -(u64)LINE; at < (u64)w + bytes; at += LINE)
        __asm__ volatile("dc cvau, %0" : : "r"(at) : "memory");
    __asm__ volatile("dsb ish" : : : "memory");
    for (u64 at = (u64)run & -(u64)LINE; at < (u64)run + bytes; at += LINE)
        __asm__ volatile("ic ivau, %0" : : "r"(at) : "memory");
    __asm__ volatile("dsb ish\n\tisb" : : : "memory");
}

#endif
