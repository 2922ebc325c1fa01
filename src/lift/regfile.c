/* regfile.c: guest registers as SSA values.
 *
 * Each block maps each register to a RegVal: the register's bits, in as many facets as somebody asked for. Nothing is made
 * before it is asked for: not the load of a register's first value, not a phi, not a flag. A register's value at the start of
 * a block is a phi if two definitions meet there (the iterated dominance frontier of the blocks that write it), and
 * otherwise its value at the end of the immediate dominator; so the IR has the phis a compiler would have made, no more.
 *
 * Scalar floating point writes the low lane of a vector register and keeps the rest. Low lane and rest are then values of
 * their own, with phis of their own, joined only when somebody asks for the whole: so a loop over scalars has no shuffles.
 *
 * A facet is remembered with the block it was made in and used again wherever that block dominates. Guest code's own
 * sub-blocks (side exits, loops inside one instruction) make no values that later code could see: `cold` is set there.
 */
#include "lift/func.h"

typedef struct Facet {
    Ty ty;
    u16 open_bits; /* so many low bits are anything: see read_rest */
    u32 block;
    Val v;
    struct Facet *next;
} Facet;

typedef enum RegValKind {
    VAL_PLAIN, /* defined by `whole` */
    VAL_JOIN,  /* the low bits are `low`, the others those of `rest` */
    VAL_GIVEN, /* as it is at the function's start or after a call: in its slot or in the guest state */
    VAL_PHI,   /* at the head of a block */
    VAL_LAZY,  /* made on demand */
} RegValKind;

struct RegVal {
    u8 kind;
    Reg reg;       /* GIVEN, PHI, LAZY: of this register */
    u32 block;     /* where it is defined */
    Facet *facets; /* all that were asked for */
    Facet *whole;  /* the defining value; narrower than the register: zero-extended. GIVEN, PHI: once asked for */
    Facet *low;    /* JOIN: the low lane; PHI: likewise if a scalar was asked for before the whole */
    RegVal *rest;
    Val after;     /* GIVEN: the call it comes from; NULL: the function's start */
    bool in_state; /* GIVEN: it is in the guest state */
    RegVal *next;  /* PHI of a flag: another one of the block */
    MakeLazy *make;
    const void *arg;
};

struct Pending {
    RegVal *val;
    Val phi;
    Ty ty;
    u16 open_bits;
    Pending *next;
};

typedef struct Place {
    Label label;
    u32 block;
    bool cold;
} Place;

static Place place_save(LatheFunc *fn) {
    return (Place){ir_where(&fn->l), fn->current, fn->cold};
}

/* The end of a block is before its terminator, once it has one. */
static void position_at_end(LatheFunc *fn, Label label) {
    Val terminator = LLVMGetBasicBlockTerminator(label);
    if (terminator)
        ir_before(&fn->l, terminator);
    else
        ir_here(&fn->l, label);
}

static void place_restore(LatheFunc *fn, Place p) {
    position_at_end(fn, p.label);
    fn->current = p.block;
    fn->cold = p.cold;
}

static RegVal *new_val(LatheFunc *fn, RegValKind kind, Reg r, u32 block) {
    RegVal *val = ARENA_NEW(&fn->arena, RegVal);
    val->kind = kind;
    val->reg = r;
    val->block = block;
    return val;
}

static Facet *add_facet(LatheFunc *fn, RegVal *val, Ty ty, Val v, u32 block) {
    Facet *f = ARENA_NEW(&fn->arena, Facet);
    *f = (Facet){ty, 0, block, v, val->facets};
    return val->facets = f;
}

/* ------------------------------------------------------------------------------------------------ where values come from */

/* The blocks where definitions of r meet. */
static const u64 *phi_blocks(LatheFunc *fn, Reg r) {
    if (fn->phi_blocks[r])
        return fn->phi_blocks[r];
    u64 *meets = ARENA_ARRAY(&fn->arena, u64, fn->block_count / 64 + 1);
    u32 *work = mem_new(fn->block_count * 2 * sizeof(u32)), len = 0;
    for (u32 i = 0; i < fn->order_count; i++)
        if (fn->order[i] == 0 || regset_has(&fn->blocks[fn->order[i]].writes, r))
            work[len++] = fn->order[i];
    while (len) {
        for (BlockList *f = fn->blocks[work[--len]].frontier; f; f = f->next) {
            u64 bit = (u64)1 << f->block % 64;
            if (meets[f->block / 64] & bit)
                continue;
            meets[f->block / 64] |= bit;
            if (!regset_has(&fn->blocks[f->block].writes, r))
                work[len++] = f->block;
        }
    }
    mem_free(work);
    return fn->phi_blocks[r] = meets;
}

static RegVal *new_phi(LatheFunc *fn, Reg r, u32 block) {
    RegVal *val = new_val(fn, VAL_PHI, r, block), **flags = &fn->blocks[block].flag_phis;
    if (regset_has(&fn->isa->dead_at_calls, r)) {
        val->next = *flags;
        *flags = val;
    }
    return val;
}

/* The value of r at the end of block b, or where it is being lifted. */
static RegVal *value_in(LatheFunc *fn, u32 b, Reg r) {
    CHECK(!regset_has(&fn->conv.unseen, r), "the decoder did not say that this instruction uses that vector register");
    const u64 *meets = NULL;
    u32 at = b;
    while (!fn->blocks[at].vals[r]) {
        Block *block = &fn->blocks[at];
        if (block->reload || at == 0) {
            block->vals[r] = new_val(fn, VAL_GIVEN, r, at);
            block->vals[r]->after = block->reload;
            block->vals[r]->in_state = fn->conv.slot_of[r] < 0 || (block->reload && block->reload_from_state);
        } else if ((meets ? meets : (meets = phi_blocks(fn, r)))[at / 64] >> at % 64 & 1) {
            block->vals[r] = new_phi(fn, r, at);
        } else {
            at = block->idom;
        }
    }
    return fn->blocks[b].vals[r] = fn->blocks[at].vals[r];
}

static void position_after_call(LatheFunc *fn, Val call) {
    Val next = LLVMGetNextInstruction(call);
    if (next)
        ir_before(&fn->l, next);
    else
        ir_here(&fn->l, LLVMGetInstructionParent(call));
}

/* From its slot among the arguments, or among what the call returned; it has the slot's type. */
static Val take_from_slot(LatheFunc *fn, RegVal *val) {
    unsigned slot = (unsigned)fn->conv.slot_of[val->reg];
    if (!val->after)
        return LLVMGetParam(fn->l.fn, slot);
    position_after_call(fn, val->after);
    return LLVMBuildExtractValue(fn->l.b, val->after, slot, "");
}

static Val load_from_state(LatheFunc *fn, RegVal *val, Ty ty) {
    Lifter *l = &fn->l;
    const RegInfo *reg = &fn->isa->regs[val->reg];
    if (val->after)
        position_after_call(fn, val->after);
    else
        position_at_end(fn, fn->blocks[0].tail);
    u32 align = reg->bits / 8 ? reg->bits / 8 : 1;
    Val ptr = ir_state(l, reg->off_bytes);
    if (reg->kind != REG_FLAG)
        return ir_load(l, ty, ptr, align, SPACE_STATE);
    return ir_trunc(l, ir_load(l, I8, ptr, 1, SPACE_STATE), I1);
}

static Val make_phi(LatheFunc *fn, RegVal *val, Ty ty, u16 open_bits) {
    Label head = fn->blocks[val->block].head;
    Val first = LLVMGetFirstInstruction(head);
    if (first)
        ir_before(&fn->l, first);
    else
        ir_here(&fn->l, head);
    Val phi = ir_phi(&fn->l, ty);
    Pending *p = ARENA_NEW(&fn->arena, Pending);
    *p = (Pending){val, phi, ty, open_bits, fn->pending};
    fn->pending = p;
    return phi;
}

static bool is_low_lane(const RegInfo *reg, Ty t) {
    return reg->kind == REG_VECTOR && (t == F32 || t == F64);
}

static Facet *add_given(LatheFunc *fn, RegVal *val, Ty ty) {
    Val v = val->in_state ? load_from_state(fn, val, ty) : take_from_slot(fn, val);
    return add_facet(fn, val, ir_ty(v), v, val->block);
}

/* Give a value its defining facet, in the full-width type nearest to what is asked for. */
static void define(LatheFunc *fn, RegVal *val, Ty wanted) {
    Place here = place_save(fn);
    const RegInfo *reg = &fn->isa->regs[val->reg];
    Ty ty = facet_carrier(reg, wanted);
    if (val->kind == VAL_PHI && is_low_lane(reg, wanted))
        val->low = add_facet(fn, val, wanted, make_phi(fn, val, wanted, 0), val->block);
    else if (val->kind == VAL_PHI)
        val->whole = add_facet(fn, val, ty, make_phi(fn, val, ty, 0), val->block);
    else
        val->whole = add_given(fn, val, ty);
    place_restore(fn, here);
}

static Facet *find_facet(LatheFunc *fn, RegVal *val, Ty ty, u16 open_bits) {
    for (Facet *f = val->facets; f; f = f->next)
        if (f->ty == ty && f->open_bits == open_bits &&
            (f->block == fn->current || graph_dominates(fn, f->block, fn->current)))
            return f;
    return NULL;
}

static Val read_val(LatheFunc *fn, RegVal *val, Reg r, Ty ty);

/* A vector that agrees with the value but for its low open_bits, which nobody looks at. */
static Val read_rest(LatheFunc *fn, RegVal *val, Ty ty, u16 open_bits) {
    while (val->kind == VAL_JOIN && ty_bits(val->low->ty) <= open_bits)
        val = val->rest;
    if (val->kind == VAL_PLAIN && ty_bits(val->whole->ty) <= open_bits)
        return ir_zero(&fn->l, ty);
    if (val->kind != VAL_PHI)
        return read_val(fn, val, val->reg, ty);
    Facet *f = find_facet(fn, val, ty, open_bits);
    if (f)
        return f->v;
    Place here = place_save(fn);
    f = add_facet(fn, val, ty, make_phi(fn, val, ty, open_bits), val->block);
    f->open_bits = open_bits;
    place_restore(fn, here);
    return f->v;
}

/* A phi of parts beside that of the whole, if there is one. */
static Val make_part(LatheFunc *fn, RegVal *val, Ty ty) {
    Place here = place_save(fn);
    Facet *f = add_facet(fn, val, ty, make_phi(fn, val, ty, 0), val->block);
    place_restore(fn, here);
    return f->v;
}

static Val join(LatheFunc *fn, RegVal *val, Reg r) {
    Ty low = val->low->ty;
    RegVal *rest = val->kind == VAL_PHI ? val : val->rest;
    Val wide = read_rest(fn, rest, ty_vector(low, fn->isa->regs[r].bits), (u16)ty_bits(low));
    return ir_insert(&fn->l, wide, val->low->v, 0);
}

/* The value in some type from which ty can be had. */
static Val nearest(LatheFunc *fn, RegVal *val, Reg r, Ty ty) {
    if (val->kind == VAL_LAZY)
        return val->make(&fn->l, val->arg, val->reg);
    if (!val->whole && !val->low)
        define(fn, val, ty);
    if (!val->low)
        return val->whole->v;
    return ty_bits(ty) <= ty_bits(val->low->ty) ? val->low->v : join(fn, val, r);
}

/* The value in the type ty, at the builder's position in block fn->current. */
static Val read_val(LatheFunc *fn, RegVal *val, Reg r, Ty ty) {
    Facet *f = find_facet(fn, val, ty, 0);
    if (f)
        return f->v;
    bool half = fn->tuning.half_phis && ty == I32 && fn->isa->regs[r].kind == REG_INT;
    if (val->kind == VAL_PHI && (half || facet_is_part(&fn->isa->regs[r], ty)))
        return make_part(fn, val, ty);
    Val v = facet_convert(&fn->l, &fn->isa->regs[r], nearest(fn, val, r, ty), ty);
    if (!fn->cold && !find_facet(fn, val, ty, 0))
        add_facet(fn, val, ty, v, fn->current);
    return v;
}

/* ---------------------------------------------------------------------------------------------------------- LiftOps */

Val regfile_read(Lifter *l, Reg r, Ty t) {
    LatheFunc *fn = func_of(l);
    return read_val(fn, value_in(fn, fn->current, r), r, t);
}

static RegVal *set(LatheFunc *fn, Reg r, RegVal *val) {
    Block *b = &fn->blocks[fn->current];
    CHECK(regset_has(&b->writes, r), "the decoder did not say that this instruction writes that register");
    CHECK(!fn->cold, "registers are written on the main line only");
    regset_add(&fn->dirty, r);
    return b->vals[r] = val;
}

void regfile_write(Lifter *l, Reg r, Val v) {
    LatheFunc *fn = func_of(l);
    RegVal *val = set(fn, r, new_val(fn, VAL_PLAIN, r, fn->current));
    val->whole = add_facet(fn, val, ir_ty(v), v, fn->current);
}

void regfile_write_low(Lifter *l, Reg r, Val v) {
    LatheFunc *fn = func_of(l);
    RegVal *old = value_in(fn, fn->current, r);
    RegVal *val = set(fn, r, new_val(fn, VAL_JOIN, r, fn->current));
    val->rest = old;
    val->low = add_facet(fn, val, ir_ty(v), v, fn->current);
}

void regfile_also(Lifter *l, Reg r, Val v) {
    LatheFunc *fn = func_of(l);
    add_facet(fn, fn->blocks[fn->current].vals[r], ir_ty(v), v, fn->current);
}

void regfile_copy(Lifter *l, Reg to, Reg from) {
    LatheFunc *fn = func_of(l);
    set(fn, to, value_in(fn, fn->current, from));
}

bool regfile_has(Lifter *l, Reg r, Ty t) {
    LatheFunc *fn = func_of(l);
    RegVal *val = fn->blocks[fn->current].vals[r];
    return val && find_facet(fn, val, t, 0);
}

void regfile_defer(Lifter *l, Reg r, MakeLazy *make, const void *arg) {
    LatheFunc *fn = func_of(l);
    RegVal *val = set(fn, r, new_val(fn, VAL_LAZY, r, fn->current));
    val->make = make;
    val->arg = arg;
}

const void *regfile_deferred(Lifter *l, Reg r, MakeLazy *make) {
    LatheFunc *fn = func_of(l);
    RegVal *val = value_in(fn, fn->current, r);
    return val->kind == VAL_LAZY && val->make == make ? val->arg : NULL;
}

/* --------------------------------------------------------------------------------------------------- the guest state */

static void store_to_state(LatheFunc *fn, Reg r, RegVal *val) {
    Lifter *l = &fn->l;
    const RegInfo *reg = &fn->isa->regs[r];
    Ty ty = facet_native(reg);
    if (val->low)
        ty = ty_vector(val->low->ty, reg->bits);
    else if (val->whole && ty_bits(val->whole->ty) == reg->bits)
        ty = val->whole->ty;
    Val v = read_val(fn, val, r, ty);
    if (reg->kind == REG_FLAG)
        v = ir_zext(l, v, I8);
    ir_store(l, v, ir_state(l, reg->off_bytes), reg->bits / 8 ? reg->bits / 8 : 1, SPACE_STATE);
}

/* Does the guest state hold this value of r already? It has what it was given with; if r is settled anywhere it may have another one
 * by now, though r has been set back to the first. */
static bool is_in_state(const LatheFunc *fn, Reg r, const RegVal *val) {
    return val->kind == VAL_GIVEN && val->reg == r && val->in_state && !regset_has(&fn->settled, r);
}

void regfile_flush(LatheFunc *fn, bool flags_dead, bool slots_too) {
    for (Reg r = 0; r < fn->isa->reg_count; r++) {
        if (!regset_has(&fn->dirty, r) || (flags_dead && regset_has(&fn->isa->dead_at_calls, r)))
            continue;
        if (fn->conv.slot_of[r] >= 0 && !slots_too)
            continue;
        RegVal *val = value_in(fn, fn->current, r);
        if (!is_in_state(fn, r, val))
            store_to_state(fn, r, val);
    }
}

void regfile_settle(LatheFunc *fn) {
    Block *b = &fn->blocks[fn->current];
    position_at_end(fn, b->tail);
    for (Reg r = 0; r < fn->isa->reg_count; r++) {
        if (!regset_has(&b->settles, r))
            continue;
        RegVal *val = value_in(fn, fn->current, r);
        if (!is_in_state(fn, r, val))
            store_to_state(fn, r, val);
    }
}

void regfile_reload(LatheFunc *fn, Val call, bool from_state) {
    Block *b = &fn->blocks[fn->current];
    memset(b->vals, 0, fn->isa->reg_count * sizeof(RegVal *));
    b->reload = call;
    b->reload_from_state = from_state;
    fn->dirty = from_state ? (RegSet){0} : fn->conv.slotted;
}

/* Filling a phi reads registers at the ends of other blocks, which may ask for more phis. */
static void fill_phis(LatheFunc *fn) {
    while (fn->pending) {
        Pending *p = fn->pending;
        fn->pending = p->next;
        for (BlockList *e = fn->blocks[p->val->block].preds; e; e = e->next) {
            if (!fn->blocks[e->block].reachable)
                continue;
            fn->current = e->block;
            Label tail = fn->blocks[e->block].tail;
            position_at_end(fn, tail);
            RegVal *val = value_in(fn, e->block, p->val->reg);
            Val v = p->open_bits ? read_rest(fn, val, p->ty, p->open_bits) : read_val(fn, val, p->val->reg, p->ty);
            ir_phi_add(p->phi, v, tail);
        }
    }
}

/* A flag at the head of a block; NULL if it has several values there and nobody has asked for them. */
static RegVal *flag_at_head(LatheFunc *fn, u32 b, Reg r) {
    if (!(phi_blocks(fn, r)[b / 64] >> b % 64 & 1))
        return value_in(fn, fn->blocks[b].idom, r);
    RegVal *phi = fn->blocks[b].flag_phis;
    while (phi && (phi->reg != r || !phi->whole))
        phi = phi->next;
    return phi;
}

static void flush_flags(LatheFunc *fn, u32 b) {
    fn->current = b;
    fn->cold = true;
    position_at_end(fn, fn->blocks[b].poll);
    for (Reg r = 0; r < fn->isa->reg_count; r++) {
        bool dirty = regset_has(&fn->blocks[b].dirty_in, r) && regset_has(&fn->isa->dead_at_calls, r);
        RegVal *val = dirty ? flag_at_head(fn, b, r) : NULL;
        if (val && !is_in_state(fn, r, val))
            store_to_state(fn, r, val);
    }
    fn->cold = false;
}

void regfile_finish(LatheFunc *fn) {
    fill_phis(fn);
    for (u32 i = 1; i < fn->order_count; i++)
        if (fn->blocks[fn->order[i]].poll)
            flush_flags(fn, fn->order[i]);
    fill_phis(fn);
}
