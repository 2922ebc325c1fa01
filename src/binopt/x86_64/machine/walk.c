/* walk.c: see walk.h. */
#include "binopt/x86_64/machine/walk.h"

#include "binopt/x86_64/machine/encode.h"
#include "binopt/x86_64/machine/step.h"

/* When MAX_INLINED instructions were written, further calls are not inlined. */
enum { MAX_FRAMES_DEEP = 8, MAX_INLINED = 4000 };

typedef struct BlockWalk {
    MachineUnit *u;
    const Policy *p;
    State s;
    u64 pc;
    u32 frame, unknowns;
    MachineBlock end; /* how the block ends: only end, next, last, target and followed are used */
} BlockWalk;

static i32 request(BlockWalk *w, u64 pc, u32 frame) {
    return w->p->target(w->p->self, w->u, pc, frame, &w->s, w->unknowns);
}

static void end_with(BlockWalk *w, EndKind kind, const MachineInsn *last, u64 target) {
    w->end.end = (u8)kind;
    w->end.last = last;
    w->end.target = target;
}

static void go_to(BlockWalk *w, u64 pc, u32 frame) {
    end_with(w, END_JUMP, NULL, 0);
    w->end.next[0] = request(w, pc, frame);
}

static void leave_to(BlockWalk *w, u64 pc) {
    end_with(w, END_LEAVE, NULL, pc);
}

/* --------------------------------------------------------------------------------------------------------------- calls */

static bool is_active(const MachineUnit *u, u32 frame, u64 function) {
    for (; frame != NO_FRAME; frame = u->frames.at[frame].parent)
        if (u->frames.at[frame].function == function)
            return true;
    return false;
}

static UnwindKind unwind_at(MachineUnit *u, u64 pc, UnwindRow *row) {
    u32 index;
    if (!map64_get(&u->row_at, pc, &index)) {
        CallRow found = {0};
        found.kind = unwind_call(pc, &found.row);
        index = (u32)u->rows.len;
        map64_set(&u->row_at, pc, index);
        VEC_PUSH(&u->rows, found);
    }
    *row = u->rows.at[index].row;
    return u->rows.at[index].kind;
}

/* Adds the registers that a function with this return slot has saved. Callers are added after their callees, so their
 * places count. */
static bool add_saved(CallFrame *f, const UnwindRow *row, i64 return_slot) {
    for (u32 r = 0; r < GP_COUNT; r++) {
        if (!(row->saved >> r & 1))
            continue;
        f->slot[r] = return_slot + SLOT_BYTES + row->off[r];
        f->saved |= 1u << r;
        if (f->slot[r] % SLOT_BYTES)
            return false;
    }
    return true;
}

/* Finds how an exception passes from the call to the caller of the new function; *frame is NULL if it does not pass in
 * the original. Returns false if the original has to make the call. */
static bool find_call_frame(BlockWalk *w, const MachineInsn *in, const CallFrame **frame) {
    MachineUnit *u = w->u;
    CallFrame f = {.base = w->s.gp[RSP].kind == VALUE_STACK ? RSP : RBP};
    u64 pc = in->pc;
    *frame = NULL;
    for (u32 i = w->frame; i != NO_FRAME; i = u->frames.at[i].parent) {
        UnwindRow row;
        UnwindKind kind = unwind_at(u, pc, &row);
        if (kind != UNWIND_PASSES)
            return kind == UNWIND_NONE;
        if (!add_saved(&f, &row, u->frames.at[i].return_slot))
            return false;
        pc = u->frames.at[i].return_pc - 1;
    }
    f.base_off = (i64)w->s.gp[f.base].v;
    if (w->s.gp[f.base].kind != VALUE_STACK || f.base_off > SLOT_BYTES)
        return false;
    *frame = memcpy(ARENA_NEW(&u->arena, CallFrame), &f, sizeof(f));
    return true;
}

static bool may_inline(BlockWalk *w, const Callee *callee) {
    MachineUnit *u = w->u;
    u64 function = callee->function;
    if (u->total_outs > MAX_INLINED || w->s.gp[RSP].kind != VALUE_STACK ||
        u->frames.at[w->frame].depth >= MAX_FRAMES_DEEP)
        return false;
    if (is_active(u, w->frame, function) || callee->stub || callee->never_returns)
        return false;
    if (!u->cfg->libraries && callee->library)
        return false;
    if (unwind_handles(function))
        return false;
    const MachineInsn *first = memory_insn(&u->memory, function);
    return first && first->flow != FLOW_STOP;
}

static u32 frame_for(BlockWalk *w, u64 function, u64 return_pc, i64 return_slot) {
    MachineUnit *u = w->u;
    for (u32 i = 0; i < u->frames.len; i++) {
        const MachineFrame *f = &u->frames.at[i];
        if (f->parent == w->frame && f->function == function && f->return_pc == return_pc &&
            f->return_slot == return_slot && !f->loop)
            return i;
    }
    MachineFrame f = {w->frame, function, return_pc, return_slot, u->frames.at[w->frame].depth + 1, NO_FRAME, 0, 0};
    VEC_PUSH(&u->frames, f);
    return (u32)u->frames.len - 1;
}

static void enter(BlockWalk *w, const MachineInsn *in, u64 function) {
    i64 slot = (i64)w->s.gp[RSP].v - SLOT_BYTES;
    u64 return_pc = in->pc + in->length;
    OutInsn *o = step_put(w->u, in, OUT_ENTER);
    o->reads = o->writes = BIT(RSP);
    o->kills = 0;
    o->store = true;
    o->slot = slot;
    o->slot_bytes = SLOT_BYTES;
    o->number = return_pc;
    w->s.gp[RSP] = value_stack(slot);
    state_store_slot(&w->s, slot, value_const(return_pc));
    if (slot < w->u->lowest)
        w->u->lowest = slot;
    go_to(w, function, frame_for(w, function, return_pc, slot));
}

static bool passes_frame(const State *s, i64 from, i64 to) {
    static const u8 arguments[] = {RDI, RSI, RDX, RCX, R8, R9, RAX, R10};
    for (u32 i = 0; i < ARRAY_LEN(arguments); i++)
        if (s->gp[arguments[i]].kind == VALUE_STACK)
            return true;
    for (u32 i = 0; i < s->slot_count; i++)
        if (s->slot[i].off >= from && s->slot[i].off < to && s->slot[i].value.kind == VALUE_STACK)
            return true;
    return false;
}

/* A callee may change its arguments on the stack, everything below them, and memory that others have an address of. */
static void forget_called(BlockWalk *w) {
    State *s = &w->s;
    Value sp = s->gp[RSP];
    i64 top = w->u->frames.at[w->frame].return_slot;
    if (sp.kind != VALUE_STACK || passes_frame(s, (i64)sp.v, top))
        s->escaped = true;
    if (s->escaped)
        state_forget_frame(s);
    else
        state_forget_stack(s, INT64_MIN / 2, top);
    state_forget(s, ABI_CLOBBERED);
}

/* Only calls into other files are certain to follow the convention: within one file, compilers know which registers the
 * callee does not change. */
static void keep_call(BlockWalk *w, const MachineInsn *in, Value target, bool foreign, const CallFrame *frame) {
    MachineUnit *u = w->u;
    OutInsn *o = step_put(u, in, OUT_CALL);
    o->frame = frame;
    o->effect = true;
    o->reads_frame = true;
    if (foreign) {
        o->reads = in->address | in->reads | ABI_ARGUMENTS;
        o->writes = o->kills = ABI_CLOBBERED;
    } else {
        o->reads = ALL_REGS;
        o->writes = ABI_CLOBBERED;
        o->kills = 0;
    }
    if (target.kind == VALUE_CONST && encode_reaches(u->code_base, target.v)) {
        o->address = ADDRESS_KNOWN;
        o->addr = target.v;
    } else if (in->has_mem) {
        Regs all = o->reads;
        step_plan_address(u, &w->s, o);
        if (o->address == ADDRESS_KNOWN) /* this is the address of the pointer, not of the function */
            o->address = ADDRESS_KEPT;
        o->reads = o->address == ADDRESS_KEPT
                       ? all
                       : (all & ~in->address) | (o->reads & in->address) | (foreign ? ABI_ARGUMENTS : ALL_REGS);
    }
    if (frame)
        o->reads |= (ABI_SAVED & ~(Regs)frame->saved) | BIT(frame->base);
    /* What is stored above the stack pointer may be arguments of the callee. */
    if (w->s.gp[RSP].kind == VALUE_STACK) {
        o->load = true;
        o->slot = (i64)w->s.gp[RSP].v;
        i64 bytes = u->frames.at[w->frame].return_slot - o->slot;
        o->slot_bytes = (u16)(bytes < 0 || bytes > 60000 ? 60000 : bytes);
    }
    forget_called(w);
}

/* Thread-local storage is found by call *(%rax), with its own convention: all registers but one are preserved. */
static bool may_be_descriptor(const MachineInsn *in) {
    return in->has_mem && in->mem.base == RAX && in->mem.index == NO_REG && !in->mem.disp;
}

static void walk_call(BlockWalk *w, const MachineInsn *in) {
    Value target = in->indirect ? step_target(w->u, &w->s, in) : value_const(in->target);
    bool known = target.kind == VALUE_CONST;
    Callee callee = known ? callee_describe(&w->u->callees, target.v) : (Callee){0};
    if (callee.unusual) {
        w->u->hopeless =
            arena_printf(&w->u->arena, "it calls %s at %#llx, which returns twice or changes its caller's stack",
                         callee.unusual, (unsigned long long)in->pc);
        return;
    }
    if (known && !may_be_descriptor(in) && may_inline(w, &callee)) {
        enter(w, in, callee.function);
        return;
    }
    bool foreign = callee.function != callee.at || callee.stub || callee.library;
    const CallFrame *frame;
    if (!find_call_frame(w, in, &frame)) {
        leave_to(w, in->pc);
        return;
    }
    keep_call(w, in, target, foreign && !may_be_descriptor(in), frame);
    w->pc += in->length;
    if (callee.never_returns)
        end_with(w, END_STOP, NULL, 0);
}

/* ------------------------------------------------------------------------------------------------------- returns, jumps */

static void walk_return(BlockWalk *w, const MachineInsn *in) {
    MachineUnit *u = w->u;
    const MachineFrame *f = &u->frames.at[w->frame];
    Value sp = w->s.gp[RSP];
    bool right = sp.kind == VALUE_STACK && (i64)sp.v == f->return_slot;
    if (f->parent == NO_FRAME) {
        if (sp.kind == VALUE_STACK && !right)
            leave_to(w, in->pc);
        else
            end_with(w, END_RETURN, in, 0);
        return;
    }
    if (!right) {
        leave_to(w, in->pc);
        return;
    }
    u64 back = f->return_pc;
    u32 parent = f->parent;
    i64 popped = SLOT_BYTES + (in->op_count ? in->op[0].imm : 0);
    OutInsn *o = step_put(u, in, OUT_RETURN);
    o->reads = o->writes = BIT(RSP);
    o->kills = 0;
    o->number = (u64)popped;
    w->s.gp[RSP] = value_stack((i64)sp.v + popped);
    go_to(w, back, parent);
}

/* True if a jump to another function is a tail call: that function returns to the caller of this one. */
static bool is_tail_call(const BlockWalk *w) {
    Value sp = w->s.gp[RSP];
    return sp.kind == VALUE_STACK && (i64)sp.v == w->u->frames.at[w->frame].return_slot;
}

static void walk_jump(BlockWalk *w, const MachineInsn *in) {
    Value target = in->indirect ? step_target(w->u, &w->s, in) : value_const(in->target);
    if (target.kind != VALUE_CONST) {
        end_with(w, END_INDIRECT, in, 0);
        return;
    }
    u64 to = target.v;
    if (is_tail_call(w)) {
        Callee callee = callee_find(&w->u->callees, to);
        to = callee.function;
        if (callee.stub ||
            (!w->u->cfg->libraries && (in->indirect || to != target.v) &&
             callee_place(&w->u->callees, target.v).library) ||
            is_active(w->u, w->u->frames.at[w->frame].parent, to)) {
            if (encode_reaches(w->u->code_base, to))
                leave_to(w, to);
            else
                leave_to(w, in->pc);
            return;
        }
    }
    w->end.followed = 1;
    go_to(w, to, w->frame);
}

static void walk_branch(BlockWalk *w, const MachineInsn *in) {
    bool holds;
    if (step_condition(&w->s, in, &holds)) {
        u64 to = holds ? in->target : in->pc + in->length;
        w->p->branches(w->p->self, w->u, in, w->frame, &to);
        w->end.followed = 1;
        go_to(w, to, w->frame);
        return;
    }
    w->p->branches(w->p->self, w->u, in, w->frame, NULL);
    end_with(w, END_BRANCH, in, 0);
    w->unknowns++;
    w->end.next[1] = request(w, in->pc + in->length, w->frame);
    w->end.next[0] = request(w, in->target, w->frame);
}

static void walk_insn(BlockWalk *w, const MachineInsn *in) {
    switch ((Flow)in->flow) {
    case FLOW_NEXT:
        step_insn(w->u, &w->s, in);
        w->pc += in->length;
        return;
    case FLOW_JUMP:
    case FLOW_INDIRECT:
        walk_jump(w, in);
        return;
    case FLOW_BRANCH:
        walk_branch(w, in);
        return;
    case FLOW_CALL:
        walk_call(w, in);
        return;
    case FLOW_RETURN:
        walk_return(w, in);
        return;
    case FLOW_SYSCALL:
    case FLOW_STOP:
        leave_to(w, in->pc);
        return;
    }
}

/* -------------------------------------------------------------------------------------------------------------- public */

/* The work so far, in instructions. Finding out what is called takes as long as following some instructions. */
static u64 work_done(const MachineUnit *u) {
    enum { CALLEE = 40 };
    return u->total_outs + CALLEE * u->callees.list.len;
}

static void finish(BlockWalk *w, i32 block) {
    MachineUnit *u = w->u;
    MachineBlock *b = &u->blocks.at[block];
    b->out_count = (u32)u->outs.len;
    b->out = ARENA_ARRAY(&u->arena, OutInsn, b->out_count + 1);
    if (b->out_count)
        memcpy(b->out, u->outs.at, b->out_count * sizeof(OutInsn));
    b->end = w->end.end;
    b->last = w->end.last;
    b->target = w->end.target;
    b->followed = w->end.followed;
    b->next[0] = w->end.next[0];
    b->next[1] = w->end.next[1];
}

void walk_block(MachineUnit *u, const Policy *p, i32 block) {
    const MachineBlock *b = &u->blocks.at[block];
    BlockWalk w = {.u = u, .p = p, .pc = b->pc, .frame = b->frame, .unknowns = b->unknowns};
    u64 start = b->pc;
    u->frame = b->frame;
    w.end.next[0] = w.end.next[1] = NO_BLOCK;
    state_copy(&w.s, b->in);
    u->outs.len = 0;
    while (w.end.end == END_NONE && !u->hopeless) {
        const MachineInsn *in = memory_insn(&u->memory, w.pc);
        if (w.pc != start && p->splits(p->self, u, w.pc, w.frame))
            go_to(&w, w.pc, w.frame);
        else if (!in)
            leave_to(&w, w.pc);
        else
            walk_insn(&w, in);
        if (work_done(u) > u->most_work)
            u->hopeless = arena_printf(&u->arena, "it would become too long: more than %llu instructions were followed",
                                       (unsigned long long)u->most_work);
    }
    u->escaped |= w.s.escaped;
    finish(&w, block);
}
