/* link.h: links one ELF64 relocatable object of the machine that this runs on (small code model) into memory that the caller provides.
 *
 *     LinkNeeds needs;
 *     link_measure(object, size, &needs);            // how much memory, how aligned
 *     LinkPlace place = { … };                       // where it is written, and at which addresses it will run
 *     link_place(object, size, &place);              // copy, resolve, relocate
 *     link_symbols(object, size, &place, define, user);
 *
 * An object has two parts: code with its constants, which is not written at run time, and writable data. Each is
 * written at one address and runs at another, or the same. The object may hold any bytes: what is damaged or of another
 * kind is LATHE_ERR_LINK. Needs nothing of libc but string.h, allocates nothing, keeps nothing. */
#ifndef CODEGEN_LINK_H
#define CODEGEN_LINK_H

#include <lathe/types.h>

#include "base/base.h"

typedef struct LinkNeeds {
    u64 code_bytes, data_bytes;
    u64 align;      /* of both parts; a power of two up to LINK_MAX_ALIGN */
    u64 work_bytes; /* scratch memory of link_place, aligned to 8 */
    u64 slots_off;  /* in the code part: the table of far addresses, for the linker itself */
} LinkNeeds;

#define LINK_MAX_ALIGN 4096
#define LINK_UNWIND_END_BYTES 4 /* zeros behind .eh_frame, which is among the data */

/* Where the undefined symbol `name` is; false: nowhere. */
typedef bool LinkResolve(void *user, const char *name, u64 *address);

/* Eight bytes at the run-time address `place` hold an address: where everything is moved together, it changes. */
typedef void LinkMoves(void *user, u64 place);

typedef struct LinkPlace {
    u8 *code_write, *data_write;
    u64 code_run, data_run;
    void *work; /* must live until after link_symbols */
    LinkResolve *resolve;
    void *user;       /* for resolve and moves */
    LinkMoves *moves; /* may be NULL */
} LinkPlace;

LatheStatus link_measure(const void *object, size_t size, LinkNeeds *needs);

/* The same object as was measured. The memory's contents are undefined on failure. */
LatheStatus link_place(const void *object, size_t size, const LinkPlace *place);

/* A section of an object that was placed, and is part of the image; false: there is none of that name. */
bool link_section(const void *object, size_t size, const LinkPlace *place, const char *name, u64 *address, u64 *bytes);

/* Calls `define` for each global symbol of an object that was placed. */
typedef void LinkDefine(void *user, const char *name, u64 address, u64 size);
void link_symbols(const void *object, size_t size, const LinkPlace *place, LinkDefine *define, void *user);

#endif
