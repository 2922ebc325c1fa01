/* encode.h: instructions of quick code that was copied, for copy.c, copy_emit.c and gs.c. */
#ifndef RUN_CLIENT_QUICK_ENCODE_H
#define RUN_CLIENT_QUICK_ENCODE_H

#include "host_put.h"
#include "isa/x86_64/facts.h"
#include "run/client/host/x86_64/copy/copy.h"

enum { RM_SP = RSP }; /* in ModRM: a SIB byte follows */
enum { FS = 0x64, GS = 0x65, ADDRESS32 = 0x67, REX = 0x40, REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1 };
enum { VEX3 = 0xc4, VEX2 = 0xc5, EVEX = 0x62, XOP_FIRST = 0x8f };

/* lea (%rsi,%rbp), %rsi: where gs.c has the guest's base in rbp, before a string instruction. */
#define GS_STRING_LEA "\x48\x8d\x34\x2e"
/* rdfsbase %rbp, wrfsbase %rbp: where gs.c makes the guest's gs the base of fs for one instruction. */
#define READ_FS_BASE "\xf3\x48\x0f\xae\xc5"
#define WRITE_FS_BASE "\xf3\x48\x0f\xae\xd5"

/* A register of the first eight, and a place in the Thread: mov in the direction of the opcode. */
static inline void put_thread_mov(Emitter *e, u8 opcode, u32 reg, u32 off) {
    const u8 text[] = {GS, REX | REX_W, opcode, (u8)(RM_SP | reg << 3), 0x25};
    put(e, text, sizeof(text));
    put32(e, off);
}

/* emit_note_spills recognises these by their bytes where they begin an instruction's code. */
static inline void spill(Emitter *e, u32 reg, u32 off) {
    put_thread_mov(e, 0x89, reg, off);
}

static inline void unspill(Emitter *e, u32 reg, u32 off) {
    put_thread_mov(e, 0x8b, reg, off);
}

/* mov $value, reg */
static inline void put_constant(Emitter *e, u32 reg, u64 value) {
    put8(e, REX | REX_W);
    put8(e, 0xb8 + reg);
    put(e, &value, 8);
}

/* A register that VEX or EVEX names beside the operands in ModRM; 16: none. */
static inline u32 third_register(const u8 *insn, const Shape *s) {
    const u8 *first = insn + s->opcode_at;
    if (s->opcode_at >= 2 && first[-2] == VEX2)
        return ~(u32)first[-1] >> 3 & 15;
    if (s->opcode_at >= 3 && (first[-3] == VEX3 || first[-3] == XOP_FIRST))
        return ~(u32)first[-1] >> 3 & 15;
    if (s->opcode_at >= 4 && first[-4] == EVEX)
        return ~(u32)first[-2] >> 3 & 15;
    return 16;
}

#endif
