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
    u32 maker;         /* the thread that waits for the server's answer about it; 0: none */
    u32 heat, past;    /* tier.c: its heat in this run, and in earlier ones */
    bool used;         /* this entry of the table is in use */
    bool asked;        /* its code was requested, or need not be */
    bool given_up;     /* its code was no gain, or none can be had */
    bool refused;      /* none can be had */
    bool alien;        /* its code was made from bytes of several modules */
} CodeEntry;

typedef struct Code {
    u8 *lazy;    /* trampoline to lathe_lazy */
    u8 *helpers; /* trampolines to the guest's helpers, one after the other */
    CodeEntry *map;
    u64 map_len, map_cap;
    u64 heat;      /* of all entries, in this run */
    u32 requests;  /* how many threads wait for an answer of the server */
    u32 news;      /* a futex that is counted up at each answer */
    bool any;      /* there is code, a stub, or a place that was given up */
    bool unserved; /* there is no server to be had */
    u8 *work;      /* scratch memory of the linker */
    u64 work_bytes;
} Code;

/* The entry of pc, or the free one where it would be, which is all zero. */
CodeEntry *entry_slot(CodeEntry *map, u64 cap, u64 pc);
/* What is known of pc: entry_known only looks, and returns an entry that is all zero if there is none; entry_for makes one then. Most addresses that
 * are asked for never get one. */
const CodeEntry *entry_known(const Code *c, u64 pc);
CodeEntry *entry_for(Code *c, u64 pc);
/* entry_row: the row of a thread's own table that pc may be in. entry_prepare_rows: makes memory that is all zero a table without targets; even
 * address 0, to which a guest may jump, is no target then. entry_empty_rows: empties the tables of all threads. */
TableEntry *entry_row(Thread *t, u64 pc);
void entry_prepare_rows(Thread *t);
void entry_empty_rows(void);

/* Makes a stub that asks for the code of pc when it is reached. */
u8 *stub_new(const Code *c, u64 pc);
/* Makes code in the arena that jumps to an address of the client's program, which may be far away. */
u8 *trampoline_new(const void *to);
/* Makes the stub a jump to the target. */
void stub_redirect(void *stub, const void *target);
/* Makes all direct ways to the entry's code lead to a stub that asks anew: its first instruction, its stub, and the way to quick code. */
void entry_to_lazy(const Code *c, CodeEntry *e);

/* objects.c: makes trampolines to what code of the optimising tier calls; called before there is any code. */
void objects_init(Code *c);
/* Links an object and returns the code of the function at pc; NULL: the object cannot be used. base: the guest address that names in it are relative to. */
void *objects_add(Code *c, const void *object, u32 size, u64 base, u64 pc);

#endif
