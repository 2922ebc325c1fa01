/* put.c: see host_put.h and code/quick/emit.h. */
#include "host_put.h"

/* A site may not cross the border of 8 aligned bytes: another thread sees it changed as a whole. */
enum { SITE_ALIGN = 8, SITE_BYTES = 4 };

void put_set(Emitter *e, u32 off, u32 value) {
    put(e, "\x65\xc7\x04\x25", 4);
    put32(e, off);
    put32(e, value);
}

void put_thread_add(Emitter *e, u32 off) {
    put(e, "\x65\x48\x81\x04\x25", 5);
    put32(e, off);
    put32(e, 0);
}

void put_thread_jump(Emitter *e, u32 off) {
    put(e, "\x65\xff\x24\x25", 4);
    put32(e, off);
}

void put_alignment(Emitter *e, u64 before) {
    static const char *const nops[] = {"", "\x90", "\x66\x90", "\x0f\x1f\x00"};
    u64 at = ((u64)e->at + before) % SITE_ALIGN;
    if (at > SITE_ALIGN - SITE_BYTES)
        put(e, nops[SITE_ALIGN - at], SITE_ALIGN - at);
}

u8 *put_site(Emitter *e, const void *opcode, size_t n) {
    put_alignment(e, n);
    put(e, opcode, n);
    e->at += SITE_BYTES;
    return e->at - SITE_BYTES;
}

static void put_exit(Emitter *e, u32 value, u32 where) {
    put_set(e, THREAD_EXIT, value);
    put_thread_jump(e, where);
}

void emit_set_amount(u8 *site, i32 amount) {
    memcpy(arena_writable(site), &amount, sizeof(amount));
}

u8 *emit_jump(Emitter *e) {
    return put_site(e, "\xe9", 1);
}

void emit_leave(Emitter *e, u32 exit) {
    put_exit(e, exit, THREAD_LEAVE);
}

u8 *emit_cross(const u8 *target, bool to_quick) {
    Emitter e;
    e.at = arena_code(emit_entry_bytes + EMIT_LEAVE_BYTES, 16);
    if (the.map && !to_quick)
        emit_entry(&e);
    u8 *stub = e.at;
    put_exit(&e, (u32)((u64)target - the.code_base), to_quick ? THREAD_CROSS_LEAVE : THREAD_CROSS_ENTER);
    return stub;
}

/* All registers but rax are the same afterwards: C keeps rbx, rbp and r12 to r15, and helpers are compiled not to use those for floating point. The stack may
 * be aligned to 8 bytes only. */
void put_helper(Emitter *e, u64 function, bool with_state) {
    u8 *start = e->at;
    put(e, "\x51\x52\x56\x57\x41\x50\x41\x51\x41\x52\x41\x53", 12); /* push rcx, rdx, rsi, rdi, r8, r9, r10, r11 */
    if (with_state)
        put(e, "\x49\x89\xc0\x48\x89\xce\x4c\x89\xd9\x4c\x89\xef",
            12); /* mov %rax, %r8; %rcx, %rsi; %r11, %rcx; %r13, %rdi */
    else
        put(e, "\x48\x89\xcf\x48\x89\xd6\x4c\x89\xda\x48\x89\xc1",
            12); /* mov %rcx, %rdi; %rdx, %rsi; %r11, %rdx; %rax, %rcx */
    put_set(e, THREAD_HELPING, 1);
    put(e, "\xe8", 1); /* call */
    put32(e, (u32)(function - ((u64)e->at + 4)));
    put_set(e, THREAD_HELPING, 0);
    put(e, "\x41\x5b\x41\x5a\x41\x59\x41\x58\x5f\x5e\x5a\x59\xc3", 13); /* pop them; ret */
    e->at = start + PUT_HELPER_BYTES;
}
