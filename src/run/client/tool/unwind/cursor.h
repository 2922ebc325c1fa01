/* cursor.h: reads numbers as DWARF writes them, out of bytes that may be damaged: behind the end everything is zero, and `bad` says so. */
#ifndef RUN_CLIENT_TOOL_CURSOR_H
#define RUN_CLIENT_TOOL_CURSOR_H

#include "base/base.h"

typedef struct Cursor {
    const u8 *at, *end;
    bool bad;
} Cursor;

static inline bool cursor_has(Cursor *c, u64 size) {
    c->bad |= (u64)(c->end - c->at) < size;
    return !c->bad;
}

static inline void cursor_skip(Cursor *c, u64 size) {
    if (cursor_has(c, size))
        c->at += size;
}

/* A number of up to 8 bytes. */
static inline u64 cursor_fixed(Cursor *c, u32 size) {
    u64 value = 0;
    if (!cursor_has(c, size))
        return 0;
    memcpy(&value, c->at, size);
    c->at += size;
    return value;
}

static inline u8 cursor_byte(Cursor *c) {
    return (u8)cursor_fixed(c, 1);
}

/* A signed one. */
static inline i64 cursor_signed(Cursor *c, u32 size) {
    u32 shift = 64 - 8 * size;
    return (i64)(cursor_fixed(c, size) << shift) >> shift;
}

static inline u64 cursor_uleb(Cursor *c) {
    u64 value = 0;
    u32 shift = 0;
    for (u8 byte = 0x80; byte & 0x80 && !c->bad; shift += 7) {
        byte = cursor_byte(c);
        value |= shift < 64 ? (u64)(byte & 0x7f) << shift : 0;
    }
    return value;
}

static inline i64 cursor_sleb(Cursor *c) {
    u64 value = 0;
    u32 shift = 0;
    u8 byte = 0x80;
    while (byte & 0x80 && !c->bad) {
        byte = cursor_byte(c);
        value |= shift < 64 ? (u64)(byte & 0x7f) << shift : 0;
        shift += 7;
    }
    return shift < 64 && byte & 0x40 ? (i64)(value | ~(u64)0 << shift) : (i64)value;
}

/* A part of so many bytes, behind which this goes on. */
static inline Cursor cursor_part(Cursor *c, u64 size) {
    Cursor part = {c->at, c->at, true};
    if (cursor_has(c, size))
        part = (Cursor){c->at, c->at + size, false};
    cursor_skip(c, size);
    return part;
}

#endif
