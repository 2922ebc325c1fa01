/* visit_values.c: see visiting.h: the values that a function of a tool's is given, in registers. No flag is changed. */
#include "run/client/host/x86_64/copy/visiting.h"

void put_word(Emitter *e, u8 opcode, u32 reg, u32 off) {
    const u8 text[] = {GS, (u8)(REX | REX_W | (reg & 8 ? REX_R : 0)), opcode, (u8)(RM_SP | (reg & 7) << 3), 0x25};
    put(e, text, sizeof(text));
    put32(e, off);
}

void put_move(Emitter *e, u32 to, u32 from) {
    const u8 text[] = {(u8)(REX | REX_W | (from & 8 ? REX_R : 0) | (to & 8 ? REX_B : 0)), STORE,
                       (u8)(0xc0 | (from & 7) << 3 | (to & 7))};
    put(e, text, sizeof(text));
}

bool value_is_constant(const EmitValue *v) {
    return v->kind == VALUE_CONSTANT || (v->kind == VALUE_ADDRESS && v->at.base == REG_PC && !v->at.seg) ||
           (v->kind == VALUE_ADDRESS && v->at.base == REG_NONE && v->at.index == REG_NONE && !v->at.seg);
}

/* The registers that it is made of. */
u32 value_sources(const EmitValue *v) {
    if (v->kind == VALUE_REGISTER)
        return bit((u32)v->number);
    bool addresses = v->kind == VALUE_ADDRESS || v->kind == VALUE_LOADED;
    return addresses ? bit(v->at.base) | bit(v->at.index) : 0;
}

/* r11 has the segment's base meanwhile. */
u32 value_temporaries(const EmitValue *v) {
    return (v->kind == VALUE_ADDRESS || v->kind == VALUE_LOADED) && v->at.seg ? bit(R11) : 0;
}

static void put_segment(Emitter *e, u32 reg, u8 segment) {
    if (segment == SEG_FS)
        put(e, "\xf3\x49\x0f\xae\xc3", 5); /* rdfsbase %r11 */
    else
        put_word(e, LOAD, R11, offsetof(Thread, cpu.gsbase));
    put_operand_lea(e, reg, &(Operand){.base = (u8)reg, .index = R11, .scale = 1, .addr_bits = 64});
}

static void put_address(Emitter *e, u32 reg, const Operand *at) {
    if (at->base == REG_PC)
        put_number(e, reg, (u64)at->disp);
    else
        put_operand_lea(e, reg, at);
    if (at->seg)
        put_segment(e, reg, at->seg);
}

/* mov (reg), reg; and an instruction that does nothing but to tell that it may fault. */
static const u8 may_fault[] = {0x0f, 0x1f, 0x80, 'l', 'o', 'a', 'd'};

static void put_load(Emitter *e, u32 reg) {
    const u8 text[] = {(u8)(REX | REX_W | (reg & 8 ? REX_R | REX_B : 0)), LOAD,
                       (u8)(0x40 | (reg & 7) << 3 | (reg & 7))};
    put(e, text, sizeof(text));
    if ((reg & 7) == RM_SP)
        put8(e, 0x24);
    put8(e, 0);
    put(e, may_fault, sizeof(may_fault));
}

u64 visit_detour(u64 host) {
    const u8 *code = (const u8 *)host;
    u32 size = (code[2] & 7) == RM_SP ? 5 : 4;
    return code[1] == LOAD && !memcmp(code + size, may_fault, sizeof(may_fault)) ? host + size : 0;
}

static bool branch_at(u64 pc, Shape *s) {
    return shape_of((const u8 *)pc, SHAPE_BYTES, s) && s->kind == SHAPE_JCC;
}

/* By the flags, which nothing has changed yet: setcc of the register's lowest byte, movzx. */
static void put_taken(Emitter *e, u32 reg) {
    Shape s;
    branch_at(e->pc, &s);
    u8 low = reg & 7, high = reg & 8;
    const u8 text[] = {(u8)(REX | (high ? REX_B : 0)),
                       0x0f,
                       (u8)(0x90 | (s.opcode & 15)),
                       (u8)(0xc0 | low),
                       (u8)(REX | (high ? REX_B | REX_R : 0)),
                       0x0f,
                       0xb6,
                       (u8)(0xc0 | low << 3 | low)};
    put(e, text, sizeof(text));
}

void put_value(Emitter *e, u32 reg, const EmitValue *v) {
    if (value_is_constant(v)) {
        u64 address = v->at.addr_bits == 32 ? (u32)v->at.disp : (u64)v->at.disp;
        put_number(e, reg, v->kind == VALUE_CONSTANT ? v->number : address);
        return;
    }
    switch ((EmitValueKind)v->kind) {
    case VALUE_REGISTER:
        put_move(e, reg, (u32)v->number);
        break;
    case VALUE_ADDRESS:
        put_address(e, reg, &v->at);
        break;
    case VALUE_LOADED:
        put_address(e, reg, &v->at);
        put_load(e, reg);
        break;
    case VALUE_THREAD:
        put_word(e, LOAD, reg, THREAD_SELF);
        put_operand_lea(e, reg,
                        &(Operand){.base = (u8)reg, .index = REG_NONE, .addr_bits = 64, .disp = (i64)v->number});
        break;
    case VALUE_THREAD_U32: /* without REX.W */
        put_word(e, LOAD, reg, (u32)v->number);
        *arena_writable(e->at - 8) &= (u8)~REX_W;
        break;
    case VALUE_TAKEN:
        put_taken(e, reg);
        break;
    case VALUE_CONSTANT:
        break;
    }
}

bool value_is_fixed(const EmitValue *v) {
    return value_is_constant(v) || v->kind == VALUE_THREAD || v->kind == VALUE_THREAD_U32;
}

bool value_can_be_made(const Emitter *e, const EmitValue *v) {
    Shape s;
    if (v->kind == VALUE_TAKEN)
        return branch_at(e->pc, &s);
    if ((v->kind != VALUE_ADDRESS && v->kind != VALUE_LOADED) || value_is_constant(v))
        return true;
    bool fits = v->at.base == REG_PC || v->at.disp == (i32)v->at.disp;
    return fits && (v->at.seg != SEG_FS || gs_has_instructions());
}

/* Of a register's one the view tells what is read: that, and perhaps the stack pointer. */
bool emit_target(const InsnView *view, EmitValue *value) {
    u32 registers = view->reads & ~bit(RSP);
    if (view->access_count && view->access[0].how & ACCESS_READ)
        *value = (EmitValue){.kind = VALUE_LOADED, .at = view->access[0].at};
    else
        *value = (EmitValue){.kind = VALUE_REGISTER, .number = registers ? (u32)__builtin_ctz(registers) : RSP};
    return value->kind == VALUE_LOADED || __builtin_popcount(registers) == 1;
}

/* --------------------------------------------------------------------------------------------------------------- order */

static u32 register_of(const Visiting *g, u32 argument) {
    return g->names.to[put_argument[argument]];
}

/* A value that can be made now: its register is none that another one still needs. */
static u32 next_value(const Visiting *g, u32 pending) {
    const EmitVisit *v = g->v;
    for (u32 i = 0; i < v->count; i++) {
        u32 needed = 0;
        for (u32 k = 0; k < v->count; k++)
            needed |= pending >> k & 1 && k != i ? value_sources(&v->value[k]) : 0;
        if (pending >> i & 1 && !((bit(register_of(g, i)) | value_temporaries(&v->value[i])) & needed))
            return i;
    }
    return v->count;
}

bool put_values(Visiting *g) {
    for (u32 pending = (((u32)1 << g->v->count) - 1) & ~(g->late | g->not_made); pending;) {
        u32 i = next_value(g, pending);
        if (i == g->v->count)
            return false;
        words_forget(g->e, bit(register_of(g, i)) | value_temporaries(&g->v->value[i]));
        put_value(g->e, register_of(g, i), &g->v->value[i]);
        pending &= ~((u32)1 << i);
    }
    return true;
}
