/* linkage.c: calls through a PLT. The code that is called only jumps by a word in memory, which the dynamic linker writes once:
 *
 *     call printf@plt          printf@plt: jmp *word(%rip)
 *
 * So the call itself compares the word with the function that it led to first, and goes to that function directly:
 *
 *     cmpq $printf, word(%rip)
 *     jne printf@plt
 *     jmp printf
 *
 * It changes the flags, which nobody can hand over this way: the linker, which is asked at the first call, does not keep them either. */
#include "run/client/code/quick/map.h"
#include "run/client/code/quick/quick.h"
#include "run/client/host/x86_64/copy/encode.h"
#include "run/client/memory/peek.h"

static const u8 endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
enum { BND = 0xf2, PUSH_IMMEDIATE = 0x68, JUMP_BYTES = 6, PLT_BYTES = 16 };

/* Skips what marks a target of computed jumps. */
static const u8 *skip_mark(const u8 *code) {
    return memcmp(code, endbr64, sizeof(endbr64)) ? code : code + sizeof(endbr64);
}

/* Code that the guest can write to does not count, because it may be other code soon. */
u64 linkage_slot(u64 pc) {
    if (!map_covers(pc) || quick_code_bytes(pc) < PLT_BYTES)
        return 0;
    const u8 *jump = skip_mark((const u8 *)pc);
    jump += *jump == BND;
    if (jump[0] != 0xff || jump[1] != 0x25 || space_prot(pc) & PROT_WRITE)
        return 0;
    i32 distance;
    memcpy(&distance, jump + 2, sizeof(distance));
    u64 slot = (u64)jump + JUMP_BYTES + (u64)(i64)distance;
    return map_covers(slot) ? slot : 0;
}

/* The immediate ends in front of the jump's two bytes of opcode. */
static u8 *immediate_of(u8 *site) {
    return site - 2 - 4;
}

/* Both the immediate and the displacement are changed while other threads come by, so neither crosses the border of 8 aligned bytes: the first
 * begins two to four bytes behind one. */
u8 *put_linkage(Emitter *e, u64 slot) {
    enum { COMPARE_BYTES = 11, BEFORE_IMMEDIATE = 7 };
    while (((u64)e->at + BEFORE_IMMEDIATE) % 8 < 2 || ((u64)e->at + BEFORE_IMMEDIATE) % 8 > 4)
        put8(e, 0x90);
    put(e, "\x48\x81\x3d", 3);
    put32(e, (u32)(slot - ((u64)e->at + COMPARE_BYTES - 3)));
    put32(e, 0);
    put(e, "\x0f\x85", 2);
    e->at += 4;
    return e->at - 4;
}

static u64 slot_of(u8 *site) {
    const u8 *immediate = immediate_of(site);
    i32 distance;
    memcpy(&distance, immediate - 4, sizeof(distance));
    return (u64)immediate + 4 + (u64)(i64)distance;
}

/* True if the word leads to a function. Before the first call it leads to code that pushes a number and asks the dynamic linker. */
static bool is_bound(u64 target) {
    bool readable = map_covers(target) && quick_code_bytes(target) >= PLT_BYTES;
    return readable && *skip_mark((const u8 *)target) != PUSH_IMMEDIATE;
}

bool emit_linkage(u64 pc, u8 *site, u64 *target) {
    u64 slot = slot_of(site);
    return linkage_slot(pc) == slot && copy_guarded(target, (const void *)slot, sizeof(*target)) && is_bound(*target);
}

void emit_set_linkage(u8 *site, u64 target) {
    __atomic_store_n((u32 *)arena_writable(immediate_of(site)), (u32)target, __ATOMIC_RELEASE);
}
