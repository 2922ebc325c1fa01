/* unwind_tables.c: see unwind_tables.h. There is one CIE and one FDE. The rules describe calls only. Elsewhere the tables say that
 * there is no caller, so that code which walks the stack from a signal handler stops there. */
#include "binopt/x86_64/machine/unwind_tables.h"

#include "binopt/process/cfi.h"

enum { HEAD_BYTES = 64, CALL_BYTES = 128, ALIGN = 8 };

static u8 *put8(u8 *to, u8 v) {
    *to = v;
    return to + 1;
}

static u8 *put32(u8 *to, u32 v) {
    memcpy(to, &v, sizeof(v));
    return to + sizeof(v);
}

static u8 *put_uleb(u8 *to, u64 v) {
    for (; v >= 0x80; v >>= 7)
        to = put8(to, (u8)(v | 0x80));
    return put8(to, (u8)v);
}

static u8 *put_sleb(u8 *to, i64 v) {
    for (; v < -0x40 || v >= 0x40; v >>= 7)
        to = put8(to, (u8)(v | 0x80));
    return put8(to, v & 0x7f);
}

/* Padding is zero, which is the instruction that does nothing. */
static u8 *finish(u8 *start, u8 *end) {
    while ((end - start) % ALIGN)
        end = put8(end, 0);
    put32(start, (u32)(end - start - 4));
    return end;
}

static u8 *put_common(u8 *to) {
    static const u8 contents[] = {1, 'z', 'R', 0, 1, 0x78, CFI_RETURN_ADDRESS, 1, 0x1b};
    u8 *start = to;
    to = put32(put32(to, 0), 0);
    memcpy(to, contents, sizeof(contents)); /* data alignment is -8; addresses are relative and have 32 bits */
    to = put_uleb(put_uleb(put8(to + sizeof(contents), CFA_DEF_CFA), cfi_from_register(RSP)), SLOT_BYTES);
    to = put_uleb(put8(to, CFA_UNDEFINED), CFI_RETURN_ADDRESS);
    return finish(start, to);
}

/* Unwinders count from the caller's stack pointer, which is one slot above the return address. */
static u8 *put_call(u8 *to, const TableCall *c, u32 *at) {
    const CallFrame *f = c->frame;
    to = put32(put8(to, CFA_ADVANCE_4), c->start - *at);
    to = put8(to, CFA_REMEMBER);
    to = put_uleb(put_uleb(put8(to, CFA_DEF_CFA), cfi_from_register(f->base)), (u64)(SLOT_BYTES - f->base_off));
    to = put_uleb(put8(to, CFA_OFFSET | CFI_RETURN_ADDRESS), 1);
    for (u32 r = 0; r < GP_COUNT; r++)
        if (f->saved >> r & 1) {
            to = put_uleb(put8(to, CFA_OFFSET_EXTENDED_SF), cfi_from_register(r));
            to = put_sleb(to, (SLOT_BYTES - f->slot[r]) / SLOT_BYTES);
        }
    to = put32(put8(to, CFA_ADVANCE_4), c->end - c->start);
    *at = c->end;
    return put8(to, CFA_RESTORE_STATE);
}

u64 unwind_tables_most_bytes(size_t calls) {
    return calls ? HEAD_BYTES + CALL_BYTES * calls : 0;
}

void unwind_tables_put(u8 *to, u64 code, u64 code_bytes, const TableCall *calls, size_t count) {
    u8 *common = to, *start = put_common(to);
    u32 at = 0;
    to = put32(put32(start, 0), (u32)(start + 4 - common));
    to = put32(to, (u32)(code - (u64)to));
    to = put8(put32(to, (u32)code_bytes), 0);
    for (size_t i = 0; i < count; i++)
        to = put_call(to, &calls[i], &at);
    put32(finish(start, to), 0);
}
