/* sites.h: what a tool does at the instructions that quick code is made of: which of its hooks apply to one, when they are called, and with which values.
 *
 * Whoever makes code looks at each instruction once (sites_look), gets what is to be counted there, and makes a site for each phase in which functions are
 * called. The site has all that is needed to call them when a thread comes by. */
#ifndef RUN_CLIENT_TOOL_SITES_H
#define RUN_CLIENT_TOOL_SITES_H

#include "run/client/core/place.h"
#include "run/client/memory/array.h"
#include "run/client/tool/tool.h"
#include "site/site.h"

/* A function that is called. */
typedef struct SiteCall {
    u8 hook, event, access;
} SiteCall;

enum { SITE_CALLS = TOOL_HOOKS_MAX * INSN_ACCESSES }; /* a hook is called once, or once for each access */

/* An instruction while code is made for it. */
typedef struct SiteInsn {
    u64 pc;
    bool known; /* the view is one */
    bool begins_block;
    u32 block_bytes, block_insns; /* if it begins one */
    InsnView view;
    bool counts;             /* something is counted: */
    u64 counting;            /* by these hooks: a bit for each */
    i32 amount[TOOL_COUNTS]; /* what it adds to each of tool_counts, */
    u32 row_count;           /* and to rows of tables */
    RowAdd row[TOOL_RUN_ROWS];
    u32 call_count;
    SiteCall call[SITE_CALLS];
    u8 phase[SITE_CALLS]; /* SitePhase of each call */
    bool repeats;         /* some are called in each pass */
    bool notes_addresses; /* some are called behind it, and want to know addresses that it had before */
} SiteInsn;

/* A site of an instruction: what is called in one phase. */
typedef struct Site {
    u64 pc;
    u8 *behind; /* the code that follows; whoever makes code sets it */
    u32 exit;   /* of SITE_ONCE: the exit by which it leaves quick code */
    u32 first, count, first_access;
    u32 amounts, first_row, row_count; /* of a pass: what was counted before the instruction */
    u32 block_bytes, block_insns;
    u16 classes, opcode;
    u8 size, phase, access_count;
    bool inside;     /* a block goes on here: its first instruction is another one */
    bool notes;      /* addresses, for sites of later phases of the instruction */
    bool dead;       /* its code is forgotten, because the guest's is other code by now */
    bool has_before; /* the instruction has a site before it, too */
    u8 text[GUEST_INSN_BYTES + 1];
} Site;

/* Has the tool hooks at instructions? Are there functions among them that are called? Are there hooks at blocks? */
bool sites_exist(void);
bool sites_call(void);
bool sites_have_blocks(void);
/* Are there functions that are called once at each instruction? Is there something else that is to be done each time? */
bool sites_call_once(void);
bool sites_want_all(void);
/* Are there functions that are called each time? */
bool sites_call_often(void);
/* Can quick code with all that the tool does be used in another process? What is called at each place has its address in the code. */
bool sites_can_be_kept(void);
/* Do instructions differ in what is counted there? */
bool sites_count_by_kind(void);
/* Do instructions add to rows of tables? Tables may also be there for functions that are called. */
bool sites_count_in_rows(void);
/* Does a hook want to know how large a block is? */
bool sites_want_extents(void);

/* The hooks that apply to the instruction at pc, a bit for each: see C_PLACES (protocol.h). */
u64 sites_hooks_at(u64 pc);
/* Do hooks apply by what may be another thing in the next run: addresses? */
bool sites_vary(void);
/* Looks at the instruction at pc, of which so many bytes are there. What is known of its block is set before. */
void sites_look(SiteInsn *insn, u64 bytes);
/* The registers that functions may look at which are called before or behind the instruction at pc, by their numbers. */
u32 sites_watched(u64 pc, const InsnView *view);
/* Is a hook called at the instruction, or may it have been called behind the one before it? */
bool sites_may_call(const SiteInsn *insn, u32 hook);
/* Is anything to be done in a phase? */
bool sites_has(const SiteInsn *insn, SitePhase phase);
/* A new site. Its number stays valid until site_forget_all. */
u32 site_new(const SiteInsn *insn, SitePhase phase);
Site *site_no(u32 number);
/* What was counted before the repeated instruction that this is a pass of. */
void site_amounts(const Site *site, TallySum *sum);
u32 site_count(void);
/* What sites are kept in, list by list, for an image (code/image.h). */
enum { SITE_LISTS = 5 };
Array *sites_list(u32 index);
/* words.c: if the tool asks for such words, reserves memory for many of them that is near code. */
void site_words_reserve(void);
/* words.c, with the arena's lock held: what a hook has for the instruction there. */
u64 *site_words(u32 hook, u64 pc);
/* The code that these are in is forgotten; threads may be in it. */
void sites_kill(u32 first, u32 count);
void site_forget_all(void);

/* Calls the functions of a site, with the guest's state in the Thread. `t->cpu.pc` is where it goes on. */
void site_call(Thread *t, const Site *site);
/* Only notes addresses for later phases. */
void site_note(Thread *t, const Site *site);

#endif
