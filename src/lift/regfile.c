/* regfile.c: guest registers as SSA values.
 *
 * Each block maps each register to a RegVal: the register's bits, in as many facets as somebody asked for. Nothing is made
 * before it is asked for: not the load of a register's first value, not a phi, not a flag. A register's value at the start of
 * a block is a phi if two definitions meet there (the iterated dominance frontier of the blocks that write it), and
 * otherwise its value at the end of the immediate dominator; so the IR has the phis a compiler would have made, no more.
 *
 * A facet is remembered with the block it was made in and used again wherever that block dominates. Guest code's own
 * sub-blocks (side exits, loops inside one instruction) make no values that later code could see: `cold` is set there.
 */
#include "lift/func.h"

typedef struct Facet {
    Ty ty;
    u32 block;
    Val v;
    struct Facet *next;
} Facet;

typedef enum RegValKind {
    VAL_PLAIN, /* facets holds at least one value */
    VAL_STATE, /* in the guest state, at the function's start or after a call */
    VAL_PHI,   /* at the head of a block */
    VAL_LAZY,  /* made on demand */
} RegValKind;

struct RegVal {
    u8 kind;
    Reg reg;   /* STATE, PHI, LAZY: of this register */
    u32 block; /* where it is defined */
    Facet *facets; /* the last one is the defining value */
    Val after; /* STATE: the call it is loaded after; NULL: the function's start */
    MakeLazy *make;
    const void *arg;
};

struct Pending {
    RegVal *val;
    Val phi;
    Ty ty;
    Pending *next;
};

typedef struct Place {
    Label label;
    u32 block;
    bool cold;
} Place;

static LatheFunc *func_of(Lifter *l) {
    return (LatheFunc *)l;
}

static Place place_save(LatheFunc *fn) {
    return (Place){ir_where(&fn->l), fn->current, fn->cold};
}

/* The end of a block is before its terminator, once it has one. */
static void position_at_end(LatheFunc *fn, Label label) {
    Val terminator = LLVMGetBasicBlockTerminator(label);
    if (terminator)
        LLVMPositionBuilderBefore(fn->l.b, terminator);
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

static void add_facet(LatheFunc *fn, RegVal *val, Ty ty, Val v, u32 block) {
    Facet *f = ARENA_NEW(&fn->arena, Facet);
    *f = (Facet){ty, block, v, val->facets};
    val->facets = f;
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

/* The value of r at the end of block b, or where it is being lifted. */
static RegVal *value_in(LatheFunc *fn, u32 b, Reg r) {
    const u64 *meets = NULL;
    u32 at = b;
    while (!fn->blocks[at].vals[r]) {
        Block *block = &fn->blocks[at];
        if (block->reload || at == 0) {
            block->vals[r] = new_val(fn, VAL_STATE, r, at);
            block->vals[r]->after = block->reload;
        } else if ((meets ? meets : (meets = phi_blocks(fn, r)))[at / 64] >> at % 64 & 1) {
            block->vals[r] = new_val(fn, VAL_PHI, r, at);
        } else {
            at = block->idom;
        }
    }
    return fn->blocks[b].vals[r] = fn->blocks[at].vals[r];
}

static void position_after_call(LatheFunc *fn, Val call) {
    Val next = LLVMGetNextInstruction(call);
    if (next)
        LLVMPositionBuilderBefore(fn->l.b, next);
    else
        ir_here(&fn->l, LLVMGetInstructionParent(call));
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

static Val make_phi(LatheFunc *fn, RegVal *val, Ty ty) {
    Label head = fn->blocks[val->block].head;
    Val first = LLVMGetFirstInstruction(head);
    if (first)
        LLVMPositionBuilderBefore(fn->l.b, first);
    else
        ir_here(&fn->l, head);
    Val phi = ir_phi(&fn->l, ty);
    Pending *p = ARENA_NEW(&fn->arena, Pending);
    *p = (Pending){val, phi, ty, fn->pending};
    fn->pending = p;
    return phi;
}

/* Give a value its defining facet, in the full-width type nearest to what is asked for. */
static void define(LatheFunc *fn, RegVal *val, Ty wanted) {
    Place here = place_save(fn);
    Ty ty = facet_carrier(&fn->isa->regs[val->reg], wanted);
    Val v = val->kind == VAL_PHI ? make_phi(fn, val, ty) : load_from_state(fn, val, ty);
    add_facet(fn, val, ty, v, val->block);
    place_restore(fn, here);
}

static Facet *find_facet(LatheFunc *fn, RegVal *val, Ty ty) {
    for (Facet *f = val->facets; f; f = f->next)
        if (f->ty == ty && (f->block == fn->current || graph_dominates(fn, f->block, fn->current)))
            return f;
    return NULL;
}

static Facet *defining_facet(RegVal *val) {
    Facet *f = val->facets;
    while (f->next)
        f = f->next;
    return f;
}

/* The value in the type ty, at the builder's position in block fn->current. */
static Val read_val(LatheFunc *fn, RegVal *val, Reg r, Ty ty) {
    Facet *f = find_facet(fn, val, ty);
    if (f)
        return f->v;
    Val v;
    if (val->kind == VAL_LAZY) {
        v = val->make(&fn->l, val->arg, val->reg);
    } else {
        if (!val->facets)
            define(fn, val, ty);
        f = defining_facet(val);
        v = f->ty == ty ? f->v : facet_convert(&fn->l, &fn->isa->regs[r], f->v, ty);
        if (f->ty == ty)
            return v;
    }
    if (!fn->cold)
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
    add_facet(fn, val, ir_ty(v), v, fn->current);
}

/* The defining facet stays last in the list. */
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
    return val && find_facet(fn, val, t);
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
    if (val->facets && ty_bits(defining_facet(val)->ty) == reg->bits)
        ty = defining_facet(val)->ty;
    Val v = read_val(fn, val, r, ty);
    if (reg->kind == REG_FLAG)
        v = ir_zext(l, v, I8);
    ir_store(l, v, ir_state(l, reg->off_bytes), reg->bits / 8 ? reg->bits / 8 : 1, SPACE_STATE);
}

void regfile_flush(LatheFunc *fn, bool flags_dead) {
    for (Reg r = 0; r < fn->isa->reg_count; r++) {
        if (!regset_has(&fn->dirty, r) || (flags_dead && regset_has(&fn->isa->dead_at_calls, r)))
            continue;
        RegVal *val = value_in(fn, fn->current, r);
        if (val->kind != VAL_STATE || val->reg != r)
            store_to_state(fn, r, val);
    }
}

void regfile_reload(LatheFunc *fn, Val call) {
    Block *b = &fn->blocks[fn->current];
    memset(b->vals, 0, fn->isa->reg_count * sizeof(RegVal *));
    b->reload = call;
    fn->dirty = (RegSet){0};
}

/* Filling a phi reads registers at the ends of other blocks, which may ask for more phis. */
void regfile_finish(LatheFunc *fn) {
    while (fn->pending) {
        Pending *p = fn->pending;
        fn->pending = p->next;
        for (BlockList *e = fn->blocks[p->val->block].preds; e; e = e->next) {
            if (!fn->blocks[e->block].reachable)
                continue;
            fn->current = e->block;
            Label tail = fn->blocks[e->block].tail;
            position_at_end(fn, tail);
            Reg r = p->val->reg;
            ir_phi_add(p->phi, read_val(fn, value_in(fn, e->block, r), r, p->ty), tail);
        }
    }
}
