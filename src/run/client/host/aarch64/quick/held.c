/* held.c: see code/quick/held.h. */
#include "host_held.h"

#include "held_registers.h"
#include "host/aarch64/fields.h"
#include "host_context.h"
#include "host_offsets.h"
#include "run/client/code/quick/quick.h"
#include "run/client/tool/tool.h"

enum { LDR = 0xf9400000, STR = 0xf9000000, THREAD = 20, B = 0x14000000 };

bool quick_works(void) {
    u64 size;
    return !tool_package(&size);
}

u8 held_number(u32 place) {
#define NUMBER(slot, number) {CPU_SLOT(slot), number},
    static const struct {
        u32 place;
        u8 number;
    } all[] = {EACH_HELD(NUMBER)};
    for (u32 i = 0; i < ARRAY_LEN(all); i++)
        if (all[i].place == place)
            return all[i].number;
    return HELD_NONE;
}

void held_patch(u8 *w, const u8 *at, const StencilPatch *p, u64 value) {
    bool good = aarch64_patch(w, (u64)at, p->how, value);
    CHECK(good, "the arena is no larger than jumps reach");
}

void put_held_store(Emitter *e, u8 number, u32 place) {
    put32(e, STR | place / 8 << 10 | THREAD << 5 | number);
}

void put_held_load(Emitter *e, u8 number, u32 place) {
    put32(e, LDR | place / 8 << 10 | THREAD << 5 | number);
}

/* ------------------------------------------------------------------------------------------------------------- lookups */

void put_lookup(Emitter *e, Lookup kind, const void *routine) {
    (void)kind;
    put32(e, B | ((u32)((const u8 *)routine - e->at) >> 2 & 0x03ffffff));
}

bool put_return_by_link(Emitter *e, u8 number) {
    return (void)e, (void)number, false;
}

void held_call(u8 *site) {
    (void)site;
}

bool quick_detour(SignalContext *s) {
    return (void)s, false;
}

void quick_take_state(Thread *t, const struct SignalContext *s, const QuickPlace *place) {
#define TAKE(slot, number) memcpy((u8 *)t + CPU_SLOT(slot), &s->x[number], sizeof(u64));
    EACH_HELD(TAKE)
    t->cpu.pc = place->pc;
}

/* -------------------------------------------------------------------------------------------------------------- visits */

static const char no_tools[] = "tools have no quick code on this host";

void put_visit_begin(Emitter *e) {
    (void)e;
    CHECK(false, no_tools);
}
void put_visit_register(Emitter *e, u32 argument, u32 place, i32 more) {
    (void)e, (void)argument, (void)place, (void)more;
}
void put_visit_thread(Emitter *e, u32 argument, u32 off) {
    (void)e, (void)argument, (void)off;
}
void put_visit_u32(Emitter *e, u32 argument, u32 off) {
    (void)e, (void)argument, (void)off;
}
void put_visit_end(Emitter *e, u64 function) {
    (void)e, (void)function;
}
