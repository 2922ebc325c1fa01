/* stencil_emit.c: quick code of stencils (see code/quick/emit.h): finds the stencil of an instruction's form, copies it, and patches the
 * instruction's registers, constants and targets in. Stencils are compiled when Lathe is built: docs/stencils.md. */
#include "host_held.h"
#include "isa/form.h"
#include "run/client/code/optimised/code.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/stencil/place.h"
#include "run/client/core/debug.h"
#include "run/client/tool/gate.h"

/* Code and data in the arena that all stencils use. */
typedef struct Beside {
    u8 *constants;
    u8 *helpers, *helpers_end; /* code of PUT_HELPER_BYTES for each helper, by which stencils call it */
} Beside;

static Beside beside;

/* ------------------------------------------------------------------------------------------------------------- patches */

static u64 value_of(const StencilPatch *p, const Insn *in) {
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
        return 0; /* is a site */
    case PATCH_LOOKUP:
        return (u64)quick_near(quick_return);
    case PATCH_LOOKUP_CALL:
        return (u64)quick_near(quick_call);
    case PATCH_LOOKUP_RETURN:
        return (u64)quick_near(quick_return_expected);
    case PATCH_TRAP:
        return (u64)quick_near(quick_trap);
    case PATCH_HELPER:
        return (u64)(beside.helpers + p->arg * PUT_HELPER_BYTES);
    case PATCH_CONSTANT:
        return (u64)(beside.constants + p->arg);
    }
    CHECK(false, "a patch of unknown kind");
}

static bool is_site(const StencilPatch *p) {
    return p->kind == PATCH_JUMP || p->kind == PATCH_CALL;
}

static const StencilPatch *site_of(const Stencil *s) {
    for (u32 i = 0; i < s->patches; i++)
        if (is_site(&stencil_patches[s->patch + i]))
            return &stencil_patches[s->patch + i];
    return NULL;
}

/* Patches a copy of a stencil. at: the address at which it will run; w: the address by which it is written. */
static void apply(const Stencil *s, const Insn *in, const u8 *at, u8 *w) {
    for (u32 i = 0; i < s->patches; i++) {
        const StencilPatch *p = &stencil_patches[s->patch + i];
        if (!is_site(p))
            held_patch(w + p->at, at + p->at, p, value_of(p, in));
    }
}

/* ----------------------------------------------------------------------------------------------------------- registers */

/* Which operands of an instruction are in host registers. */
typedef struct HeldOperands {
    u32 mask;
    u8 number[INSN_OPERANDS];
} HeldOperands;

static HeldOperands held_operands(const Insn *in) {
    HeldOperands h = {0};
    for (u32 i = 0; i < in->operand_count; i++) {
        Reg r = form_register(&in->op[i]);
        bool may = r != REG_NONE && form_may_be_held(r);
        h.number[i] = may ? held_number(form_place(&in->op[i])) : HELD_NONE;
        if (h.number[i] != HELD_NONE)
            h.mask |= 1u << i;
    }
    return h;
}

/* True if another operand is in the same host register as the one of this field. */
static bool is_shared(const Stencil *s, const HeldOperands *h, const StencilField *f) {
    for (u32 i = 0; i < s->fields; i++) {
        const StencilField *other = &stencil_fields[s->field + i];
        if (other->arg != f->arg && h->number[other->arg] == h->number[f->arg])
            return true;
    }
    return false;
}

/* True if the stencil's fields can name these registers. */
static bool fits(const Stencil *s, const HeldOperands *h) {
    for (u32 i = 0; i < s->fields; i++) {
        const StencilField *f = &stencil_fields[s->field + i];
        if (!held_fits(f, h->number[f->arg]) || (s->distinct && is_shared(s, h, f)))
            return false;
    }
    return true;
}

static void name_registers(const Stencil *s, const HeldOperands *h, u8 *w) {
    for (u32 i = 0; i < s->fields; i++) {
        const StencilField *f = &stencil_fields[s->field + i];
        held_name(w, f, h->number[f->arg]);
    }
}

/* If no stencil has its operands in these registers, there is one that has them in the state. store_operands moves them there before it; */
static void store_operands(Emitter *e, const Insn *in, const HeldOperands *h) {
    for (u32 i = 0; i < in->operand_count; i++)
        if (h->mask >> i & 1)
            put_held_store(e, h->number[i], form_place(&in->op[i]));
}

/* and load_operands brings back those that it has written. */
static void load_operands(Emitter *e, const Insn *in, const HeldOperands *h) {
    for (u32 i = 0; i < in->operand_count; i++)
        if (h->mask >> i & 1 && regset_has(&in->writes, form_register(&in->op[i])))
            put_held_load(e, h->number[i], form_place(&in->op[i]));
}

/* -------------------------------------------------------------------------------------------------------- instructions */

static EmitResult leave_with(ExitKind kind, u64 pc) {
    return (EmitResult){.ends = true, .exits = true, .exit = {kind, pc, NULL}};
}

/* If a stencil ends with a jump to one of the routines for computed addresses, replaces that jump by the search itself. */
static void put_search(Emitter *e, const Stencil *s) {
    static const struct {
        PatchKind kind;
        Lookup lookup;
    } all[] = {{PATCH_LOOKUP, LOOKUP_JUMP}, {PATCH_LOOKUP_CALL, LOOKUP_CALL}, {PATCH_LOOKUP_RETURN, LOOKUP_RETURN}};
    const StencilPatch *last = s->patches ? &stencil_patches[s->patch + s->patches - 1] : NULL;
    if (!last || last->at + 4u != s->size)
        return;
    for (u32 i = 0; i < ARRAY_LEN(all); i++)
        if (all[i].kind == (PatchKind)last->kind) {
            e->at -= LOOKUP_JUMP_BYTES;
            put_lookup(e, all[i].lookup, (const void *)value_of(last, NULL));
        }
}

static EmitResult copy(Emitter *e, const Stencil *s, const Insn *in, const HeldOperands *h) {
    const StencilPatch *site = site_of(s);
    if (site)
        put_alignment(e, site->at);
    u8 *w = arena_writable(e->at);
    memcpy(w, stencil_code + s->code, s->size);
    name_registers(s, h, w);
    apply(s, in, e->at, w);
    if (site && site->kind == PATCH_CALL)
        held_call(w + site->at);
    EmitResult r = {.ends = in->flow != FLOW_NEXT && in->flow != FLOW_BRANCH && in->flow != FLOW_CALL,
                    .returns = in->flow == FLOW_CALL};
    if (site) {
        r.exits = true;
        r.exit = (EmitExit){site->kind == PATCH_CALL ? EXIT_CALL : EXIT_LINK, in->target, e->at + site->at};
    }
    e->at += s->size;
    put_search(e, s);
    return r;
}

/* If the stencil of a return only goes to the address in one held register, emits a shorter way, and returns true. */
static bool put_plain_return(Emitter *e, const Stencil *s, const Insn *in, const HeldOperands *h) {
    return in->flow == FLOW_RETURN && s->patches == 1 && s->fields == 1 &&
           put_return_by_link(e, h->number[stencil_fields[s->field].arg]);
}

/* The instruction's code from its form's stencils. */
static EmitResult emit_form(Emitter *e, const Insn *in) {
    HeldOperands held = held_operands(in), none = {0};
    u64 form = form_key(in);
    const Stencil *s = stencil_find(stencil_key(form, held.mask));
    if (s && put_plain_return(e, s, in, &held))
        return (EmitResult){.ends = true};
    if (s && fits(s, &held))
        return copy(e, s, in, &held);
    s = stencil_find(form);
    if (!s)
        return leave_with(EXIT_UNSUPPORTED, e->pc);
    store_operands(e, in, &held);
    EmitResult r = copy(e, s, in, &none);
    load_operands(e, in, &held);
    return r;
}

/* A search for the next reads and writes of flags, on all ways on from an instruction. Only the instruction's own page is looked at: if that changes,
 * the block is forgotten. */
typedef struct Ahead {
    Emitter *e;
    u64 page;
    u32 left; /* how many more instructions may be looked at */
} Ahead;

static bool see(Ahead *a, u64 pc, InsnView *v) {
    if (!a->left || pc >> PAGE_SHIFT != a->page)
        return false;
    a->left--;
    if (pc < a->e->looked_from)
        a->e->looked_from = pc;
    if (pc + GUEST_INSN_BYTES > a->e->looked_to)
        a->e->looked_to = pc + GUEST_INSN_BYTES;
    return insn_view((const u8 *)pc, ((a->page + 1) << PAGE_SHIFT) - pc, pc, v);
}

/* True if all flags are written before they are read, on all ways on from pc. Not known behind an atomic or system instruction, behind which a
 * program may have changed its code. */
static bool are_dead(Ahead *a, u64 pc) {
    for (InsnView v; see(a, pc, &v) && !v.reads_flags && !(v.classes & (CLASS_ATOMIC | CLASS_SYSTEM));) {
        if (v.kills_flags)
            return true;
        bool goes = (v.flow == FLOW_JUMP || v.flow == FLOW_CALL) && !v.indirect;
        if (!goes && v.flow != FLOW_NEXT && (v.flow != FLOW_BRANCH || !are_dead(a, v.target)))
            return false;
        pc = goes ? v.target : pc + v.size;
    }
    return false;
}

/* Replaces the instruction by a form that leaves the flags alone, if no instruction reads them and no handler of a signal or debugger could see them. */
static void leave_flags(Emitter *e, Insn *in) {
    enum { LOOK_AHEAD = 16 };
    Ahead a = {e, in->pc >> PAGE_SHIFT, LOOK_AHEAD};
    if (form_may_leave_flags(in) && !quick_keeps_flags() && !debug_is_active() && are_dead(&a, in->target) &&
        are_dead(&a, insn_end(in)))
        form_leave_flags(in);
}

/* With a debugger, instructions that would be joined into one are decoded one by one, so that it can step through them. */
static u64 bytes_to_decode(u64 pc, u64 bytes) {
    InsnView v;
    return debug_is_active() && insn_view((const u8 *)pc, bytes, pc, &v) ? v.size : bytes;
}

EmitResult emit_next(Emitter *e, u64 bytes, u64 *next) {
    Insn in = {0};
    bytes = bytes_to_decode(e->pc, bytes);
    LatheStatus status = bytes ? form_decode((const u8 *)e->pc, bytes, e->pc, &in) : LATHE_ERR_MEMORY;
    *next = e->pc + GUEST_LENGTH_UNIT;
    if (status != LATHE_OK) {
        if (status == LATHE_ERR_MEMORY && bytes)
            *next = e->pc + (bytes + GUEST_LENGTH_UNIT) / GUEST_LENGTH_UNIT *
                                GUEST_LENGTH_UNIT; /* what is mapped behind it makes another instruction of it */
        return leave_with(status == LATHE_ERR_MEMORY ? EXIT_UNREADABLE : EXIT_UNSUPPORTED, e->pc);
    }
    *next = insn_end(&in);
    leave_flags(e, &in);
    return emit_form(e, &in);
}

EmitCount emit_count(Emitter *e, u32 off, bool small) {
    return put_thread_add(e, off, small);
}

/* No guest of stencils has repeated instructions. */
EmitLoop emit_loop_begin(Emitter *e, u64 bytes) {
    (void)e, (void)bytes;
    CHECK(false, "a repeated instruction");
}
void emit_leave_if_asked(Emitter *e, u32 exit) {
    (void)e, (void)exit;
}
void emit_loop_count(Emitter *e, u64 bytes) {
    (void)e, (void)bytes;
}
void emit_loop_end(Emitter *e, u64 bytes, const EmitLoop *loop) {
    (void)e, (void)bytes, (void)loop;
}

/* The sum of a register, which may be the one that is always zero, and a number. */
static void put_sum(Emitter *e, u32 argument, u32 reg, i64 more) {
    Operand op = {.kind = OPERAND_MEM, .base = (u8)reg};
    if (reg == REG_NONE || form_register(&op) == REG_NONE)
        put_number(e, put_argument[argument], (u64)more);
    else
        put_visit_register(e, argument, form_place(&op), (i32)more);
}

static void put_value(Emitter *e, u32 argument, const EmitValue *v) {
    switch ((EmitValueKind)v->kind) {
    case VALUE_CONSTANT:
        put_number(e, put_argument[argument], v->number);
        break;
    case VALUE_REGISTER:
        put_sum(e, argument, (u32)v->number, 0);
        break;
    case VALUE_ADDRESS:
        put_sum(e, argument, v->at.base, v->at.disp);
        break;
    case VALUE_THREAD:
        put_visit_thread(e, argument, (u32)v->number);
        break;
    case VALUE_THREAD_U32:
        put_visit_u32(e, argument, (u32)v->number);
        break;
    case VALUE_LOADED:
    case VALUE_TAKEN:
        CHECK(false, "emit_visit has refused it");
    }
}

/* True if put_value can compute the argument; of addresses, those of a register and a constant distance. */
static bool is_put(const EmitValue *v) {
    return v->kind != VALUE_TAKEN && (v->kind != VALUE_ADDRESS || (v->at.index == REG_NONE && v->at.base != REG_PC));
}

EmitVisited emit_visit(Emitter *e, const EmitVisit *visit) {
    for (u32 i = 0; i < visit->count; i++)
        if (!is_put(&visit->value[i]))
            return VISIT_REFUSED;
    if (gates_want_state()) /* which of the tool's functions do is not known here */
        return VISIT_REFUSED;
    put_visit_begin(e);
    for (u32 i = 0; i < visit->count; i++)
        put_value(e, i, &visit->value[i]);
    put_visit_end(e, visit->function);
    return VISIT_CALLED;
}

void emit_rest(Emitter *e) {
    (void)e;
}

void emit_note_spills(struct QuickPlace *place, const u8 *code, u64 host) {
    (void)place, (void)code, (void)host;
}

/* Visits change no register of the guest's. */
void emit_give_back(Emitter *e, const InsnView *next) {
    (void)e, (void)next;
}

void emit_note_aside(const u8 *code, u32 registers) {
    (void)code, (void)registers;
}

bool emit_has_all(const u8 *code) {
    return (void)code, true;
}

bool emit_can_switch(u64 pc, u64 bytes) {
    (void)pc, (void)bytes;
    return false;
}

void emit_forget_all(void) {
    quick_is_anew();
}

bool emit_target(const InsnView *view, EmitValue *value) {
    return (void)view, (void)value, false;
}

bool flags_are_read(u64 pc) {
    return (void)pc, false;
}

/* -------------------------------------------------------------------------------------------------------------- beside */

bool emit_is_helper(u64 host) {
    return host >= (u64)beside.helpers && host < (u64)beside.helpers_end;
}

void emit_prepare(void) {
    u32 count = 0;
    while (stencil_helpers[count].name)
        count++;
    beside.constants = arena_code(stencil_constants_size, STENCIL_CONSTANTS_ALIGN);
    memcpy(arena_writable(beside.constants), stencil_constants, stencil_constants_size);
    beside.helpers = arena_code(count * PUT_HELPER_BYTES, 16);
    beside.helpers_end = beside.helpers + count * PUT_HELPER_BYTES;
    Emitter e;
    e.at = beside.helpers;
    for (u32 i = 0; i < count; i++)
        put_helper(&e, code_helper(stencil_helpers[i].name), stencil_helpers[i].with_state);
    arena_written(beside.helpers, count * PUT_HELPER_BYTES);
}

/* Searches use only registers that hold nothing of the guest's, so the map leads to the instructions' code directly. */
const u32 emit_entry_bytes = 0;
void emit_entry(Emitter *e) {
    (void)e;
}
bool emit_is_entered(const u8 *code) {
    return (void)code, true;
}

bool emit_linkage(u64 pc, u8 *site, u64 *target) {
    return (void)pc, (void)site, (void)target, false;
}
void emit_set_linkage(u8 *site, u64 target) {
    (void)site, (void)target;
}
