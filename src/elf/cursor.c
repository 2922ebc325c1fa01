/* cursor.c: see cursor.h. */
#include "elf/cursor.h"

#include <dwarf.h>

u64 cursor_take(Cursor *c, unsigned bytes) {
    u64 v = 0;
    if (!c->ok || (size_t)(c->end - c->at) < bytes) {
        c->ok = false;
        return 0;
    }
    memcpy(&v, c->at, bytes);
    c->at += bytes;
    c->addr += bytes;
    return v;
}

void cursor_skip(Cursor *c, u64 bytes) {
    c->ok = c->ok && bytes <= (u64)(c->end - c->at);
    if (!c->ok)
        return;
    c->at += bytes;
    c->addr += bytes;
}

/* The number's bits, how many there are, and its last byte, which has the sign. */
static u64 take_leb(Cursor *c, unsigned *bits, u8 *last) {
    u64 v = 0;
    *bits = 0;
    do {
        *last = (u8)cursor_take(c, 1);
        if (*bits < 64)
            v |= (u64)(*last & 0x7f) << *bits;
        *bits += 7;
    } while (c->ok && *last & 0x80);
    return v;
}

u64 cursor_unsigned(Cursor *c) {
    unsigned bits;
    u8 last;
    return take_leb(c, &bits, &last);
}

i64 cursor_signed(Cursor *c) {
    unsigned bits;
    u8 last;
    u64 v = take_leb(c, &bits, &last);
    return (i64)(bits < 64 && last & 0x40 ? v | ~(u64)0 << bits : v);
}

u64 cursor_number(Cursor *c, u8 encoding) {
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return cursor_take(c, 8);
    case DW_EH_PE_udata4:
        return cursor_take(c, 4);
    case DW_EH_PE_sdata4:
        return (u64)(i32)cursor_take(c, 4);
    case DW_EH_PE_udata2:
        return cursor_take(c, 2);
    case DW_EH_PE_sdata2:
        return (u64)(i16)cursor_take(c, 2);
    case DW_EH_PE_uleb128:
        return cursor_unsigned(c);
    case DW_EH_PE_sleb128:
        return (u64)cursor_signed(c);
    default:
        c->ok = false;
        return 0;
    }
}

u64 cursor_address(Cursor *c, u8 encoding) {
    u64 here = c->addr, v = cursor_number(c, encoding);
    switch (encoding & 0xf0) {
    case DW_EH_PE_absptr:
        return v;
    case DW_EH_PE_pcrel:
        return v + here;
    default:
        c->ok = false;
        return 0;
    }
}
