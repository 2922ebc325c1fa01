/* quick.h: the quick tier; see quick.c and docs/quick.md. */
#ifndef RUN_CLIENT_QUICK_QUICK_H
#define RUN_CLIENT_QUICK_QUICK_H

#include "run/client/code/arena/arena.h"
#include "run/client/core/client.h"
#include "run/client/core/place.h"
#include "run/client/tool/sites.h"

struct SignalContext;

bool quick_init(void);
bool quick_works(void);   /* there is quick code for this guest on this processor */
bool quick_has_map(void); /* its code looks into a map of targets (map.h) */
/* Runs the guest from t->cpu.pc, with the flags in t->quick.flags and the vector registers in the host's. */
_Noreturn void quick_run(Thread *t);
/* Finds or makes host code for the guest address pc. Never NULL: where the guest has no code, what is made raises the guest's fault. */
u8 *quick_find(Thread *t, u64 pc);
/* The same for a thread that comes to pc in the middle of what a tool sees as a block: the tool does not see it begin. */
u8 *quick_find_inside(Thread *t, u64 pc);
/* The same for the target of a computed jump or a return, which may come by the map. */
u8 *quick_find_target(Thread *t, u64 pc);
/* The same for the target of a call: a function begins at pc. */
u8 *quick_find_function(Thread *t, u64 pc);
/* Makes all ways to pc lead to `enter`, which goes over to optimised code. quick_restore undoes that. */
void quick_override(Thread *t, u64 pc, u8 *enter);
void quick_restore(u64 pc);
/* How many bytes of executable guest memory there are from pc on, at most up to the end of the next page. */
u64 quick_code_bytes(u64 pc);
/* The function that pc is in, by its first address, as far as known; 0: not at all. */
u64 quick_function(u64 pc);
/* The loops around pc that begin in its page or the one before, as far as known, the innermost first: a loop is a jump back over pc.
 * Several jumps may lead to the same place. Returns how many. */
enum { QUICK_LOOPS = 8 };
typedef struct QuickLoop {
    u64 start, end; /* the jump's target, and where the jump ends */
} QuickLoop;
u32 quick_loops(u64 pc, QuickLoop loops[QUICK_LOOPS]);
/* Code in [start, end) was unmapped or changed. */
void quick_forget(u64 start, u64 end);

/* export.c: the tables of the quick tier, for an image. */
enum {
    QUICK_PART_RUNS = 6, /* of the map: see map.h */
    QUICK_PART_SITES,    /* of a tool */
    QUICK_PARTS = QUICK_PART_SITES + SITE_LISTS
};
void quick_export(const Thread *t, ImagePart parts[QUICK_PARTS]);
/* Called before there are blocks. Each part begins a page and may be written to; the memory belongs to the quick tier from now on. */
void quick_import(Thread *t, const ImagePart parts[QUICK_PARTS]);
u64 quick_count(void); /* of blocks */
/* How many blocks that an image keeps there are behind the first so many. */
u64 quick_count_kept(u64 first, bool (*keeps)(u64 pc));
/* Forgets the blocks that an image does not keep. */
void quick_drop(bool (*keeps)(u64 pc));

/* renew.c, with the lock held. quick_with_others_stopped: in a system call of t, calls `what` while no other thread of this process is in translated code. */
void quick_with_others_stopped(Thread *t, void (*what)(void));
/* True if it is time to forget all code and begin anew. quick_renew does so, with the guest's state whole, if no other thread is just doing it. */
bool quick_is_crowded(void);
void quick_renew(Thread *t);
/* The same, and there is no map from then on. Returns false if that is impossible now. */
bool quick_renew_without_map(Thread *t);
/* A number that changes whenever something is removed from the tables of threads: a thread that has ended before may still have it. */
u64 quick_tables_age(void);

/* If the host address is in quick code, sets *place to where the guest is, and returns true. */
bool quick_locate(u64 host, QuickPlace *place);
/* Moves the guest's state, except for the flags, from the registers of a thread that was interrupted at this place to the Thread. */
void quick_take_state(Thread *t, const struct SignalContext *s, const QuickPlace *place);

/* See translated_written and translated_allow_writes (translated.h). */
bool quick_written(u64 addr);
bool quick_allow_writes(void);

/* of quick.S */
extern u8 quick_start[] __attribute__((visibility("hidden"))), quick_end[] __attribute__((visibility("hidden")));
/* quick_near: the address of a place of quick.S in its copy near quick code. quick_original: the opposite; an address that is not in the copy is
 * returned as it is. */
void (*quick_near(void (*place)(void)))(void);
u64 quick_original(u64 place);
/* See translated_detour (translated.h). */
bool quick_detour(struct SignalContext *s);
/* True if the host address is in the assembly that quick code runs through, or in a function that this assembly calls. */
bool quick_is_between(const Thread *t, u64 host);
/* Sets what quick code and assembly need to find in a Thread; quick_connect_maker, the part that differs between the two makers of quick code. */
void quick_connect(Thread *t);
void quick_connect_maker(Thread *t);
bool quick_is_in_assembly(u64 host); /* in the assembly around quick code, or that of crossings */
/* copy_flags.c, stencil_thread.c: what quick code keeps only for programs that need it. quick_keep_flags: returns keep the flags from now on, or,
 * with stencils, flags that nobody reads are computed. anew: code that exists does not do so; if it has to, it is stale until all of it is made anew. */
void quick_keep_flags(bool anew);
/* Code with a tool's functions in it keeps registers for handlers of faults from now on. */
void quick_keep_registers(void);
/* Handlers of signals see the flags from now on. */
void quick_show_flags(void);
/* True if there is code that does not keep what it should, and has to be made anew. */
bool quick_is_stale(void);
bool quick_keeps_flags(void);
/* Sets which routine returns go to, by t->quick.expected and by whether they keep the flags. */
void quick_set_returns(Thread *t);
/* Makes the guest never return to frames of optimised code that wait on this thread's host stack. */
void quick_expect_nobody(Thread *t);
__attribute__((visibility("hidden"))) void map_return(void);
__attribute__((visibility("hidden"))) void map_jump(void);
extern u8 quick_resume[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) void quick_leave(void);
__attribute__((visibility("hidden"))) void quick_return_by_link(void);
__attribute__((visibility("hidden"))) void quick_return_expected(void);
__attribute__((visibility("hidden"))) void quick_return(void);
__attribute__((visibility("hidden"))) void quick_return_exact(void);
__attribute__((visibility("hidden"))) void quick_call(void);
__attribute__((visibility("hidden"))) void quick_jump(void);
__attribute__((visibility("hidden"))) void quick_interrupted(void);
_Noreturn __attribute__((visibility("hidden"))) void quick_enter(void);
/* of cross.S */
__attribute__((visibility("hidden"))) void cross_enter(void);
__attribute__((visibility("hidden"))) void cross_back(void);
__attribute__((visibility("hidden"))) void cross_leave(void);
/* The C functions that assembly calls. */
__attribute__((visibility("hidden"))) void quick_exit(Thread *t);
__attribute__((visibility("hidden"))) void quick_lookup(Thread *t);
__attribute__((visibility("hidden"))) void quick_lookup_call(Thread *t);
__attribute__((visibility("hidden"))) void quick_lookup_jump(Thread *t);
__attribute__((visibility("hidden"))) void quick_arrive(Thread *t);
__attribute__((visibility("hidden"))) void quick_trapped(Thread *t);
extern u8 cross_start[] __attribute__((visibility("hidden"))), cross_end[] __attribute__((visibility("hidden")));

#endif
