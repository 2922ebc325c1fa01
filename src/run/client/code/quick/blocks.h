/* blocks.h: the tables of the quick tier: blocks by the guest page they lie in, their exits, and what threads have looked up. All functions here are
 * called with the arena's lock held.
 *
 * A block is quick code for a run of guest instructions, with one entry at each of them. An exit is a place where a block leaves for other guest
 * code: a jump whose displacement leads to a stub at first, and to the target's code once that exists (linked). */
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
    u8 *enter;             /* the way to optimised code for its first instruction; NULL: there is none */
    bool entry;            /* a function begins here */
    bool goes_on;          /* it ends with a jump to the instruction behind its last one */
    bool inside;           /* it begins in the middle of what a tool sees as a block */
    bool ends_inside;      /* it ends in the middle of what a tool sees as a block */
    bool dead;             /* it is forgotten; threads may still be in its code */
    u32 text;              /* suspend.c: where its guest bytes are kept, counted from 1; 0: they are not kept */
} QuickBlock;

typedef struct Exit {
    u64 pc;
    u8 *site;  /* the displacement of its jump; NULL: the exit has code that leaves for C */
    u8 *stub;  /* where the jump leads while it is not linked; NULL: no stub was needed yet */
    u64 under; /* of EXIT_ONCE: the code in whose place its jump is */
    u32 next; /* the next exit in the list QuickBlock.incoming of its target; of EXIT_SPECIAL: the visit behind it, or 0 */
    u8 kind;     /* ExitKind */
    bool linked; /* the jump leads to the target's code; of EXIT_ONCE: the functions were called */
} Exit;

typedef struct Page {
    u64 number;
    u32 first;     /* the first block in its list; 0: none */
    u32 suspended; /* suspend.c: the first dead block that begins here and may come back; 0: none */
    u32 known; /* the number of its bitmap, which has a bit for each address at which an instruction of a block begins, or of a block that was forgotten */
    bool used; /* this entry of the hash table is in use */
    bool guarded;       /* the host may not write to the page, although the guest may */
    bool views_guarded; /* neither may it by other mappings of the same memory: see views.c */
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
    u16 head : 1; /* a jump may lead to it. Not if a tool counts it together with instructions before it, or sees it in the middle of a block */
    u16 run : 1;  /* a tool's counts begin anew here: what is before is counted without it */
    u16 behind : 1; /* not an instruction, but what a tool does behind the one before */
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

/* The entry of a page, by its number. If there is none, page_known returns NULL, and page_for makes one. */
Page *page_known(u64 number);
Page *page_for(u64 number);

/* The list of blocks that touch a page, by their numbers: the first one, and the one behind `block`; 0: there is none. */
u32 page_first(u64 page);
u32 page_next(u32 block, u64 page);

/* forget.c. page_guard: from now on, writes to this page are faults, if the guest may write to it, and so are writes to other pages that show the
 * same memory. page_guard_anew: protects this page only, even if it is marked as guarded already. page_forget: the blocks of the page go, and the
 * page may be written to. pages_release: the same for all guarded pages. */
void page_guard(u64 number);
void page_guard_anew(u64 number);
void page_forget(u64 number);
void pages_release(void);
/* views.c: page_guard_anew and page_forget for the other pages that show the same memory as this one. */
void views_guard(u64 number);
void views_forget(u64 number);

/* copy_flags.c: does code at pc, behind a call, read the flags that the call has left? */
bool flags_are_read(u64 pc);

bool blocks_init(void);
void blocks_forget_all(void);
/* Adds a block to the tables and returns its number. */
u32 block_add(const QuickBlock *b);
/* Takes all ways to the block away: links, lookups, the lists of its pages. Only threads that are inside stay there. */
void block_kill(u32 number);
/* Undoes block_kill for a block whose guest bytes are what they were. Its pages are guarded. */
void block_raise(u32 number);
/* suspend.c: blocks that come back if a write to their page has not changed them. block_keep_text keeps the guest's bytes of a new block.
 * block_suspend kills a block before a write to its page. block_resume brings the suspended block at pc back if its bytes are the same, and returns
 * its number, or 0. blocks_forget_suspended: none that is suspended now will come back. */
void block_keep_text(QuickBlock *b);
void block_suspend(u32 number);
u32 block_resume(Thread *t, u64 pc);
void blocks_forget_suspended(void);
/* Finds the code for the instruction at pc, and the block that has it. Returns NULL if there is none. */
u8 *block_find(u64 pc, u32 *number);
/* The same for a thread that comes to pc in the middle of what a tool sees as a block. */
u8 *block_find_inside(u64 pc, u32 *number);
/* The block that begins at pc, or 0. */
u32 block_at(u64 pc);
/* The lowest address at or behind pc, in pc's page, at which a block begins; the largest number if there is none. */
u64 block_next(u64 pc);

u32 exit_new(ExitKind kind, u64 pc, u8 *site);
/* Makes the exit's jump lead to its target's code if that exists, else to the exit's stub. Several threads that have left by the same stub may call
 * this one after the other. */
void exit_link(u32 number);
/* The functions of an EXIT_ONCE were called: takes its jump away. */
void exit_end_once(u32 number);
/* In a copy of the program: puts the jumps of all EXIT_ONCE back. Calls that go directly to a function go through its entry of a PLT again, where
 * such a jump may be. */
void exits_begin_once(void);
/* Links an EXIT_LINKAGE to the code at its pc, and lets it go directly to `target` as long as the dynamic linker's word says so. */
void exit_link_linkage(u32 number, u64 target);
/* Makes all linked jumps to pc lead to `code`, including those that led to the middle of another block. */
void exits_redirect(u64 pc, const u8 *code);

/* Note where the code for the target of a call, return or jump is, in the map or in the tables of this thread. tables_clear removes a target from the
 * map or from all threads' tables. */
void table_set_call(Thread *t, u64 pc, const u8 *code);
void table_set_return(Thread *t, u64 pc, const u8 *code);
void table_set_jump(Thread *t, u64 pc, const u8 *code);
void tables_clear(u64 pc);
void tables_init(Thread *t); /* of tables that are all zero */

#endif
