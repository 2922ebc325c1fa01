/* entries.h: what the optimising tier knows of guest addresses: a table, and stubs that lead to code that is not there yet. Everything here is
 * called with the arena's lock held. */
#ifndef RUN_CLIENT_ENTRIES_H
#define RUN_CLIENT_ENTRIES_H

#include "run/client/core/client.h"

/* What is known of a guest address: its code, and a stub if somebody called it before it had any. */
typedef struct CodeEntry {
    u64 pc;
    void *code, *stub; /* run addresses; NULL: none */
    void *leave;       /* the way from optimised to quick code here */
    LatheRange span;   /* the guest bytes that its code was made from are in there */
    u32 maker;         /* the thread that has asked for its code; 0: none */
    u32 heat, past;    /* tier.c: its heat in this run, and in earlier ones */
    bool used, asked;  /* asked: no need to do so again */
    bool given_up;     /* its code was no gain, or there is none */
    bool refused;      /* there is none */
    bool alien;        /* made from bytes of several modules */
} CodeEntry;

typedef struct Code {
    u8 *lazy;    /* trampoline to lathe_lazy */
    u8 *helpers; /* trampolines to the guest's helpers, one after the other */
    CodeEntry *map;
    u64 map_len, map_cap;
    u64 heat;      /* of all entries, in this run */
    u32 requests;  /* that threads wait for */
    u32 news;      /* counts what came of requests */
    bool any;      /* code, stubs, or what is given up, at all */
    bool unserved; /* there is no server to be had */
    u8 *work;      /* scratch memory of the linker */
    u64 work_bytes;
} Code;

/* The entry of pc, or the free one where it would be, which is all zero. */
CodeEntry *entry_slot(CodeEntry *map, u64 cap, u64 pc);
/* To look at what is known of pc; and its entry, new if there was none. Most addresses that are asked for never have one. */
const CodeEntry *entry_known(const Code *c, u64 pc);
CodeEntry *entry_for(Code *c, u64 pc);
/* The row of a thread's table that pc may be in; and all rows of all threads are empty from now on. What is all zero becomes a table without
 * rows: not even address 0, to which a guest may jump, has one. */
TableEntry *entry_row(Thread *t, u64 pc);
void entry_prepare_rows(Thread *t);
void entry_empty_rows(void);

/* A stub that asks for the code of pc when it is reached. */
u8 *stub_new(const Code *c, u64 pc);
/* Code near all other code that jumps to an address of the client's program. */
u8 *trampoline_new(const void *to);
/* From now on the stub is a jump to the target. */
void stub_redirect(void *stub, const void *target);
/* Forget a translation: whoever calls its code directly, or its stub, gets to a stub that asks anew. */
void entry_to_lazy(const Code *c, CodeEntry *e);

/* objects.c: trampolines to what code of the optimising tier calls, before there is any code. */
void objects_init(Code *c);
/* The code of an object, linked; NULL: the object is no use. base: what names in it are relative to. */
void *objects_add(Code *c, const void *object, u32 size, u64 base, u64 pc);

#endif
