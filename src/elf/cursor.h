/* cursor.h: reading numbers and addresses of the unwind tables, encoded as DWARF has it. */
#ifndef ELF_CURSOR_H
#define ELF_CURSOR_H

#include "base/base.h"

/* A place in the tables; reading stops with ok = false at `end`. */
typedef struct Cursor {
    const u8 *at, *end;
    u64 addr; /* of `at` */
    bool ok;
} Cursor;

u64 cursor_take(Cursor *c, unsigned bytes);
u64 cursor_unsigned(Cursor *c); /* LEB128 */
i64 cursor_signed(Cursor *c);
void cursor_skip(Cursor *c, u64 bytes);

/* A number of the encoding's format (DW_EH_PE_…), without what it is relative to; and with that, where it is an address. */
u64 cursor_number(Cursor *c, u8 encoding);
u64 cursor_address(Cursor *c, u8 encoding);

#endif
