/* opcodes.c: see opcodes.h. */
#include "opcodes.h"

#include <stdio.h>

typedef struct Visitor {
    void (*visit)(void *self, const u8 *bytes, size_t size);
    void *self;
} Visitor;

/* Each opcode of a legacy map with each ModRM byte; the bytes after it make a SIB without base (25). */
static void each_of_map(const Visitor *v, const u8 *head, size_t head_size) {
    u8 bytes[32];
    memset(bytes, 0x25, sizeof bytes);
    memcpy(bytes, head, head_size);
    for (u32 i = 0; i < 0x10000; i++) {
        bytes[head_size] = (u8)(i >> 8);
        bytes[head_size + 1] = (u8)i;
        v->visit(v->self, bytes, sizeof bytes);
    }
}

static void each_legacy(const Visitor *v) {
    static const char *const prefixes[] = {"",         "\x66",     "\xf2",     "\xf3",     "\x67",    "\x48",
                                           "\x66\x48", "\x48\x66", "\xf3\x66", "\x66\xf2", "\x3e\xf2"};
    static const char *const maps[] = {"", "\x0f", "\x0f\x38", "\x0f\x3a"};
    for (size_t p = 0; p < ARRAY_LEN(prefixes); p++) {
        for (size_t m = 0; m < ARRAY_LEN(maps); m++) {
            char head[8];
            int size = snprintf(head, sizeof head, "%s%s", prefixes[p], maps[m]);
            each_of_map(v, (const u8 *)head, (size_t)size);
        }
    }
}

/* Each opcode of each map of VEX, EVEX and XOP, with each mandatory prefix, W and vector length, and a ModRM byte of
 * each form; `evex` is the last byte of an EVEX prefix. */
static void each_vector(const Visitor *v, u8 escape, size_t opcode_at, u8 evex) {
    static const u8 forms[] = {0x00, 0x04, 0x05, 0x44, 0x48, 0x84, 0x8d, 0xc0, 0xc8, 0xd0, 0xf8};
    u8 bytes[32];
    memset(bytes, 0x25, sizeof bytes);
    bytes[0] = escape;
    bytes[3] = evex;
    for (u32 i = 0; i < 32 * 4 * 4 * 256 * ARRAY_LEN(forms); i++) {
        u32 rest = i / ARRAY_LEN(forms), wide_long = rest >> 8 & 3, vvvv = 0x78;
        bytes[opcode_at] = (u8)rest;
        bytes[opcode_at + 1] = forms[i % ARRAY_LEN(forms)];
        bytes[1] = 0xe0 | (rest >> 12 & 0x1f);
        bytes[2] = (u8)((wide_long & 1) << 7 | vvvv | (wide_long & 2) << 1 | (rest >> 10 & 3));
        v->visit(v->self, bytes, sizeof bytes);
    }
}

void opcodes_each(void (*visit)(void *self, const u8 *bytes, size_t size), void *self) {
    Visitor v = {visit, self};
    each_legacy(&v);
    each_vector(&v, 0xc4, 3, 0);
    each_vector(&v, 0x62, 4, 0x08); /* no mask, v' as it must be without vvvv */
    each_vector(&v, 0x62, 4, 0x49); /* 512 bits, masked by k1 */
    each_vector(&v, 0x8f, 3, 0);
}
