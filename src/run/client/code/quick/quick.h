/* quick.h: the quick tier; see quick.c and docs/quick.md. */
#ifndef RUN_CLIENT_QUICK_QUICK_H
#define RUN_CLIENT_QUICK_QUICK_H

#include "run/client/code/arena/arena.h"
#include "run/client/core/client.h"
#include "run/client/core/place.h"

struct SignalContext;

bool quick_init(void);
/* Does this processor run it? */
bool quick_works(void);
/* Does its code look into a map of targets (map.h)? */
bool quick_has_map(void);
/* Runs the guest from t->cpu.pc, with the flags in t->quick.flags and the vector registers in the host's. */
_Noreturn void quick_run(Thread *t);
/* Host code for the guest address pc. Never NULL: where there is no code, what is made raises the guest's fault. */
u8 *quick_find(Thread *t, u64 pc);
/* The same for who comes to pc in the middle of what a tool sees as a block: the block does not begin once more. */
u8 *quick_find_inside(Thread *t, u64 pc);
/* The same for what a computed jump or a return leads to. */
u8 *quick_find_target(Thread *t, u64 pc);
/* The same where a function begins. */
u8 *quick_find_function(Thread *t, u64 pc);
/* From now on `enter` is the code for pc. */
void quick_override(Thread *t, u64 pc, u8 *enter);
/* Undoes that. */
void quick_restore(u64 pc);
/* How many bytes of code are there at pc, as far as the end of the next page? */
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

/* Everything there is but its code, for another process. */
enum { QUICK_PART_RUNS = 6 /* of the map: see map.h */, QUICK_PARTS };
void quick_export(const Thread *t, ImagePart parts[QUICK_PARTS]);
/* Before there is anything. Each part begins a page and may be written to; the memory is quick.c's from now on. */
void quick_import(Thread *t, const ImagePart parts[QUICK_PARTS]);
u64 quick_count(void); /* of blocks */
/* The blocks behind the first ones that are wanted. */
u64 quick_count_kept(u64 first, bool (*keeps)(u64 pc));
/* Blocks that are not wanted are forgotten. */
void quick_drop(bool (*keeps)(u64 pc));

/* renew.c: in a system call of t, with the lock held: `what` is done while no other thread of this process is in translated code. */
void quick_with_others_stopped(Thread *t, void (*what)(void));
/* With the lock held, and the guest's state whole: is it time to forget all code and begin anew? Do so. */
bool quick_is_crowded(void);
void quick_renew(Thread *t);
/* Do so if possible, and have no map from then on. */
bool quick_renew_without_map(Thread *t);
/* Changes whenever something goes away that is in the tables of threads: one that has ended since may have it still. */
u64 quick_tables_age(void);

/* What quick code does at a host address. */
bool quick_locate(u64 host, QuickPlace *place);
/* The guest's state, but for the flags, of a thread that was interrupted there. */
void quick_take_state(Thread *t, const struct SignalContext *s, const QuickPlace *place);

/* A write to memory that was made read-only because its code is translated: true if that is what it was; the code is
 * forgotten then, and the write can be done again. */
bool quick_written(u64 addr);
/* The same for all such memory, where the kernel has refused to write to some of it; false: there is none. */
bool quick_allow_writes(void);

/* of quick.S */
extern u8 quick_start[] __attribute__((visibility("hidden"))), quick_end[] __attribute__((visibility("hidden")));
/* A place of quick.S in its copy. */
void (*quick_near(void (*place)(void)))(void);
/* Of a place in the copy of quick.S near quick code: what is not in the copy stays what it is. */
u64 quick_original(u64 place);
/* A fault of an access to the guest's stack, or to the map, by assembly or by what quick code has beside the guest's own instructions: true if that is
 * what it was; the thread goes on by another way. */
bool quick_detour(struct SignalContext *s);
/* True if the host address is in the assembly that quick code runs through, or in a function that this assembly calls. */
bool quick_is_between(const Thread *t, u64 host);
/* What quick code and assembly need to find in a Thread. */
void quick_connect(Thread *t);
void quick_connect_maker(Thread *t); /* the part of it that the two makers of quick code have for themselves */
bool quick_is_in_assembly(u64 host); /* is the host address in the assembly around quick code, or of crossings? */
/* copy_flags.c: returns keep the flags from now on. `anew`: code that there is does not; if it is a tool that has made them unnecessary, it is stale until all of it is
 * made anew. */
void quick_keep_flags(bool anew);
/* Code that has functions of a tool in it keeps registers for handlers of faults from now on. */
void quick_keep_registers(void);
/* Handlers of signals see the flags from now on. */
void quick_show_flags(void);
/* There is code that does not keep what it is to keep: it has to be made anew. */
bool quick_is_stale(void);
bool quick_keeps_flags(void);
/* Returns as t->quick.expected and flags want them. */
void quick_set_returns(Thread *t);
/* What waits on the host's stack for a return is not returned to. */
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
/* What assembly calls. */
__attribute__((visibility("hidden"))) void quick_exit(Thread *t);
__attribute__((visibility("hidden"))) void quick_lookup(Thread *t);
__attribute__((visibility("hidden"))) void quick_lookup_call(Thread *t);
__attribute__((visibility("hidden"))) void quick_lookup_jump(Thread *t);
__attribute__((visibility("hidden"))) void quick_arrive(Thread *t);
__attribute__((visibility("hidden"))) void quick_trapped(Thread *t);
extern u8 cross_start[] __attribute__((visibility("hidden"))), cross_end[] __attribute__((visibility("hidden")));

#endif
