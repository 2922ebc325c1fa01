/* held.c: see code/quick/held.h. */
#include "host_held.h"

#include "held_registers.h"
#include "host_context.h"
#include "host_offsets.h"
#include "run/client/code/quick/quick.h"
#include "run/client/memory/low.h"

enum { FIRST_FLOAT = 16 /* the number of xmm0, as HostStencil has it */ };

u8 held_number(u32 place) {
#define NUMBER(slot, name, number) {CPU_SLOT(slot), number},
#define FLOAT_NUMBER(slot) {CPU_FLOAT_SLOT(slot), FIRST_FLOAT + slot},
    static const struct {
        u32 place;
        u8 number;
    } all[] = {EACH_HELD(NUMBER) EACH_FLOAT_SLOT(FLOAT_NUMBER)};
    for (u32 i = 0; i < ARRAY_LEN(all); i++)
        if (all[i].place == place)
            return all[i].number;
    return HELD_NONE;
}

void held_patch(u8 *w, const u8 *at, const StencilPatch *p, u64 value) {
    u64 v = p->kind < PATCH_JUMP ? value : value - ((u64)at + 4);
    memcpy(w, &v, p->how);
}

/* The bytes behind an opcode that name a register and place(%r13). */
static void put_place(Emitter *e, u8 number, u32 place) {
    enum { DISP32_R13 = 0x85 };
    put8(e, DISP32_R13 | (number & 7) << 3);
    put32(e, place);
}

/* mov between a general register and its place, or movsd, or movups. */
static void put_move(Emitter *e, u32 opcode, u32 float_opcode, u8 number, u32 place) {
    enum { REX_B = 0x41, REX_W = 8, REX_R = 4, SCALAR_DOUBLE = 0xf2, TWO_BYTES = 0x0f };
    u32 rex = REX_B | (number & 8 ? REX_R : 0);
    if (number >= FIRST_FLOAT) {
        if (CPU_FLOAT_BYTES == 8)
            put8(e, SCALAR_DOUBLE);
        put8(e, rex);
        put8(e, TWO_BYTES);
        put8(e, float_opcode);
    } else {
        put8(e, rex | REX_W);
        put8(e, opcode);
    }
    put_place(e, number, place);
}

void put_held_store(Emitter *e, u8 number, u32 place) {
    put_move(e, 0x89, 0x11, number, place);
}

void put_held_load(Emitter *e, u8 number, u32 place) {
    put_move(e, 0x8b, 0x10, number, place);
}

/* -------------------------------------------------------------------------------------------------------------- visits */

enum { RSP = 4, R13 = 13, LOAD = 0x8b };

/* True if C functions keep the register: rbx, rbp, r12 to r15. A tool's functions use no floating-point registers. */
static bool is_kept(u8 number) {
    return number == 3 || number == 5 || number >= 12;
}

#define STORE_CHANGED(slot, name, number)                                                                              \
    if (!is_kept(number))                                                                                              \
        put_held_store(e, number, CPU_SLOT(slot));
#define LOAD_CHANGED(slot, name, number)                                                                               \
    if (!is_kept(number))                                                                                              \
        put_held_load(e, number, CPU_SLOT(slot));

void put_visit_begin(Emitter *e) {
    EACH_HELD(STORE_CHANGED)
}

void put_visit_register(Emitter *e, u32 argument, u32 place, i32 more) {
    u8 reg = put_argument[argument], held = held_number(place);
    if (held != HELD_NONE && is_kept(held))
        put_held_store(e, held, place);
    put_held_load(e, reg, place);
    if (more)
        put_operand_lea(e, reg, &(Operand){.base = reg, .index = REG_NONE, .disp = more});
}

void put_visit_thread(Emitter *e, u32 argument, u32 off) {
    put_operand_lea(e, put_argument[argument], &(Operand){.base = R13, .index = REG_NONE, .disp = (i64)off});
}

void put_visit_u32(Emitter *e, u32 argument, u32 off) {
    u8 reg = put_argument[argument];
    put8(e, 0x41 | (reg & 8) >> 1); /* REX.B, without REX.W */
    put8(e, LOAD);
    put_place(e, reg, off);
}

void put_visit_end(Emitter *e, u64 function) {
    put_held_store(e, RSP, THREAD_CALLS_SP);
    put_held_load(e, RSP, THREAD_TOOL_TOP);
    put_near_call(e, function);
    put_held_load(e, RSP, THREAD_CALLS_SP);
    EACH_HELD(LOAD_CHANGED)
}

/* ------------------------------------------------------------------------------------------------------------- lookups */

static void put_distance(Emitter *e, const void *opcode, const void *target) {
    put(e, opcode, 2);
    put32(e, (u32)((u64)target - ((u64)e->at + 4)));
}

static void put_at(Emitter *e, const void *opcode, size_t n, u32 off) {
    put(e, opcode, n);
    put32(e, off);
}

#define MAP_BYTES LOW_MAP & 0xff, LOW_MAP >> 8 & 0xff, LOW_MAP >> 16 & 0xff, LOW_MAP >> 24
/* mov LOW_MAP(,%rax,4), %ecx, and the same with %r12 (HELD_LINK) */
static const u8 map_load[] = {0x8b, 0x0c, 0x85, MAP_BYTES}, map_load_link[] = {0x42, 0x8b, 0x0c, 0xa5, MAP_BYTES};

static void put_map_jump(Emitter *e, const void *routine) {
    put_at(e, "\x48\x3d", 2, LOW_CODE);   /* cmp $LOW_CODE, %rax */
    put_distance(e, "\x0f\x83", routine); /* jae */
    put(e, map_load, sizeof(map_load));
    put(e, "\x85\xc9", 2);                /* test %ecx, %ecx */
    put_distance(e, "\x0f\x84", routine); /* je */
    put(e, "\xff\xe1", 2);                /* jmp *%rcx */
}

/* The routine is called, too. */
static void put_map_call(Emitter *e, const void *routine) {
    put_at(e, "\x48\x3d", 2, LOW_CODE); /* cmp $LOW_CODE, %rax */
    put(e, "\x73\x0b", 2);              /* jae 1f */
    put(e, map_load, sizeof(map_load));
    put(e, "\x85\xc9\x75\x07", 4);        /* test %ecx, %ecx; jne 2f */
    put(e, "\x48", 1);                    /* 1: */
    put_distance(e, "\x8d\x0d", routine); /* lea routine(%rip), %rcx */
    put(e, "\xff\xd1", 2);                /* 2: call *%rcx */
}

/* Returns if the host's stack has the address that the map gave; otherwise the routine finds out where to return to. */
static void put_return(Emitter *e, const void *routine) {
    put(e, "\x48\x39\x0c\x24", 4);        /* cmp %rcx, (%rsp) */
    put_distance(e, "\x0f\x85", routine); /* jne */
    put(e, "\xc3", 1);                    /* ret */
}

static void put_map_return(Emitter *e, const void *routine) {
    put_at(e, "\x48\x3d", 2, LOW_CODE);   /* cmp $LOW_CODE, %rax */
    put_distance(e, "\x0f\x83", routine); /* jae */
    put(e, map_load, sizeof(map_load));
    put_return(e, routine);
}

/* The map has nothing for addresses whose lowest bit is set, which the routine clears. */
bool put_return_by_link(Emitter *e, u8 number) {
    const void *routine = (const void *)quick_near(quick_return_by_link);
    if (number != HELD_LINK_NUMBER || !the.map)
        return false;
    put_at(e, "\x49\x81\xfc", 3, LOW_CODE); /* cmp $LOW_CODE, %r12 */
    put_distance(e, "\x0f\x83", routine);   /* jae */
    put(e, map_load_link, sizeof(map_load_link));
    put_return(e, routine);
    return true;
}

static void put_table_jump(Emitter *e, const void *routine) {
    put(e, "\x0f\xb7\xc8", 3);                           /* movzwl %ax, %ecx */
    put_at(e, "\x49\x3b\x84\xcd", 4, THREAD_TABLE_PC);   /* cmp pc(%r13,%rcx,8), %rax */
    put_distance(e, "\x0f\x85", routine);                /* jne */
    put_at(e, "\x41\xff\xa4\xcd", 4, THREAD_TABLE_CODE); /* jmp *code(%r13,%rcx,8) */
}

static void put_to_routine(Emitter *e, u8 opcode, const void *routine) {
    put8(e, opcode);
    put32(e, (u32)((u64)routine - ((u64)e->at + 4)));
}

void put_lookup(Emitter *e, Lookup kind, const void *routine) {
    enum { CALL = 0xe8, JUMP = 0xe9 };
    switch (kind) {
    case LOOKUP_JUMP:
        (the.map ? put_map_jump : put_table_jump)(e, routine);
        break;
    case LOOKUP_CALL:
        if (the.map)
            put_map_call(e, routine);
        else
            put_to_routine(e, CALL, routine);
        break;
    case LOOKUP_RETURN:
        if (the.map)
            put_map_return(e, routine);
        else
            put_to_routine(e, JUMP, routine);
        break;
    }
}

void held_call(u8 *site) {
    enum { CALL = 0xe8 };
    site[-1] = CALL;
}

static bool skip_load(SignalContext *s, const u8 *load, u32 bytes) {
    if (memcmp((const u8 *)s->rip, load, bytes))
        return false;
    s->rcx = 0;
    s->rip += bytes;
    return true;
}

/* If the fault was a call for which the host's stack has no room, gives up all calls on it, and returns true. */
static bool give_up_calls(SignalContext *s) {
    const Thread *t = thread_self();
    if (s->rsp - t->stack.host > PAGE || s->rsp >= t->quick.host_sp)
        return false;
    s->rsp = t->quick.host_sp;
    return true;
}

/* A look into the map faults where the map has no memory, because there is no guest code. Then the thread goes on as if the word were zero. */
bool quick_detour(SignalContext *s) {
    return arena_holds(s->rip) && (skip_load(s, map_load, sizeof(map_load)) ||
                                   skip_load(s, map_load_link, sizeof(map_load_link)) || give_up_calls(s));
}

void quick_take_state(Thread *t, const struct SignalContext *s, const QuickPlace *place) {
#define TAKE(slot, name, number) memcpy((u8 *)t + CPU_SLOT(slot), &s->name, sizeof(s->name));
#define TAKE_FLOAT(slot) memcpy((u8 *)t + CPU_FLOAT_SLOT(slot), context_vector(s, slot), CPU_FLOAT_BYTES);
    EACH_HELD(TAKE)
    EACH_FLOAT_SLOT(TAKE_FLOAT)
    t->cpu.pc = place->pc;
}
