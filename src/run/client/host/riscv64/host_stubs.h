/* host_stubs.h: small pieces of code that lead elsewhere, in the host's instructions. They are written at w, and run at `run`.
 *
 * A direct jump reaches 1 MiB only, so stubs load the address that they lead to from a place behind their code, and one store there makes them lead elsewhere. */
#ifndef RUN_CLIENT_HOST_STUBS_H
#define RUN_CLIENT_HOST_STUBS_H

#include "base/base.h"
#include "guest_cpu.h"
#include "host_call.h"
#include "host_stub_parts.h"

enum { STUB_BYTES = 32, STUB_TRAP_BYTES = 32 };
/* Pairs of instructions reach 2 GiB. All code is to reach all other. */
enum { STUB_REACH = 384 << 20 };
/* Is what was written what runs, whatever the system is? See arena.c. */
enum { STUB_COHERENT = false };
/* Where stubs have the address that they lead to. */
enum { STUB_LEADS_AT = STUB_ADDRESS };

enum { STUB_ZERO = 0, STUB_RA = 1, STUB_T1 = 6, STUB_T2 = 7, STUB_A0 = 10 }; /* numbers of registers */

static inline void stub_put(u8 *w, u32 word) {
    memcpy(w, &word, sizeof(word));
}

static inline u32 stub_auipc(u32 to, u64 distance) {
    return 0x17 | to << 7 | (u32)((distance + 0x800) & 0xfffff000);
}

static inline u32 stub_ld(u32 to, u32 base, u32 off) {
    return 0x3003 | to << 7 | base << 15 | off << 20;
}

static inline u32 stub_sw(u32 from, u32 base, u32 off) {
    return 0x2023 | base << 15 | from << 20 | (off & 31) << 7 | off >> 5 << 25;
}

static inline u32 stub_jalr(u32 link, u32 base, u32 off) {
    return 0x67 | link << 7 | base << 15 | off << 20;
}

/* auipc t1, 0; ld t1, (behind the code); jalr link, t1; the address */
static inline void stub_write_linking(u8 *w, u32 link, const void *to) {
    stub_put(w, stub_auipc(STUB_T1, 0));
    stub_put(w + 4, stub_ld(STUB_T1, STUB_T1, STUB_ADDRESS));
    stub_put(w + 8, stub_jalr(link, STUB_T1, 0));
    memcpy(w + STUB_ADDRESS, &to, 8);
}

/* t2 is none of the registers by which CPUs guess returns. */
static inline void stub_write_lazy(u8 *w, const u8 *run, u64 pc, const u8 *lazy) {
    (void)run;
    stub_write_linking(w, STUB_T2, lazy);
    memcpy(w + STUB_PC, &pc, 8);
}

/* It leaves t2 alone. */
static inline void stub_write_far(u8 *w, u64 to) {
    stub_write_linking(w, STUB_ZERO, (const void *)to);
}

/* A jump to the target, where no thread is: auipc t1; jr t1 */
static inline u64 stub_jump(const void *run, const void *target) {
    u64 distance = (u64)target - (u64)run;
    return stub_auipc(STUB_T1, distance) | (u64)stub_jalr(STUB_ZERO, STUB_T1, (u32)distance & 0xfff) << 32;
}

/* No guest has quick code on this host, so there is no site to be changed. */
static inline u32 stub_site(u32 word, const u8 *site, const void *target) {
    (void)site, (void)target;
    return word;
}

/* c.j: a jump to so many bytes in front of itself, of two bytes. Threads may be at the second instruction. */
typedef u16 StubBack;
static inline StubBack stub_back(u32 bytes) {
    u32 off = -bytes;
    return (StubBack)(0xa001 | (off >> 11 & 1) << 12 | (off >> 4 & 1) << 11 | (off >> 8 & 3) << 9 |
                      (off >> 10 & 1) << 8 | (off >> 6 & 1) << 7 | (off >> 7 & 1) << 6 | (off >> 1 & 7) << 3 |
                      (off >> 5 & 1) << 2);
}

/* Sets the word at this offset of the guest's state and returns with pc, as translated code does: li t1, value; sw t1, off(a0); auipc t1, 0; ld t1, (pc);
 * sd t1, (the guest's pc); ret; pc */
static inline void stub_write_trap(u8 w[STUB_TRAP_BYTES], u32 off, u32 value, u64 pc) {
    stub_put(w, 0x13 | STUB_T1 << 7 | value << 20);
    stub_put(w + 4, stub_sw(STUB_T1, STUB_A0, off));
    stub_put(w + 8, stub_auipc(STUB_T1, 0));
    stub_put(w + 12, stub_ld(STUB_T1, STUB_T1, 16));
    stub_put(w + 16, 0x1000 | stub_sw(STUB_T1, STUB_A0, offsetof(GuestCpu, pc))); /* sd */
    stub_put(w + 20, stub_jalr(STUB_ZERO, STUB_RA, 0));
    memcpy(w + 24, &pc, 8);
}

/* li a0, number; ret */
static inline void stub_write_number(u8 *w, u32 number) {
    stub_put(w, 0x13 | STUB_A0 << 7 | number << 20);
    stub_put(w + 4, stub_jalr(STUB_ZERO, STUB_RA, 0));
}

/* What was written to code at w is what runs, on all CPUs of the process: only the kernel can see to that. */
static inline void stub_written(const u8 *w, const u8 *run, u64 bytes) {
    (void)w;
    __asm__ volatile("fence.i" : : : "memory");
    sys3(__NR_riscv_flush_icache, (u64)run, (u64)run + bytes, 0);
}

#endif
