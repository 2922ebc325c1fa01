/* copy.c: quick code where guest and host are the same kind of machine (see code/quick/emit.h): finds where each instruction ends, and has
 * copy_emit.c copy it. */
#include "run/client/host/x86_64/copy/copy.h"

#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/quick.h"
#include "run/client/host/x86_64/copy/encode.h"

void emit_prepare(void) {
}

/* True if these bytes are the beginning of an instruction, the rest of which cannot be read. */
static bool is_cut_off(const u8 *text, u64 bytes) {
    u8 longer[2 * SHAPE_BYTES] = {0};
    Shape shape;
    if (bytes >= SHAPE_BYTES || shape_of(text, bytes, &shape))
        return false;
    memcpy(longer, text, bytes);
    return shape_of(longer, sizeof(longer), &shape);
}

/* The code of calls, returns and computed jumps is long enough by itself. Other jumps do not count, because their displacement is changed at any time. */
bool emit_can_switch(u64 pc, u64 bytes) {
    Shape s;
    for (u64 sum = 0; sum < PUT_SWITCH_BYTES; sum += s.length) {
        if (sum >= bytes || !shape_of((const u8 *)(pc + sum), bytes - sum, &s))
            return false;
        if (s.kind == SHAPE_CALL || s.kind == SHAPE_RET || s.kind == SHAPE_JMP_INDIRECT ||
            s.kind == SHAPE_CALL_INDIRECT)
            return true;
        if (s.kind != SHAPE_PLAIN)
            return false;
    }
    return true;
}

EmitResult emit_next(Emitter *e, u64 bytes, u64 *next) {
    const u8 *text = (const u8 *)e->pc;
    Shape shape;
    u8 single[SHAPE_BYTES];
    *next = e->pc + 1;
    if (bytes && shape_of(text, bytes, &shape)) {
        e->next = *next = e->pc + shape.length;
        u32 kept = (e->kept_pc == e->pc ? e->kept : 0) | e->aside;
        if (kept)
            kept_add(e->at, kept);
        e->kept = 0;
        e->text = e->one_pass ? loop_one_pass(text, &shape, single) : text;
        return emit_insn(e, &shape);
    }
    ExitKind kind = bytes ? EXIT_UNDEFINED : EXIT_UNREADABLE;
    if (bytes && is_cut_off(text, bytes)) {
        *next = e->pc + bytes + 1; /* what is mapped behind it makes another instruction of it */
        kind = EXIT_UNREADABLE;
    }
    return (EmitResult){.ends = true, .exits = true, .exit = {kind, e->pc, NULL}};
}

void emit_rest(Emitter *e) {
    put_cold(e);
    for (u32 i = 0; i < e->calls; i++) {
        bool flags = flags_are_read(e->call[i].next);
        if (flags)
            e->call[i].slot = 0;
        EmitSites sites = emit_call_rest(e, &e->call[i]);
        if (sites.other)
            exit_new(EXIT_LINKAGE, e->call[i].pc, sites.other);
        if (sites.jump)
            exit_new(sites.other ? EXIT_UNBOUND : flags ? EXIT_CALL_FLAGS : EXIT_CALL, e->call[i].pc, sites.jump);
        else if (flags)
            quick_keep_flags(true);
    }
}

/* Recognises by its bytes how far the code of an instruction has come. Code that needs registers begins with their spills, which address gs; nothing
 * that is copied does. gs.c's code for string instructions has one spill, loads the guest's base, and adds it to rsi. */
void emit_note_spills(QuickPlace *place, const u8 *code, u64 host) {
    enum { SPILL_BYTES = 9 };
    u32 count = 0;
    place->kept = kept_at(code) & LIVE_ALL;
    for (; count < 2 && code[0] == GS && code[2] == 0x89 && host > (u64)code; count++, code += SPILL_BYTES) {
        place->spilled[count] = code[3] >> 3 & 7;
        memcpy(&place->spill_off[count], code + 5, 4);
    }
    /* Then fs is read, kept, and written. */
    bool borrows = count == 1 && !memcmp(code, READ_FS_BASE, sizeof(READ_FS_BASE) - 1);
    place->borrows_fs = borrows && host >= (u64)code + 2 * (sizeof(READ_FS_BASE) - 1) + 2 * SPILL_BYTES;
    const u8 *lea = code + SPILL_BYTES;
    if (count == 1 && place->spilled[0] == RBP && host > (u64)lea &&
        !memcmp(lea, GS_STRING_LEA, sizeof(GS_STRING_LEA) - 1))
        place->based = RSI;
}
