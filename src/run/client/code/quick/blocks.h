/* blocks.h: the tables of the quick tier: blocks by the guest page they lie in, their exits, and what threads have looked up.
 * Whoever is here holds the arena's lock. */
#ifndef RUN_CLIENT_QUICK_BLOCKS_H
#define RUN_CLIENT_QUICK_BLOCKS_H

#include "run/client/code/quick/emit.h"
#include "run/client/core/client.h"
#include "run/client/memory/array.h"

enum { PAGE_SHIFT = 12 };

typedef struct QuickBlock {
    u64 pc;
    u8 *code;
    u32 size, code_size; /* bytes of guest and host */
    u32 lens;            /* where the lengths of its instructions begin: an InsnLens each */
    u32 insns;
    u32 next[2];           /* in the lists of the first and the last page it touches; numbers are from 1 */
    u32 incoming;          /* exits that lead here */
    u32 first_site, sites; /* of a tool (tool/sites.h) */
    u8 *enter;             /* optimised code for its first instruction takes over by this; NULL: there is none */
    bool entry;            /* a function begins here */
    bool goes_on;          /* behind its last instruction is a jump to the next one */
    bool inside;           /* it begins in the middle of what a tool sees as a block, */
    bool ends_inside;      /* and goes on there */
    bool dead;
    u32 text; /* suspend.c: where its bytes are kept, from 1; 0: they are not */
} QuickBlock;

typedef struct Exit {
    u64 pc;
    u8 *site, *stub; /* the displacement of its jump, and where that leads without a target; NULL: none (yet) */
    u64 under;       /* of EXIT_ONCE: the code in whose place it is */
    u32 next;        /* of the target's incoming ones; of EXIT_SPECIAL: the visit behind it, or 0 */
    u8 kind;
    bool linked; /* is one of them; EXIT_ONCE: was used */
} Exit;

typedef struct Page {
    u64 number;
    u32 first;     /* block; 0: none (any more) */
    u32 suspended; /* suspend.c: the first dead block that begins here and may come back; 0: none */
    u32 known; /* number of its bitmap: where instructions of blocks begin; what is forgotten may stay behind in it */
    bool used, guarded;
    bool views_guarded; /* its other views: see views.c */
} Page;

typedef struct Blocks {
    Array blocks, exits, lens;
    Array bitmaps; /* of pages */
    Array texts;   /* guest bytes of blocks that may be suspended */
    Page *pages;
    u64 page_count, page_cap;
    u32 dead;       /* blocks */
    u64 tables_age; /* see quick_tables_age */
    u8 *stubs, *stubs_end;
} Blocks;

extern Blocks quick_all;

static inline QuickBlock *block_no(u32 number) {
    return (QuickBlock *)quick_all.blocks.at + number - 1;
}

static inline Exit *exit_no(u32 number) {
    return (Exit *)quick_all.exits.at + number - 1;
}

static inline u32 block_count(void) {
    return (u32)(quick_all.blocks.len / sizeof(QuickBlock));
}

static inline u32 exit_count(void) {
    return (u32)(quick_all.exits.len / sizeof(Exit));
}

/* How many bytes an instruction has in guest and in host code. What a tool does before or behind one is like an instruction of no guest bytes. */
enum { HOST_LENGTH_BITS = 13 - GUEST_LENGTH_BITS };
typedef struct InsnLens {
    u16 guest : GUEST_LENGTH_BITS, host : HOST_LENGTH_BITS;
    u16 head : 1; /* a jump may lead to it: where a tool's counts of several instructions are one, or where it sees blocks, only to the first of these */
    u16 run : 1;  /* a tool's counts begin anew: what is before it is counted without it */
    u16 behind : 1; /* it is what a tool does behind the instruction before it */
} InsnLens;
enum { INSN_HOST_BYTES = (1 << HOST_LENGTH_BITS) - 1 };
_Static_assert(sizeof(InsnLens) == sizeof(u16) && (u32)EMIT_INSN_BYTES <= (u32)INSN_HOST_BYTES,
               "there is one for each instruction");

static inline u32 lens_guest(InsnLens lens) {
    return lens.guest * (u32)GUEST_LENGTH_UNIT;
}

/* The lengths of a block's instructions, one after the other. */
static inline const InsnLens *block_lens(const QuickBlock *b) {
    return (const InsnLens *)(quick_all.lens.at + b->lens);
}

/* Pages by number: NULL if none of its code is known; made if there is none. */
Page *page_known(u64 number);
Page *page_for(u64 number);

/* The blocks that touch a page, one after the other; 0: no (more). */
u32 page_first(u64 page);
u32 page_next(u32 block, u64 page);

/* forget.c: the host takes writes to this page as faults from now on, if the guest may write to it; no page is such any more, and
 * their blocks are gone. */
void page_guard(u64 number);
void page_guard_anew(u64 number); /* whatever is known of it, and only this page */
void page_forget(u64 number);
/* views.c: the same for the other pages that show the same memory. */
void views_guard(u64 number);
void views_forget(u64 number);
void pages_release(void);

/* copy_flags.c: does code at pc, behind a call, read the flags that the call has left? */
bool flags_are_read(u64 pc);

bool blocks_init(void);
void blocks_forget_all(void);
/* Into the tables: a block that is there as far as `next`. Returns its number. */
u32 block_add(const QuickBlock *b);
/* No thread comes here any more, but for those that are inside. */
void block_kill(u32 number);
/* The opposite, for a block whose guest bytes are what they were, in pages that are guarded. */
void block_raise(u32 number);
/* suspend.c: the bytes of a new block are kept, if it may come back; kills a block in front of a write to its page, of which it may be no part; brings back the one at pc, if
 * its bytes are the same: its number, or 0; none comes back that was suspended before. */
void block_keep_text(QuickBlock *b);
void block_suspend(u32 number);
u32 block_resume(Thread *t, u64 pc);
void blocks_forget_suspended(void);
/* Code for the instruction at pc, and the block that it is in; NULL: there is none. */
u8 *block_find(u64 pc, u32 *number);
/* The same for who comes to pc in the middle of what a tool sees as a block. */
u8 *block_find_inside(u64 pc, u32 *number);
/* The block that begins at pc, or 0. */
u32 block_at(u64 pc);
/* The next place from pc on, in its page, where a block begins. */
u64 block_next(u64 pc);

u32 exit_new(ExitKind kind, u64 pc, u8 *site);
/* To its target's code if there is some, else to its stub. Threads that leave by the same stub at once all come here. */
void exit_link(u32 number);
/* One of EXIT_ONCE has been used, and is no exit any more. */
void exit_end_once(u32 number);
/* All of them are again, and what they stand at is passed: calls that go directly to a function go through its entry of a PLT. */
void exits_begin_once(void);
/* One of EXIT_LINKAGE goes to its pc from now on, or directly to the target. */
void exit_link_linkage(u32 number, u64 target);
/* Jumps to pc, of which some may lead to the middle of another block, go to `code` from now on. */
void exits_redirect(u64 pc, const u8 *code);

/* The map, or a thread's tables: the targets of calls and of returns, of jumps, and that any thread forgets one. */
void table_set_call(Thread *t, u64 pc, const u8 *code);
void table_set_return(Thread *t, u64 pc, const u8 *code);
void table_set_jump(Thread *t, u64 pc, const u8 *code);
void tables_clear(u64 pc);
void tables_init(Thread *t); /* all zero before */

#endif
