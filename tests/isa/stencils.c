/* stencils.c: cases as code of stencils, in this process.
 *
 * Each instruction is copied and patched by itself, entered with the registers of its operands in the state or in host registers, and left by all its exits to here.
 * Which operands are in host registers, and in which, differs from case to case, and is more than `lathe run` has: every renaming of registers is tried sooner or later. */
#include "stencils.h"

#include <sys/mman.h>

#include "isa/form.h"
#include "isa/isa.h"
#include "lifted.h"
#include "oracle.h"
#include "stencil/stencil.h"

enum { AREA_BYTES = 1 << 20, CODE_BYTES = 4096, HELPER_BYTES = 16, EXIT_BYTES = 32, MAX_STEPS = 1000 };

/* Known to stencils.S. */
typedef struct StencilFrame {
    void *cpu;
    const u8 *code;
    void (*leave)(void);
    u64 exit;
    u64 address;
    u64 unused[3];
    u64 reg[16];
    u8 xmm[16][16];
} StencilFrame;
_Static_assert(offsetof(StencilFrame, reg) == 64 && offsetof(StencilFrame, xmm) == 192, "as stencils.S has it");

void stencils_enter(StencilFrame *frame);
void stencils_leave(void);
void stencils_help(void);

/* How an instruction was left. */
typedef enum Exit { EXIT_NEXT, EXIT_TARGET, EXIT_ADDRESS, EXIT_TRAP, EXITS } Exit;

struct Stencils {
    const CaseList *list;
    u8 *area, *constants, *helpers, *exits, *code;
    StencilFrame frame;
};

/* ----------------------------------------------------------------------------------------------------------------- area */

static void *helper_named(const char *name) {
    const Isa *isa = isa_find(GUEST_ARCH);
    for (const Helper *const *table = isa->helpers; *table; table++)
        for (const Helper *h = *table; h->name; h++)
            if (!strcmp(h->name, name))
                return h->address;
    return NULL;
}

static u8 *put_bytes(u8 *at, const void *bytes, size_t count) {
    memcpy(at, bytes, count);
    return at + count;
}

static u8 *put_u32(u8 *at, u64 value) {
    return put_bytes(at, &(u32){(u32)value}, 4);
}

static u8 *put_u64(u8 *at, u64 value) {
    return put_bytes(at, &value, 8);
}

/* The way to each helper: a call of stencils_help by its address, and what that finds behind it. The area is too far away for a call by a distance. */
static void make_helpers(Stencils *s) {
    u8 *far = s->helpers - HELPER_BYTES;
    put_u64(put_bytes(far, "\xff\x25\0\0\0\0", 6), (u64)stencils_help); /* jmp *0(%rip) */
    for (u32 i = 0; stencil_helpers[i].name; i++) {
        u8 *at = s->helpers + i * HELPER_BYTES, *call = put_bytes(at, "\xe8", 1);
        call = put_u32(call, (u64)(far - (call + 4)));
        call = put_u64(call, (u64)helper_named(stencil_helpers[i].name));
        *call = stencil_helpers[i].with_state;
        CHECK(helper_named(stencil_helpers[i].name), "a helper that is none of the guest's");
    }
}

static void make_exits(Stencils *s) {
    for (u32 i = 0; i < EXITS; i++) {
        u8 *at = put_bytes(s->exits + i * EXIT_BYTES, "\x48\xb9", 2); /* mov $frame, %rcx */
        at = put_u64(at, (u64)&s->frame);
        at = put_bytes(at, "\xc7\x41", 2); /* movl $i, exit(%rcx) */
        *at++ = offsetof(StencilFrame, exit);
        at = put_u32(at, i);
        at = put_bytes(at, "\xff\x61", 2); /* jmp *leave(%rcx) */
        *at++ = offsetof(StencilFrame, leave);
    }
}

Stencils *stencils_new(const CaseList *list) {
    Stencils *s = mem_new(sizeof(*s));
    u32 helpers = 0;
    while (stencil_helpers[helpers].name)
        helpers++;
    *s = (Stencils){.list = list};
    s->area = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(s->area != MAP_FAILED, "no memory for code");
    s->code = s->area;
    s->exits = s->code + CODE_BYTES;
    s->helpers = s->exits + EXITS * EXIT_BYTES + HELPER_BYTES;
    s->constants = s->helpers + (helpers * HELPER_BYTES + 63) / 64 * 64;
    s->constants = (u8 *)(((u64)s->constants + 63) & ~(u64)63);
    CHECK(s->constants + stencil_constants_size <= s->area + AREA_BYTES, "more constants than expected");
    memcpy(s->constants, stencil_constants, stencil_constants_size);
    s->frame.leave = stencils_leave;
    make_helpers(s);
    make_exits(s);
    return s;
}

void stencils_free(Stencils *s) {
    munmap(s->area, AREA_BYTES);
    mem_free(s);
}

/* ------------------------------------------------------------------------------------------------------------ registers */

static const u8 generals[] = {3, 5, 6, 7, 8, 9, 10, 12, 14, 15};
enum { FLOATS = 12, FIRST_FLOAT = 16 };

/* Where operands are: HELD_NONE, or the number of a host register. */
enum { HELD_NONE = 0xff };
typedef struct Places {
    u8 number[INSN_OPERANDS];
    u32 mask;
} Places;

static u64 mix(u64 v) {
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    return v ^ v >> 27;
}

static bool is_general(Reg r) {
    return isa_find(GUEST_ARCH)->regs[r].kind == REG_INT;
}

/* A third of the registers are in the state. The others are in host registers, each in its own. */
static Places choose_places(const Insn *in, u64 seed) {
    Places p = {0};
    memset(p.number, HELD_NONE, sizeof(p.number));
    for (u32 i = 0; i < in->operand_count; i++) {
        Reg r = form_register(&in->op[i]);
        if (r == REG_NONE || !form_may_be_held(r) || mix(seed + r) % 3 == 0)
            continue;
        u32 start = (u32)(mix(seed) >> 8) + 3 * r;
        p.number[i] = is_general(r) ? generals[start % ARRAY_LEN(generals)] : (u8)(FIRST_FLOAT + start % FLOATS);
        for (u32 k = 0; k < i; k++) {
            bool same = form_register(&in->op[k]) == r;
            if (same)
                p.number[i] = p.number[k];
            else if (p.number[k] == p.number[i])
                p.number[i] = HELD_NONE;
        }
        for (u32 k = 0; k < i; k++) /* what did not get one has none anywhere */
            if (form_register(&in->op[k]) == r)
                p.number[i] = p.number[k];
        if (p.number[i] != HELD_NONE)
            p.mask |= 1u << i;
    }
    return p;
}

static bool is_shared(const Stencil *s, const Places *p, const StencilField *f) {
    for (u32 i = 0; i < s->fields; i++) {
        const StencilField *other = &stencil_fields[s->field + i];
        if (other->arg != f->arg && p->number[other->arg] == p->number[f->arg])
            return true;
    }
    return false;
}

static bool fits(const Stencil *s, const Places *p) {
    for (u32 i = 0; i < s->fields; i++) {
        const StencilField *f = &stencil_fields[s->field + i];
        if (!(f->field.allowed >> p->number[f->arg] & 1) || (s->distinct && is_shared(s, p, f)))
            return false;
    }
    return true;
}

static void name_registers(const Stencil *s, const Places *p, u8 *w) {
    for (u32 i = 0; i < s->fields; i++) {
        const StencilField *f = &stencil_fields[s->field + i];
        u32 difference = f->number ^ p->number[f->arg];
        w[f->field.at] ^= (u8)((difference & 7) << f->field.shift);
        w[f->field.high_at] ^= (u8)(difference >> 3 << f->field.high_shift);
    }
}

/* Between the state and the frame. */
static void move_registers(Stencils *s, const Insn *in, const Places *p, bool to_frame) {
    for (u32 i = 0; i < in->operand_count; i++) {
        if (!(p->mask >> i & 1))
            continue;
        bool general = p->number[i] < FIRST_FLOAT;
        void *held = general ? (void *)&s->frame.reg[p->number[i]] : s->frame.xmm[p->number[i] - FIRST_FLOAT];
        void *place = (u8 *)s->frame.cpu + form_place(&in->op[i]);
        size_t bytes = isa_find(GUEST_ARCH)->regs[form_register(&in->op[i])].bits / 8;
        memcpy(to_frame ? held : place, to_frame ? place : held, bytes);
    }
}

/* What is not an operand must stay as it is. */
static void fill_frame(Stencils *s) {
    for (u32 i = 0; i < ARRAY_LEN(s->frame.reg); i++)
        s->frame.reg[i] = mix(i + 1);
    memset(s->frame.xmm, 0x5a, sizeof(s->frame.xmm));
}

static bool frame_is_kept(const Stencils *s, const Places *p) {
    const Isa *isa = isa_find(GUEST_ARCH);
    u32 held = 0, bytes = isa->regs[isa->hot_vectors[0]].bits / 8;
    bool kept = true;
    for (u32 i = 0; i < INSN_OPERANDS; i++)
        held |= p->mask >> i & 1 ? 1u << p->number[i] : 0;
    for (u32 i = 0; i < ARRAY_LEN(generals); i++)
        kept &= held >> generals[i] & 1 || s->frame.reg[generals[i]] == mix(generals[i] + 1u);
    for (u32 i = 0; i < FLOATS; i++)
        for (u32 k = 0; k < bytes; k++)
            kept &= held >> (FIRST_FLOAT + i) & 1 || s->frame.xmm[i][k] == 0x5a;
    return kept;
}

/* --------------------------------------------------------------------------------------------------------- instructions */

static u64 exit_at(const Stencils *s, Exit e) {
    return (u64)(s->exits + e * EXIT_BYTES);
}

static u64 value_of(const Stencils *s, const StencilPatch *p, const Insn *in) {
    switch ((PatchKind)p->kind) {
    case PATCH_PLACE:
        return form_place(&in->op[p->arg]) + (u64)(i64)p->addend;
    case PATCH_IMMEDIATE:
        return (u64)in->op[p->arg].disp + (u64)(i64)p->addend;
    case PATCH_PC:
        return in->pc;
    case PATCH_NEXT:
        return insn_end(in);
    case PATCH_TARGET:
        return in->target;
    case PATCH_PC_IMMEDIATE:
        return in->pc + (u64)in->op[p->arg].disp;
    case PATCH_JUMP:
    case PATCH_CALL:
        return exit_at(s, EXIT_TARGET);
    case PATCH_LOOKUP:
    case PATCH_LOOKUP_CALL:
    case PATCH_LOOKUP_RETURN:
        return exit_at(s, EXIT_ADDRESS);
    case PATCH_TRAP:
        return exit_at(s, EXIT_TRAP);
    case PATCH_HELPER:
        return (u64)(s->helpers + p->arg * HELPER_BYTES);
    case PATCH_CONSTANT:
        return (u64)(s->constants + p->arg);
    }
    CHECK(false, "a patch of unknown kind");
}

static void copy(Stencils *s, const Stencil *stencil, const Insn *in, const Places *p) {
    u8 *w = s->code;
    memcpy(w, stencil_code + stencil->code, stencil->size);
    name_registers(stencil, p, w);
    for (u32 i = 0; i < stencil->patches; i++) {
        const StencilPatch *patch = &stencil_patches[stencil->patch + i];
        u64 v = value_of(s, patch, in);
        if (patch->kind >= PATCH_JUMP)
            v -= (u64)(w + patch->at + 4);
        memcpy(w + patch->at, &v, patch->how);
    }
    u8 *end = put_bytes(w + stencil->size, "\xe9", 1);
    put_u32(end, exit_at(s, EXIT_NEXT) - (u64)(end + 4));
}

static bool decode(const Case *c, u64 pc, Insn *in) {
    *in = (Insn){0};
    return form_decode(c->code + (pc - STATE_CODE), c->size - (pc - STATE_CODE), pc, in) == LATHE_OK;
}

const char *stencils_missing(const Stencils *s, size_t index) {
    const Case *c = &s->list->at[index];
    Insn in;
    for (u64 pc = STATE_CODE; pc < STATE_CODE + c->size; pc = insn_end(&in))
        if (!decode(c, pc, &in) || !stencil_find(form_key(&in)))
            return in.row ? isa_find(GUEST_ARCH)->row_name(in.row) : "?";
    return NULL;
}

/* native_call takes functions of the state. */
static Stencils *entered;
static void enter(void *cpu) {
    (void)cpu;
    stencils_enter(&entered->frame);
}

/* The guest's address afterwards. */
static u64 follow(const Stencils *s, const Insn *in) {
    switch ((Exit)s->frame.exit) {
    case EXIT_NEXT:
        return insn_end(in);
    case EXIT_TARGET:
        return in->target;
    case EXIT_ADDRESS:
    case EXIT_TRAP:
    case EXITS:
        break;
    }
    return s->frame.address;
}

static NativeResult run_one(Stencils *s, const Insn *in, u64 seed, GuestCpu *cpu) {
    Places p = choose_places(in, seed), none = {0};
    const Stencil *stencil = stencil_find(stencil_key(form_key(in), p.mask));
    if (!stencil || !fits(stencil, &p)) {
        stencil = stencil_find(form_key(in));
        p = none;
    }
    copy(s, stencil, in, &p);
    s->frame.cpu = cpu;
    s->frame.code = s->code;
    fill_frame(s);
    move_registers(s, in, &p, true);
    entered = s;
    NativeResult r = native_call(enter, cpu);
    if (r.signal)
        return r;
    CHECK(frame_is_kept(s, &p), "a stencil keeps registers that hold nothing of its operands");
    move_registers(s, in, &p, false);
    cpu->pc = follow(s, in);
    return r;
}

bool stencils_run(Stencils *s, size_t index, State *state) {
    const Case *c = &s->list->at[index];
    u8 *memory = state_memory();
    NativeResult r = {0};
    Insn in;
    memcpy(memory, state->memory, STATE_MEMORY_BYTES);
    guest_enter(&state->cpu);
    for (u32 i = 0; i < MAX_STEPS && !r.signal && !state->cpu.trap && state->cpu.pc - STATE_CODE < c->size &&
                    decode(c, state->cpu.pc, &in);
         i++)
        r = run_one(s, &in, mix(index * 16 + i), &state->cpu);
    guest_leave(&state->cpu);
    memcpy(state->memory, memory, STATE_MEMORY_BYTES);
    if (r.signal)
        state->cpu.trap = lifted_trap_of(r);
    return !r.signal;
}
