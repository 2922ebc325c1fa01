/* copy_visit.c: calls of a tool's functions between copied instructions.
 *
 *     save registers     those that the guest needs and the function, or what it is given, changes: in registers that the guest does not need, or in the Thread
 *     values             into the registers in which C functions expect them; no flag is changed
 *     save flags         if the guest needs them: into rax
 *     the function       a copy of its blocks that do without the stack, or a call on the Thread's own stack: the guest's may be bad, and has values below rsp
 *     flags, registers
 *
 * Nothing of this is at an instruction of the guest's: a signal that comes meanwhile is delivered behind the instruction that follows, with all
 * registers as they were. */
#include "run/client/host/x86_64/copy/encode.h"
#include "run/client/tool/tool.h"

enum { REGISTERS = 16, NO_PLACE = 0xff };
enum { STORE = 0x89, LOAD = 0x8b, FLAGS_SLOT = REGISTERS };

static u32 slot(u32 number) {
    return THREAD_TOOL_SPILL + 8 * number;
}

/* ------------------------------------------------------------------------------------------------------- instructions */

/* mov between a register and a place in the Thread. */
static void put_word(Emitter *e, u8 opcode, u32 reg, u32 off) {
    const u8 text[] = {GS, (u8)(REX | REX_W | (reg & 8 ? REX_R : 0)), opcode, (u8)(RM_SP | (reg & 7) << 3), 0x25};
    put(e, text, sizeof(text));
    put32(e, off);
}

static void put_move(Emitter *e, u32 to, u32 from) {
    const u8 text[] = {(u8)(REX | REX_W | (from & 8 ? REX_R : 0) | (to & 8 ? REX_B : 0)), STORE,
                       (u8)(0xc0 | (from & 7) << 3 | (to & 7))};
    put(e, text, sizeof(text));
}

/* ------------------------------------------------------------------------------------------------------------- values */

static u32 bit(u32 reg) {
    return reg < REGISTERS ? (u32)1 << reg : 0;
}

static bool is_constant(const EmitValue *v) {
    return v->kind == VALUE_CONSTANT || (v->kind == VALUE_ADDRESS && v->at.base == REG_PC && !v->at.seg) ||
           (v->kind == VALUE_ADDRESS && v->at.base == REG_NONE && v->at.index == REG_NONE && !v->at.seg);
}

/* The registers that it is made of. */
static u32 sources(const EmitValue *v) {
    if (v->kind == VALUE_REGISTER)
        return bit((u32)v->number);
    return v->kind == VALUE_ADDRESS ? bit(v->at.base) | bit(v->at.index) : 0;
}

/* r11 has the segment's base meanwhile. */
static u32 temporaries(const EmitValue *v) {
    return v->kind == VALUE_ADDRESS && v->at.seg ? bit(R11) : 0;
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

static void put_value(Emitter *e, u32 reg, const EmitValue *v) {
    if (is_constant(v)) {
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

/* A value that can be made now: its register is none that another one still needs. */
static u32 next_value(const EmitVisit *v, u32 pending) {
    for (u32 i = 0; i < v->count; i++) {
        u32 needed = 0;
        for (u32 k = 0; k < v->count; k++)
            needed |= pending >> k & 1 && k != i ? sources(&v->value[k]) : 0;
        if (pending >> i & 1 && !((bit(put_argument[i]) | temporaries(&v->value[i])) & needed))
            return i;
    }
    return v->count;
}

/* Values that only rare parts of the function need are made there, if they do not depend on registers and flags. */
static u32 late_values(const EmitVisit *v, const Inner *in) {
    u32 late = 0;
    for (u32 i = 0; i < v->count; i++) {
        bool fixed =
            is_constant(&v->value[i]) || v->value[i].kind == VALUE_THREAD || v->value[i].kind == VALUE_THREAD_U32;
        bool used = (in->copied_reads | in->copied_clobbers) & bit(put_argument[i]);
        late |= fixed && !used ? (u32)1 << i : 0;
    }
    return late;
}

/* False: there is no order in which each register is still there when it is needed. */
static bool put_values(Emitter *e, const EmitVisit *v, u32 late) {
    for (u32 pending = (((u32)1 << v->count) - 1) & ~late; pending;) {
        u32 i = next_value(v, pending);
        if (i == v->count)
            return false;
        put_value(e, put_argument[i], &v->value[i]);
        pending &= ~((u32)1 << i);
    }
    return true;
}

/* -------------------------------------------------------------------------------------------------------------- saving */

typedef struct Saving {
    u32 registers;       /* that are saved */
    u32 live;            /* that have values the guest needs, in themselves or for others */
    u8 place[REGISTERS]; /* another register that has the value; NO_PLACE: it is in the Thread */
    bool flags;          /* they are saved, in rax first, */
    bool flags_in_rax;   /* and stay there */
} Saving;

/* Places for `changed` registers that the guest needs, in those of `free`. */
static void choose_places(Saving *s, u32 changed, u32 free) {
    s->registers = s->live & changed;
    for (u32 r = 0; r < REGISTERS; r++) {
        s->place[r] = NO_PLACE;
        if (!(s->registers >> r & 1) || !free)
            continue;
        s->place[r] = (u8)__builtin_ctz(free);
        free &= free - 1;
        s->live |= bit(s->place[r]);
    }
}

static void put_saving(Emitter *e, const Saving *s, u32 r) {
    if (s->place[r] == NO_PLACE)
        put_word(e, STORE, r, slot(r));
    else
        put_move(e, s->place[r], r);
}

static void put_restoring(Emitter *e, const Saving *s, u32 r) {
    if (s->place[r] == NO_PLACE)
        put_word(e, LOAD, r, slot(r));
    else
        put_move(e, r, s->place[r]);
}

/* rax has OF as a byte and the other flags in ah, as in quick.S. */
static void put_flags_to_rax(Emitter *e) {
    put(e, "\x9f\x0f\x90\xc0", 4); /* lahf; seto %al */
}

static void put_flags_from_rax(Emitter *e) {
    put(e, "\x04\x7f\x9e", 3); /* add $0x7f, %al; sahf */
}

/* ---------------------------------------------------------------------------------------------------------- the function */

/* A jump whose target is known later. */
typedef struct Fixup {
    u8 *site;
    u32 block;
} Fixup;
enum { END = INNER_BLOCKS, FIXUPS = 2 * INNER_BLOCKS }; /* at most two jumps of each block */

/* The copy of a function while it is made. */
typedef struct Copying {
    Emitter *e;
    const Inner *in;
    const Saving *saving;
    const EmitVisit *visit;
    u32 late;                   /* arguments that the copied blocks do not need */
    u8 *code[INNER_BLOCKS + 1]; /* of each block; NULL: not yet */
    Fixup fixup[FIXUPS];
    u32 fixups;
} Copying;

static u8 *put_jump_site(Emitter *e, i32 condition) {
    if (condition < 0) {
        put8(e, 0xe9);
    } else {
        put8(e, 0x0f);
        put8(e, 0x80 | (u32)condition);
    }
    e->at += 4;
    return e->at - 4;
}

static void set_jump_site(u8 *site, const u8 *target) {
    i32 distance = (i32)(target - (site + 4));
    memcpy(arena_writable(site), &distance, 4);
}

/* Registers of late arguments are changed there, too. */
static void add_cold(Copying *c, u8 *site, u64 target) {
    u32 changed = c->in->clobbers;
    for (u32 i = 0; i < c->visit->count; i++)
        changed |= c->late >> i & 1 ? bit(put_argument[i]) : 0;
    EmitCold *cold = &c->e->cold[c->e->colds++];
    *cold = (EmitCold){.site = site,
                       .target = target,
                       .spilled = changed & ~c->saving->registers & c->saving->live,
                       .late = c->late,
                       .flags = c->saving->flags_in_rax};
    memcpy(cold->value, c->visit->value, sizeof(cold->value));
}

/* A jump to a block, or to the function's end; condition -1: always. */
static void put_jump(Copying *c, i32 condition, u32 block) {
    Emitter *e = c->e;
    u8 *site = put_jump_site(e, condition);
    const InnerBlock *b = &c->in->block[block];
    if (block != END && b->cold)
        add_cold(c, site, b->start);
    else
        c->fixup[c->fixups++] = (Fixup){site, block};
}

static bool only_returns(const Copying *c, u32 block) {
    const InnerBlock *b = &c->in->block[block];
    return !b->cold && b->ends == INNER_RETURNS && b->start == b->end;
}

static void put_text(Emitter *e, u64 start, u64 end) {
    Shape s;
    for (u64 at = start; at < end; at += s.length) {
        CHECK(shape_of((const u8 *)at, SHAPE_BYTES, &s), "the instruction was looked at before");
        e->text = (const u8 *)at;
        e->next = at + s.length;
        put_copy(e, &s);
    }
}

/* Copies blocks, one behind the other, as far as each leads to the next one. */
static void put_blocks(Copying *c, u32 block) {
    while (block != END && !c->in->block[block].cold && !c->code[block]) {
        const InnerBlock *b = &c->in->block[block];
        c->code[block] = c->e->at;
        put_text(c->e, b->start, b->end);
        u32 target = b->ends == INNER_RETURNS || only_returns(c, b->target) ? END : b->target;
        if (b->ends == INNER_BRANCHES) {
            bool swap = c->in->block[b->next].cold && target != END && !c->in->block[target].cold;
            swap |= c->in->block[b->next].cold && target == END;
            put_jump(c, swap ? b->condition ^ 1 : b->condition, swap ? b->next : target);
            block = swap ? target : b->next;
        } else
            block = target;
    }
    put_jump(c, -1, block);
}

/* The last jump leads behind itself if it is one to the end: it is taken away. */
static void drop_last_jump(Copying *c) {
    enum { JUMP_BYTES = 5 };
    const Fixup *last = c->fixups ? &c->fixup[c->fixups - 1] : NULL;
    if (last && last->block == END && last->site + 4 == c->e->at) {
        c->e->at -= JUMP_BYTES;
        c->fixups--;
    }
}

static void put_function(Emitter *e, const Inner *in, const Saving *saving, const EmitVisit *v, u32 late) {
    Copying c = {.e = e, .in = in, .saving = saving, .visit = v, .late = late};
    u32 first_cold = e->colds;
    put_blocks(&c, 0);
    for (u32 i = 0; i < c.fixups; i++)
        if (c.fixup[i].block != END && !c.code[c.fixup[i].block])
            put_blocks(&c, c.fixup[i].block);
    drop_last_jump(&c);
    c.code[END] = e->at;
    for (u32 i = 0; i < c.fixups; i++)
        set_jump_site(c.fixup[i].site, c.code[c.fixup[i].block]);
    for (u32 i = first_cold; i < e->colds; i++)
        e->cold[i].back = e->at;
}

static void put_whole_call(Emitter *e, u64 function, const Saving *s) {
    put_saving(e, s, RSP);
    put_word(e, LOAD, RSP, THREAD_TOOL_TOP);
    put_near_call(e, function);
    put_restoring(e, s, RSP);
}

static void put_cold_part(Emitter *e, const EmitCold *c) {
    set_jump_site(c->site, e->at);
    for (u32 r = 0; r < REGISTERS; r++)
        if (c->spilled >> r & 1)
            put_word(e, STORE, r, slot(r));
    if (c->flags)
        put_word(e, STORE, RAX, slot(FLAGS_SLOT));
    for (u32 i = 0; i < LATHE_VALUES; i++)
        if (c->late >> i & 1)
            put_value(e, put_argument[i], &c->value[i]);
    put_word(e, STORE, RSP, slot(RSP));
    put_word(e, LOAD, RSP, THREAD_TOOL_TOP);
    put_near_call(e, c->target);
    put_word(e, LOAD, RSP, slot(RSP));
    if (c->flags)
        put_word(e, LOAD, RAX, slot(FLAGS_SLOT));
    for (u32 r = 0; r < REGISTERS; r++)
        if (c->spilled >> r & 1)
            put_word(e, LOAD, r, slot(r));
    set_jump_site(put_jump_site(e, -1), c->back);
}

void put_cold(Emitter *e) {
    for (u32 i = 0; i < e->colds; i++)
        put_cold_part(e, &e->cold[i]);
}

/* --------------------------------------------------------------------------------------------------------------- visits */

/* What it is given, as registers: those that are set, and those that are read for that. */
static void look_at_values(const EmitVisit *v, u32 late, u32 *set, u32 *read) {
    *set = *read = 0;
    for (u32 i = 0; i < v->count; i++) {
        if (late >> i & 1)
            continue;
        *set |= bit(put_argument[i]) | temporaries(&v->value[i]);
        *read |= sources(&v->value[i]);
    }
}

static bool can_make(const Emitter *e, const EmitValue *v) {
    Shape s;
    if (v->kind == VALUE_TAKEN)
        return branch_at(e->pc, &s);
    if (v->kind != VALUE_ADDRESS || is_constant(v))
        return true;
    bool fits = v->at.base == REG_PC || v->at.disp == (i32)v->at.disp;
    return fits && (v->at.seg != SEG_FS || gs_has_instructions());
}

static bool can_visit(const Emitter *e, const EmitVisit *v, const Inner *in) {
    for (u32 i = 0; i < v->count; i++)
        if (!can_make(e, &v->value[i]))
            return false;
    return in && in->direct;
}

static void put_saved(Emitter *e, const Saving *s) {
    for (u32 r = 0; r < REGISTERS; r++)
        if (s->registers >> r & 1 && r != RSP)
            put_saving(e, s, r);
}

static void put_restored(Emitter *e, const Saving *s) {
    if (s->flags && !s->flags_in_rax)
        put_word(e, LOAD, RAX, slot(FLAGS_SLOT));
    if (s->flags)
        put_flags_from_rax(e);
    for (u32 r = 0; r < REGISTERS; r++)
        if (s->registers >> r & 1 && r != RSP)
            put_restoring(e, s, r);
}

bool emit_visit(Emitter *e, const EmitVisit *v) {
    const Inner *in = inner_of(v->function);
    Saving s = {0};
    u32 set, read;
    if (!can_visit(e, v, in))
        return false;
    live_before(e, v->pc, &s.live, &s.flags);
    bool copied = in->count && e->colds + FIXUPS <= EMIT_COLDS;
    u32 clobbers = copied ? in->copied_clobbers : in->clobbers | bit(RSP);
    u32 late = copied ? late_values(v, in) : 0;
    look_at_values(v, late, &set, &read);
    s.live |= bit(RSP) | (tool_watched_registers() & LIVE_ALL);
    s.flags_in_rax = s.flags && !(clobbers & bit(RAX));
    u32 changed = set | clobbers | (s.flags ? bit(RAX) : 0);
    choose_places(&s, changed, LIVE_ALL & ~(s.live | changed | read));
    put_saved(e, &s);
    if (!put_values(e, v, late))
        return false;
    if (s.flags)
        put_flags_to_rax(e);
    if (s.flags && !s.flags_in_rax)
        put_word(e, STORE, RAX, slot(FLAGS_SLOT));
    if (copied)
        put_function(e, in, &s, v, late);
    else
        put_whole_call(e, v->function, &s);
    put_restored(e, &s);
    return true;
}
