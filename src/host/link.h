/* link.h: what an object of the machine that this runs on looks like to who links it into the process (codegen/link.c). */
#ifndef HOST_LINK_H
#define HOST_LINK_H

#include "base/base.h"

/* What a relocation writes: S is the symbol, A the addend, P the place, G a slot that holds S, and J a jump to S in that slot. */
typedef enum HostRelocation {
    RELOCATION_UNKNOWN,
    RELOCATION_NONE,
    RELOCATION_ABSOLUTE_64,        /* S + A */
    RELOCATION_RELATIVE_64,        /* S + A - P */
    RELOCATION_ABSOLUTE_32,        /* S + A, zero-extended */
    RELOCATION_ABSOLUTE_SIGNED_32, /* S + A, sign-extended */
    RELOCATION_ABSOLUTE_8,         /* S + A */
    RELOCATION_RELATIVE_32,        /* S + A - P */
    RELOCATION_CALL_32,            /* S + A - P, or J + A - P where S is too far away */
    RELOCATION_SLOT_32,            /* G + A - P */
    RELOCATION_ADD_32,             /* what is there, and S + A */
    RELOCATION_SUBTRACT_32,        /* what is there, less S + A */
    /* In fields of an instruction of four bytes, by HostLink.insert. Pages are of 4 KiB. */
    RELOCATION_FIELD_ABSOLUTE,      /* S + A */
    RELOCATION_FIELD_RELATIVE,      /* S + A - P */
    RELOCATION_FIELD_PAGE,          /* from P's page to that of S + A */
    RELOCATION_FIELD_CALL,          /* S + A - P, or J + A - P where S is too far away */
    RELOCATION_FIELD_SLOT,          /* G + A */
    RELOCATION_FIELD_SLOT_PAGE,     /* from P's page to that of G + A */
    RELOCATION_FIELD_SLOT_RELATIVE, /* G + A - P */
    RELOCATION_FIELD_RELATIVE_PAIR, /* S + A - P, in two instructions */
    RELOCATION_FIELD_REST,          /* what the relocation at S writes: this instruction has another part of that */
} HostRelocation;

enum { HOST_SLOT_JUMP_BYTES = 8 };

typedef struct HostLink {
    u32 elf_machine;
    u32 unwind_section; /* the type of sections with unwind tables; 0: they are like constants */
    u8 fill;            /* between functions: a byte that traps, or four of it */
    u8 slot_jump
        [HOST_SLOT_JUMP_BYTES]; /* a jump to the address in the eight bytes before it, if a call may be too far away */
    HostRelocation (*relocation)(u32 type);
    /* For RELOCATION_FIELD_*: puts a value into the fields that relocations of this type mean. False: it does not fit. NULL: there are none such. */
    bool (*insert)(u32 type, u8 *code, u64 value);
} HostLink;

extern const HostLink host_link;

/* The page of an address, by which code of hosts like aarch64 reaches data: RELOCATION_FIELD_PAGE is the distance between two of them. */
static inline u64 page_of(u64 address) {
    return address & ~(u64)0xfff;
}

#endif
