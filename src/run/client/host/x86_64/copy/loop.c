/* loop.c: see code/quick/emit.h: a repeated string instruction as a loop of passes, for tools that see each of them:
 *
 *     1:  jrcxz 2f              (by long jumps)
 *         ...                   one pass
 *         lea -1(%rcx), %rcx    so that the flags stay what the pass has left
 *         jne 2f                if it compares, by its prefix
 *         jmp 1b
 *     2: */
#include "isa/x86_64/scan.h"
#include "run/client/host/x86_64/copy/copy.h"
#include "run/client/host/x86_64/copy/encode.h"

enum { REPE = 0xf3, REPNE = 0xf2 };

static Scan scan(const Emitter *e, u64 bytes) {
    Scan s;
    CHECK(scan_insn((const u8 *)e->pc, bytes, &s) && s.rep, "a repeated instruction");
    return s;
}

const u8 *loop_one_pass(const u8 *text, Shape *shape, u8 single[SHAPE_BYTES]) {
    u32 n = 0;
    for (u32 i = 0; i < shape->length; i++)
        if (i >= shape->opcode_at || (text[i] != REPE && text[i] != REPNE))
            single[n++] = text[i];
    CHECK(shape_of(single, n, shape), "the prefix is no part of what is repeated");
    return single;
}

static void set_distance(u8 *site, const u8 *target) {
    i32 distance = (i32)(target - (site + 4));
    memcpy(arena_writable(site), &distance, 4);
}

EmitLoop emit_loop_begin(Emitter *e, u64 bytes) {
    EmitLoop loop = {.begin = e->at};
    if (scan(e, bytes).address32)
        put8(e, ADDRESS32);
    put(e, "\xe3\x02\xeb\x05\xe9", 5); /* jrcxz 1f; jmp 2f; 1: jmp the end; 2: */
    loop.site = e->at;
    put32(e, 0);
    return loop;
}

void emit_loop_count(Emitter *e, u64 bytes) {
    if (!scan(e, bytes).address32)
        put8(e, REX | REX_W);
    put(e, "\x8d\x49\xff", 3); /* lea -1(%rcx), %rcx or %ecx */
}

/* jrcxz over what leaves, with a word of the Thread in rcx. */
static void put_leave_if(Emitter *e, u32 off, u32 exit) {
    enum { JRCXZ = 0xe3 };
    unspill(e, RCX, off);
    put8(e, JRCXZ);
    u8 *over = e->at;
    put8(e, 0);
    unspill(e, RCX, THREAD_SPILL_BASE);
    emit_leave(e, exit);
    *arena_writable(over) = (u8)(e->at - (over + 1));
}

void emit_leave_if_asked(Emitter *e, u32 exit) {
    spill(e, RCX, THREAD_SPILL_BASE);
    put_leave_if(e, offsetof(Thread, pending_signals), exit);
    put_leave_if(e, THREAD_STOP, exit);
    unspill(e, RCX, THREAD_SPILL_BASE);
}

static bool compares(const Scan *s) {
    enum { CMPS = 0xa6, SCAS = 0xae };
    u8 opcode = s->bytes[s->opcode_at] & 0xfe;
    return opcode == CMPS || opcode == SCAS;
}

void emit_loop_end(Emitter *e, u64 bytes, const EmitLoop *loop) {
    enum { JE_OVER = 0x74, JNE_OVER = 0x75, JUMP_BYTES = 5 };
    Scan s = scan(e, bytes);
    if (compares(&s)) {
        put8(e, s.rep == REPE ? JNE_OVER : JE_OVER);
        put8(e, JUMP_BYTES);
    }
    put8(e, 0xe9);
    put32(e, 0);
    set_distance(e->at - 4, loop->begin);
    set_distance(loop->site, e->at);
}
