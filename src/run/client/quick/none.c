/* none.c: in place of the quick tier where the host cannot run the guest's instructions: there are no blocks, and all code is
 * optimised (--tier=opt). */
#include "run/client/quick/quick.h"

#include "run/client/quick/emit.h"
#include "run/client/quick/native.h"
#include "run/client/tier.h"

/* No address is one of these. */
u8 quick_start[1], quick_end[1], quick_resume[1];
u8 cross_start[1], cross_end[1];

static _Noreturn void wrong(void) {
    CHECK(false, "quick code of a guest that has none");
    __builtin_unreachable();
}

bool quick_init(void) { return true; }
void quick_run(Thread *t) { (void)t, wrong(); }
u8 *quick_find_function(Thread *t, u64 pc) { (void)t, (void)pc, wrong(); }
void quick_override(Thread *t, u64 pc, u8 *enter) { (void)t, (void)pc, (void)enter; }
void quick_restore(u64 pc) { (void)pc; }
void quick_forget(u64 start, u64 end) { (void)start, (void)end; }
void quick_remapped(u64 start, u64 end, bool shared) { (void)start, (void)end, (void)shared; }
void quick_made_writable(u64 start, u64 end) { (void)start, (void)end; }
void quick_export(const Thread *t, ImagePart parts[QUICK_PARTS]) { (void)t, memset(parts, 0, sizeof(ImagePart) * QUICK_PARTS); }
void quick_import(Thread *t, const ImagePart parts[QUICK_PARTS]) { (void)t, (void)parts; }
u64 quick_count(void) { return 0; }
void quick_drop(bool (*keeps)(u64 pc)) { (void)keeps; }
bool quick_sent_stop(const void *info) { return (void)info, false; }
void quick_adopt(Thread *t) { (void)t; }
u64 quick_tables_age(void) { return 0; }
void quick_after_fork(Thread *t) { (void)t; }
bool quick_locate(u64 host, QuickPlace *place) { return (void)host, (void)place, false; }
void quick_take_state(Thread *t, const struct SignalContext *s, const QuickPlace *place) { (void)t, (void)s, (void)place, wrong(); }
bool quick_written(u64 addr) { return (void)addr, false; }
bool quick_allow_writes(void) { return false; }
bool quick_allow_writes_to(u64 start, u64 end) { return (void)start, (void)end, false; }
u64 quick_original(u64 place) { return place; }
u64 quick_detour(u64 place) { return (void)place, 0; }
void quick_connect(Thread *t) { (void)t; }
void quick_keep_flags(void) { wrong(); }
bool quick_keeps_flags(void) { return false; }
void quick_interrupted(void) { wrong(); }
bool native_run(Thread *t) { return (void)t, false; }
bool native_holds(u64 host) { return (void)host, false; }
void native_refused(void) { wrong(); }
u8 *emit_cross(const u8 *target, bool to_quick) { (void)target, (void)to_quick, wrong(); }

void tier_begin(Thread *t) { (void)t; }
/* Who did this before may have been a vfork's child; this thread leaves what it is in all the same. */
void tier_use_polls(Thread *t) { code_watch(), t->restarts = true; }
void tier_stop(Thread *t) { tier_use_polls(t); }
void tier_keep_state(Thread *t) { code_keep_state(), tier_use_polls(t); }
bool tier_sent(const void *info) { return (void)info, false; }
