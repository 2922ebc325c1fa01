/* copy_visit.c: calls of a tool's functions between copied instructions.
 *
 *     save registers     those that the guest needs and the function, or what it is given, changes: in the Thread
 *     values             into the registers in which the function expects them; no flag is changed
 *     save flags         if the guest needs them: into rax
 *     the function       a copy of its blocks that do without the stack, with registers that suit (visit_registers.c), or a call on the Thread's own stack: the
 *                        guest's may be bad, and has values below rsp
 *     flags
 *
 * The registers are given back when an instruction needs them, so that what follows finds them put aside already: by the end of what control goes through at once (emit_give_back).
 *
 * Nothing of this is at an instruction of the guest's: a signal that comes meanwhile is delivered behind the instruction that follows, with all
 * registers as they were. */
#include "run/client/host/x86_64/copy/visiting.h"

/* In the Thread: the guest's registers and flags; and, for rare parts of a function, the function's own registers. */
enum { FLAGS_SLOT = REGISTERS, FIRST_OWN_SLOT };
_Static_assert(FIRST_OWN_SLOT + REGISTERS == TOOL_SPILLS, "a slot for each");

u32 visit_slot(u32 number) {
    return THREAD_TOOL_SPILL + 8 * number;
}

/* -------------------------------------------------------------------------------------------------------------- saving */

static void put_all(Emitter *e, u8 opcode, u32 registers, u32 first_slot) {
    for (u32 r = 0; r < REGISTERS; r++)
        if (registers >> r & 1)
            put_word(e, opcode, r, visit_slot(first_slot + r));
}

/* rax has OF as a byte and the other flags in ah, as in quick.S. */
static void put_flags_to_rax(Emitter *e) {
    put(e, "\x9f\x0f\x90\xc0", 4); /* lahf; seto %al */
}

static void put_flags_from_rax(Emitter *e) {
    put(e, "\x04\x7f\x9e", 3); /* add $0x7f, %al; sahf */
}

/* ---------------------------------------------------------------------------------------------------------- the function */

/* A part of a function that is called behind the block, because it is rare. */
typedef struct Cold {
    u8 *site, *back; /* the jump that leads there, and where it goes on afterwards */
    u8 *code;        /* once it is there */
    u64 target;      /* in the function */
    u32 spilled;     /* registers that the part changes and that are not saved yet */
    u32 moved;       /* registers of the function's that are others in copied code: */
    u8 names[REGISTERS];
    u32 late; /* bit n: argument n gets this value only here */
    EmitValue value[LATHE_VALUES];
    bool flags;      /* rax has the guest's flags */
    EmitWords words; /* what registers are known to have behind the visit */
} Cold;

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
    const Visiting *g;
    u8 *code[INNER_BLOCKS + 1]; /* of each block; NULL: not yet */
    Fixup fixup[FIXUPS];
    u32 fixups;
    bool follows; /* what registers have of the tool's words is followed */
    bool ends;    /* there was a jump to the end; on all ways there, registers have */
    EmitWords words;
} Copying;

/* The way through a function from its beginning, as the compiler has put it, is copied to where it is needed. What is beside that way is copied behind the block. */
typedef struct Rest {
    Copying c;
    Visiting g;
    EmitVisit v;
} Rest;

enum { COLDS = 512, RESTS = 128 };

/* What the block that is being made has behind it; e->colds and e->rests say how many. Protected by the arena's lock. */
static struct {
    Cold cold[COLDS];
    Rest rest[RESTS];
} behind;

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

/* The function's registers that have other names. */
static u32 renamed(const Visiting *g) {
    u32 all = 0;
    for (u32 r = 0; r < REGISTERS; r++)
        all |= g->used >> r & 1 && g->names.to[r] != r ? bit(r) : 0;
    return all;
}

/* What is called has the function's own registers. */
static void add_cold(Copying *c, u8 *site, u64 target) {
    const Visiting *g = c->g;
    u32 moved = renamed(g), changed = c->in->clobbers | moved;
    for (u32 i = 0; i < g->v->count; i++)
        changed |= g->late >> i & 1 ? bit(put_argument[i]) : 0;
    CHECK(c->e->colds < COLDS, "is_copied has looked");
    Cold *cold = &behind.cold[c->e->colds++];
    *cold = (Cold){.site = site,
                   .target = target,
                   .spilled = changed & g->live & ~(g->saved | g->kept),
                   .moved = moved,
                   .late = g->late,
                   .flags = g->flags_in_rax};
    memcpy(cold->value, g->v->value, sizeof(cold->value));
    memcpy(cold->names, g->names.to, sizeof(cold->names));
}

/* A jump to a block, or to the function's end; condition -1: always. */
static void put_jump(Copying *c, i32 condition, u32 block) {
    Emitter *e = c->e;
    u8 *site = put_jump_site(e, condition);
    const InnerBlock *b = &c->in->block[block];
    if (block != END && b->cold) {
        add_cold(c, site, b->start);
        return;
    }
    c->fixup[c->fixups++] = (Fixup){site, block};
    if (block == END)
        c->words = c->ends ? words_both(&c->words, &e->words) : e->words;
    c->ends |= block == END;
}

static bool only_returns(const Copying *c, u32 block) {
    const InnerBlock *b = &c->in->block[block];
    return !b->cold && b->ends == INNER_RETURNS && b->start == b->end;
}

/* A load of what a register has already: that is one of other names, or none. */
static bool put_known(const Copying *c, u64 at, const Word *word) {
    u32 reg = c->g->names.to[word->reg], known = words_find(c->e, word->off);
    if (word->stores || known == REGISTERS)
        return false;
    if (known != reg) {
        put_move(c->e, reg, known);
        words_note(c->g, at, word);
    }
    return true;
}

static void put_insn(const Copying *c, u64 at, const Shape *s) {
    Emitter *e = c->e;
    Word word;
    bool is_word = c->follows && words_is_one(c->g, (const u8 *)at, s, &word);
    if (is_word && put_known(c, at, &word))
        return;
    u8 text[RENAME_BYTES];
    Shape other = *s;
    e->text = (const u8 *)at;
    e->next = at + s->length;
    if (c->in->renames) {
        u32 size = rename_insn(e->text, s, &c->g->names, text);
        CHECK(shape_of(text, size, &other), "other names make no other instruction");
        e->text = text;
    }
    put_copy(e, &other);
    if (c->follows)
        words_note(c->g, at, is_word ? &word : NULL);
}

static void put_text(const Copying *c, u64 start, u64 end) {
    Shape s;
    for (u64 at = start; at < end; at += s.length) {
        CHECK(shape_of((const u8 *)at, SHAPE_BYTES, &s), "the instruction was looked at before");
        put_insn(c, at, &s);
    }
}

/* Copies blocks, one behind the other, as far as each leads to the next one. */
static void put_blocks(Copying *c, u32 block) {
    while (block != END && !c->in->block[block].cold && !c->code[block]) {
        const InnerBlock *b = &c->in->block[block];
        c->code[block] = c->e->at;
        put_text(c, b->start, b->end);
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

static void put_other_blocks(Copying *c) {
    for (u32 i = 0; i < c->fixups; i++)
        if (c->fixup[i].block != END && !c->code[c->fixup[i].block])
            put_blocks(c, c->fixup[i].block);
}

static void set_jumps(const Copying *c, u32 first_cold) {
    for (u32 i = 0; i < c->fixups; i++)
        set_jump_site(c->fixup[i].site, c->code[c->fixup[i].block]);
    for (u32 i = first_cold; i < c->e->colds; i++)
        behind.cold[i].back = c->code[END];
}

static bool has_rest(const Copying *c) {
    for (u32 i = 0; i < c->fixups; i++)
        if (c->fixup[i].block != END && !c->code[c->fixup[i].block])
            return true;
    return false;
}

static void follow_no_more(Copying *c) {
    c->follows = false;
    words_forget(c->e, LIVE_ALL);
}

static void put_function(const Visiting *g) {
    Emitter *e = g->e;
    Copying c = {.e = e, .in = g->in, .g = g, .follows = g->in->straight};
    u32 first_cold = e->colds;
    if (!c.follows)
        words_forget(e, LIVE_ALL);
    put_blocks(&c, 0);
    bool others = has_rest(&c), rest = others && e->rests < RESTS;
    if (others)
        follow_no_more(&c);
    if (!rest)
        put_other_blocks(&c);
    drop_last_jump(&c);
    c.code[END] = e->at;
    if (c.follows)
        words_set(e, &c.words);
    if (rest)
        behind.rest[e->rests++] = (Rest){c, *g, *g->v};
    for (u32 i = first_cold; rest && i < e->colds; i++)
        behind.cold[i].back = e->at;
    if (!rest)
        set_jumps(&c, first_cold);
}

/* The rest of what put_function has begun. */
static void put_rest(Rest *r) {
    u32 first_cold = r->c.e->colds;
    r->g.v = &r->v;
    r->c.g = &r->g;
    put_other_blocks(&r->c);
    set_jumps(&r->c, first_cold);
}

static void put_whole_call(Emitter *e, u64 function) {
    put_word(e, STORE, RSP, visit_slot(RSP));
    put_word(e, LOAD, RSP, THREAD_TOOL_TOP);
    put_near_call(e, function);
    put_word(e, LOAD, RSP, visit_slot(RSP));
}

/* Another jump of the same visit to the same part; NULL: this is the first one. */
static const Cold *same_part(const Cold *c) {
    for (const Cold *other = behind.cold; other < c; other++)
        if (other->back == c->back && other->target == c->target)
            return other;
    return NULL;
}

static void put_cold_part(Emitter *e, Cold *c) {
    const Cold *same = same_part(c);
    c->code = same ? same->code : e->at;
    set_jump_site(c->site, c->code);
    if (same)
        return;
    for (u32 r = 0; r < REGISTERS; r++)
        if (c->moved >> r & 1)
            put_word(e, STORE, c->names[r], visit_slot(FIRST_OWN_SLOT + r));
    put_all(e, STORE, c->spilled, 0);
    if (c->flags)
        put_word(e, STORE, RAX, visit_slot(FLAGS_SLOT));
    put_all(e, LOAD, c->moved, FIRST_OWN_SLOT);
    for (u32 i = 0; i < LATHE_VALUES; i++)
        if (c->late >> i & 1)
            put_value(e, put_argument[i], &c->value[i]);
    put_whole_call(e, c->target);
    if (c->flags)
        put_word(e, LOAD, RAX, visit_slot(FLAGS_SLOT));
    put_all(e, LOAD, c->spilled, 0);
    for (u32 left = c->words.registers; left; left &= left - 1)
        put_word(e, LOAD, (u32)__builtin_ctz(left), c->words.off[__builtin_ctz(left)]);
    set_jump_site(put_jump_site(e, -1), c->back);
}

void put_cold(Emitter *e) {
    for (u32 i = 0; i < e->rests; i++)
        put_rest(&behind.rest[i]);
    for (u32 i = 0; i < e->colds; i++)
        put_cold_part(e, &behind.cold[i]);
}

/* --------------------------------------------------------------------------------------------------------------- visits */

static bool can_visit(const Emitter *e, const EmitVisit *v, const Inner *in) {
    for (u32 i = 0; i < v->count; i++)
        if (!value_can_be_made(e, &v->value[i]))
            return false;
    return in && in->direct;
}

static bool does_nothing(const Inner *in) {
    return in->count && !in->has_cold && in->block[0].ends == INNER_RETURNS && in->block[0].start == in->block[0].end;
}

static void put_before(const Visiting *g) {
    if (g->flags) {
        words_forget(g->e, bit(RAX));
        put_flags_to_rax(g->e);
    }
    if (g->flags && !g->flags_in_rax)
        put_word(g->e, STORE, RAX, visit_slot(FLAGS_SLOT));
}

static void put_restored(const Visiting *g) {
    if (g->flags && !g->flags_in_rax)
        put_word(g->e, LOAD, RAX, visit_slot(FLAGS_SLOT));
    if (g->flags) {
        put_flags_from_rax(g->e);
        words_forget(g->e, bit(RAX));
    }
    g->e->aside |= g->saved & ~bit(RSP);
}

static void note_kept(Emitter *e, const Visiting *g) {
    if (!g->kept)
        return;
    e->kept = (e->kept_pc == g->v->pc ? e->kept : 0) | g->kept;
    e->kept_pc = g->v->pc;
}

/* May the guest's instruction at e->pc run while registers that it does not use are in the Thread? Nobody but a handler of faults, or of a signal, looks at them there; they find them by kept_at. */
static bool can_do_without(const Emitter *e, const InsnView *v) {
    Shape s;
    return live_is_copied(v) && shape_of((const u8 *)e->pc, v->size, &s) && s.kind == SHAPE_PLAIN &&
           !quick_keeps_registers(e->pc);
}

void emit_give_back(Emitter *e, const InsnView *next) {
    bool some = e->aside && next && can_do_without(e, next);
    words_forget(e, some ? next->reads | next->writes : LIVE_ALL);
    u32 overwritten = some ? next->kills & ~next->reads : 0;
    u32 needed = some ? (next->reads | next->writes) & ~overwritten : LIVE_ALL;
    put_all(e, LOAD, e->aside & needed, 0);
    e->aside &= ~needed;
    if (!(e->aside & overwritten))
        return;
    e->kept = (e->kept_pc == e->pc ? e->kept : 0) | (e->aside & overwritten);
    e->kept_pc = e->pc;
    e->aside &= ~overwritten;
}

void emit_note_aside(const u8 *code, u32 registers) {
    kept_add(code, registers);
}

bool emit_has_all(const u8 *code) {
    return !kept_at(code);
}

/* So many jumps to rare parts there may be in what is still to be put behind the block: at most two in each block of a function. */
static u32 colds_of_rests(const Emitter *e) {
    u32 most = 0;
    for (u32 i = 0; i < e->rests; i++)
        most += 2 * behind.rest[i].c.in->count;
    return most;
}

static bool is_copied(const Emitter *e, const Inner *in) {
    u32 without = the.opt.tool_without;
    bool room = e->colds + colds_of_rests(e) + 2 * in->count <= COLDS;
    return in->count && room && without != TOOL_WITHOUT_INLINE && !(in->has_cold && without == TOOL_WITHOUT_SPLIT);
}

EmitVisited emit_visit(Emitter *e, const EmitVisit *v) {
    const Inner *in = inner_of(v->function);
    if (!can_visit(e, v, in))
        return VISIT_REFUSED;
    if (does_nothing(in))
        return VISIT_COPIED;
    u32 first_cold = e->colds;
    Visiting g = {.e = e, .v = v, .in = in, .copied = is_copied(e, in)};
    choose_registers(&g);
    put_all(e, LOAD, g.back, 0);
    e->aside &= ~g.back;
    put_all(e, STORE, (g.saved | g.kept) & ~bit(RSP), 0);
    if (!put_values(&g))
        return VISIT_REFUSED;
    put_before(&g);
    if (g.copied)
        put_function(&g);
    else
        put_whole_call(e, v->function);
    if (!g.copied)
        words_forget(e, LIVE_ALL);
    put_restored(&g);
    for (u32 i = first_cold; i < e->colds; i++)
        behind.cold[i].words = e->words;
    note_kept(e, &g);
    return !g.copied ? VISIT_CALLED : in->has_cold ? VISIT_SPLIT : VISIT_COPIED;
}
