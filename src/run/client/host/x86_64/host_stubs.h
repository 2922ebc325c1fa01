/* host_stubs.h: writes small pieces of code that lead elsewhere, in the host's instructions. w: the address by which a piece is written; run: the
 * address at which it will run. */
#ifndef RUN_CLIENT_HOST_STUBS_H
#define RUN_CLIENT_HOST_STUBS_H

#include "base/base.h"

enum { STUB_BYTES = 16, STUB_TRAP_BYTES = 24 };
/* All code is to reach all other. */
enum { STUB_REACH = 384 << 20 };
/* Is what was written what runs, whatever the system is? See arena.c. */
enum { STUB_COHERENT = true };
/* Where stubs have the address that they lead to; 0: they become jumps. */
enum { STUB_LEADS_AT = 0 };

/* mov r11, pc; jmp lazy */
static inline void stub_write_lazy(u8 *w, const u8 *run, u64 pc, const u8 *lazy) {
    i32 distance = (i32)(lazy - (run + 15));
    memcpy(w, "\x49\xbb", 2);
    memcpy(w + 2, &pc, 8);
    w[10] = 0xe9;
    memcpy(w + 11, &distance, 4);
}

/* The distance of a jump at a site of quick code, in place of this word, so that it leads to the target. */
static inline u32 stub_site(u32 word, const u8 *site, const void *target) {
    (void)word;
    return (u32)((const u8 *)target - (site + 4));
}

/* jmp [rip]; the address follows */
static inline void stub_write_far(u8 *w, u64 to) {
    memcpy(w, "\xff\x25\0\0\0\0", 6);
    memcpy(w + 6, &to, 8);
}

/* The first eight bytes of code at `run` that jumps to the target, so that one store makes it a jump. */
static inline u64 stub_jump(const void *run, const void *target) {
    i32 distance = (i32)((const u8 *)target - ((const u8 *)run + 5));
    return 0xe9 | (u64)(u32)distance << 8;
}

/* A short jump to so many bytes in front of itself. */
typedef u16 StubBack;
static inline StubBack stub_back(u32 bytes) {
    return (u16)(0xeb | (u16)(u8)(-bytes - 2) << 8);
}

/* Sets the word at this offset of the guest's state and returns with pc, as translated code does: mov dword [r15+off], value; mov r15, pc; ret */
static inline void stub_write_trap(u8 w[STUB_TRAP_BYTES], u32 off, u32 value, u64 pc) {
    memcpy(w, "\x41\xc7\x87", 3);
    memcpy(w + 3, &off, 4);
    memcpy(w + 7, &value, 4);
    memcpy(w + 11, "\x49\xbf", 2);
    memcpy(w + 13, &pc, 8);
    w[21] = 0xc3;
}

/* mov eax, number; ret */
static inline void stub_write_number(u8 *w, u32 number) {
    w[0] = 0xb8;
    memcpy(w + 1, &number, 4);
    w[5] = 0xc3;
}

/* What was written to code at w is what runs: the CPU sees to that. */
static inline void stub_written(const u8 *w, const u8 *run, u64 bytes) {
    (void)w, (void)run, (void)bytes;
}

#endif
