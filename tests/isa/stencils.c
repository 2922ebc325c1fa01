/* stencils.c: cases as code of stencils, which runs in this process or in a program for another host.
 *
 * Each instruction is copied and patched by itself, entered with the registers of its operands in the state or in host registers, and left by all its exits to here.
 * Which operands are in host registers, and in which, differs from case to case, and is more than `lathe run` has: every renaming of registers is tried sooner or later. */
#include "stencils.h"

#include "isa/form.h"
#include "isa/isa.h"
#include "oracle.h"
#include "stencil/stencil.h"
#include "stencil_machine.h"

enum { MAX_STEPS = 1000 };

struct Stencils {
    const CaseList *list;
    StencilMachine *machine;
    StencilFrame frame;
};

Stencils *stencils_new(const CaseList *list, const HostedTools *tools) {
    Stencils *s = mem_new(sizeof(*s));
    *s = (Stencils){.list = list, .machine = machine_new(tools)};
    return s;
}

void stencils_free(Stencils *s) {
    machine_free(s->machine);
    mem_free(s);
}

/* ------------------------------------------------------------------------------------------------------------ registers */

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

static bool is_held(const HostStencil *host, u32 number) {
    return host->held >> number & 1;
}

/* The held registers of a kind, each in its turn. HELD_NONE: there are none. */
static u8 held_register(const HostStencil *host, bool general, u32 turn) {
    u8 all[64];
    u32 count = 0;
    for (u32 i = 0; i < ARRAY_LEN(all); i++)
        if (is_held(host, i) && (i < host->first_float) == general)
            all[count++] = (u8)i;
    return count ? all[turn % count] : HELD_NONE;
}

/* A third of the registers are in the state. The others are in host registers, each in its own. */
static Places choose_places(const HostStencil *host, const Insn *in, u64 seed) {
    Places p = {0};
    memset(p.number, HELD_NONE, sizeof(p.number));
    for (u32 i = 0; i < in->operand_count; i++) {
        Reg r = form_register(&in->op[i]);
        if (r == REG_NONE || !form_may_be_held(r) || mix(seed + r) % 3 == 0)
            continue;
        u32 start = (u32)(mix(seed) >> 8) + 3 * r;
        p.number[i] = held_register(host, is_general(r), start);
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
        if (!(f->field.allowed >> p->number[f->arg] % 32 & 1) || (s->distinct && is_shared(s, p, f)))
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
static void move_registers(Stencils *s, const Insn *in, const Places *p, GuestCpu *cpu, bool to_frame) {
    u32 first_float = s->machine->host->first_float;
    for (u32 i = 0; i < in->operand_count; i++) {
        if (!(p->mask >> i & 1))
            continue;
        bool general = p->number[i] < first_float;
        void *held = general ? (void *)&s->frame.reg[p->number[i]] : s->frame.vector[p->number[i] - first_float];
        void *place = (u8 *)cpu + form_place(&in->op[i]);
        size_t bytes = isa_find(GUEST_ARCH)->regs[form_register(&in->op[i])].bits / 8;
        memcpy(to_frame ? held : place, to_frame ? place : held, bytes);
    }
}

/* What is not an operand must stay as it is. */
static void fill_frame(Stencils *s) {
    for (u32 i = 0; i < ARRAY_LEN(s->frame.reg); i++)
        s->frame.reg[i] = mix(i + 1);
    memset(s->frame.vector, 0x5a, sizeof(s->frame.vector));
}

static bool vector_is_kept(const u8 *vector) {
    const Isa *isa = isa_find(GUEST_ARCH);
    u32 bytes = isa->regs[isa->hot_vectors[0]].bits / 8;
    bool kept = true;
    for (u32 k = 0; k < bytes; k++)
        kept &= vector[k] == 0x5a;
    return kept;
}

static bool frame_is_kept(const Stencils *s, const Places *p) {
    const HostStencil *host = s->machine->host;
    u64 operands = 0;
    bool kept = true;
    for (u32 i = 0; i < INSN_OPERANDS; i++)
        operands |= p->mask >> i & 1 ? (u64)1 << p->number[i] : 0;
    for (u32 i = 0; i < 64; i++)
        if (is_held(host, i) && !(operands >> i & 1))
            kept &= i < host->first_float ? s->frame.reg[i] == mix(i + 1)
                                          : vector_is_kept(s->frame.vector[i - host->first_float]);
    return kept;
}

/* --------------------------------------------------------------------------------------------------------- instructions */

static u64 exit_at(const Stencils *s, Exit e) {
    return s->machine->exits + e * s->machine->exit_bytes;
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
        return s->machine->helpers + p->arg * s->machine->helper_bytes;
    case PATCH_CONSTANT:
        return s->machine->constants + p->arg;
    }
    CHECK(false, "a patch of unknown kind");
}

/* Returns how many bytes there are. */
static u32 copy(Stencils *s, const Stencil *stencil, const Insn *in, const Places *p, u8 *w) {
    const StencilMachine *m = s->machine;
    memcpy(w, stencil_code + stencil->code, stencil->size);
    name_registers(stencil, p, w);
    for (u32 i = 0; i < stencil->patches; i++) {
        const StencilPatch *patch = &stencil_patches[stencil->patch + i];
        m->host->write(w + patch->at, m->code + patch->at, patch->how, patch->kind >= PATCH_JUMP,
                       value_of(s, patch, in));
    }
    m->host->put_jump(w + stencil->size, m->code + stencil->size, exit_at(s, EXIT_NEXT));
    return stencil->size + m->host->jump_bytes;
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

static bool run_one(Stencils *s, const Insn *in, u64 seed, State *state, u32 *trap) {
    Places p = choose_places(s->machine->host, in, seed), none = {0};
    const Stencil *stencil = stencil_find(stencil_key(form_key(in), p.mask));
    u8 code[STENCIL_CODE_BYTES];
    if (!stencil || !fits(stencil, &p)) {
        stencil = stencil_find(form_key(in));
        p = none;
    }
    u32 size = copy(s, stencil, in, &p, code);
    fill_frame(s);
    move_registers(s, in, &p, &state->cpu, true);
    if (!machine_run(s->machine, code, size, &s->frame, state, trap))
        return false;
    CHECK(frame_is_kept(s, &p), "a stencil keeps registers that hold nothing of its operands");
    move_registers(s, in, &p, &state->cpu, false);
    state->cpu.pc = follow(s, in);
    return true;
}

bool stencils_run(Stencils *s, size_t index, State *state) {
    const Case *c = &s->list->at[index];
    u32 trap = 0;
    bool whole = true;
    Insn in;
    machine_begin(s->machine, state);
    for (u32 i = 0; i < MAX_STEPS && whole && !state->cpu.trap && state->cpu.pc - STATE_CODE < c->size &&
                    decode(c, state->cpu.pc, &in);
         i++)
        whole = run_one(s, &in, mix(index * 16 + i), state, &trap);
    machine_end(s->machine, state);
    if (!whole)
        state->cpu.trap = trap;
    return whole;
}
