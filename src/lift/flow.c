/* flow.c: control flow of lifted code: branches inside the function, and the ways out of it.
 *
 * Every way out writes the dirty registers and the next pc into the guest state and returns. Flags are dead at guest calls
 * and returns unless the configuration keeps them.
 */
#include "lift/func.h"

static bool flags_dead(const LatheFunc *fn) {
    return !fn->cfg.keep_flags_at_calls;
}

static void store_u32(Lifter *l, u32 off_bytes, u32 value) {
    ir_store(l, ir_int(l, I32, value), ir_state(l, off_bytes), 4, SPACE_STATE);
}

static void store_pc(LatheFunc *fn, Val pc) {
    ir_store(&fn->l, pc, ir_state(&fn->l, fn->isa->pc_off), 8, SPACE_STATE);
}

/* The registers that travel in slots, where the convention has them; `last` is what goes beside them. */
static u32 fill_slots(LatheFunc *fn, Val *values, Val last) {
    for (u32 i = 0; i < fn->conv.count; i++)
        values[i] = regfile_read(&fn->l, fn->conv.slot[i].reg, fn->conv.slot[i].ty);
    values[fn->conv.count] = last;
    return fn->conv.count + 1;
}

/* Return to whoever called, with the guest's next pc. */
static void return_with(LatheFunc *fn, Val pc) {
    if (fn->conv.in_registers) {
        Val values[CONVENTION_SLOTS + 1];
        LLVMBuildAggregateRet(fn->l.b, values, fill_slots(fn, values, pc));
    } else {
        store_pc(fn, pc);
        LLVMBuildRetVoid(fn->l.b);
    }
}

/* Call a lifted function under the convention. */
static Val call_lifted(LatheFunc *fn, Val callee) {
    Lifter *l = &fn->l;
    Val values[CONVENTION_SLOTS + 1] = {l->cpu};
    u32 count = fn->conv.in_registers ? fill_slots(fn, values, l->cpu) : 1;
    Val call = LLVMBuildCall2(l->b, convention_type(l, &fn->conv), callee, values, count, "");
    convention_mark_call(l, &fn->conv, call);
    return call;
}

/* Go on in a lifted function, for good. */
static void become(LatheFunc *fn, Val callee) {
    Val call = call_lifted(fn, callee);
    LLVMSetTailCallKind(call, LLVMTailCallKindMustTail);
    if (fn->conv.in_registers)
        LLVMBuildRet(fn->l.b, call);
    else
        LLVMBuildRetVoid(fn->l.b);
}

static void leave(LatheFunc *fn, Val pc, bool no_flags) {
    regfile_flush(fn, no_flags, false);
    return_with(fn, pc);
}

static void leave_with_trap(LatheFunc *fn, Val pc, LatheTrap trap, u32 info) {
    store_u32(&fn->l, fn->isa->trap_off, trap);
    if (info)
        store_u32(&fn->l, fn->isa->trap_info_off, info);
    leave(fn, pc, false);
}

static bool jumps_go_on(const LatheFunc *fn) {
    return fn->cfg.calls == LATHE_CALLS_RETURN && !fn->tuning.jumps_return;
}

/* Is somebody waiting for the guest's whole state? Then go to `rare`. */
static void branch_if_awaited(LatheFunc *fn, Label rare, Label often) {
    Lifter *l = &fn->l;
    Val word = ir_load(l, I64, ir_state(l, fn->tuning.poll_off), 8, SPACE_STATE);
    LLVMSetVolatile(word, true);
    ir_branch_rare(l, ir_icmp(l, NE, word, ir_int(l, I64, 0)), rare, often);
}

static u64 last_pc(const LatheFunc *fn) {
    const Block *b = &fn->blocks[fn->current];
    const Insn *in = &fn->insns.at[b->first];
    for (u32 i = 1; i < b->insn_count; i++)
        in = &fn->insns.at[in->next];
    return in->pc;
}

/* Before a jump out of the function, all registers but slots being in the guest state. A loop may lead through several functions, none of
 * which has a loop of its own; one of its jumps goes back, and looks whether somebody waits for the guest's whole state. */
static void poll_on_way_back(LatheFunc *fn, u64 pc) {
    if (!fn->tuning.poll_off || pc > last_pc(fn))
        return;
    bool was_cold = fn->cold;
    Label rare = ir_label(&fn->l, "poll"), often = ir_label(&fn->l, "");
    branch_if_awaited(fn, rare, often);
    ir_here(&fn->l, rare);
    fn->cold = true;
    return_with(fn, pc_value(&fn->l, pc));
    fn->cold = was_cold;
    ir_here(&fn->l, often);
}

/* Go on at a direct target outside the function: in the function the caller knows for it, or by returning. */
static void leave_directly(LatheFunc *fn, u64 pc) {
    Val known = fn->cfg.resolve && jumps_go_on(fn) ? fn->cfg.resolve(fn->cfg.user, pc) : NULL;
    if (!known) {
        leave(fn, pc_value(&fn->l, pc), false);
        return;
    }
    regfile_flush(fn, false, false);
    poll_on_way_back(fn, pc);
    if (!fn->conv.in_registers)
        store_pc(fn, pc_value(&fn->l, pc));
    become(fn, known);
}

static Val look_up(LatheFunc *fn, Val pc, bool is_call) {
    Val args[] = {fn->l.cpu, pc, ir_int(&fn->l, I1, is_call)};
    return ir_call(&fn->l, fn->cfg.lookup, args, 3);
}

/* Go on at a computed address: in the function that `lookup` finds, or by returning. */
static void leave_to(LatheFunc *fn, Val pc) {
    if (!fn->cfg.lookup || !jumps_go_on(fn)) {
        leave(fn, pc, false);
        return;
    }
    regfile_flush(fn, false, false);
    if (!fn->conv.in_registers)
        store_pc(fn, pc);
    become(fn, look_up(fn, pc, false));
}

/* The label to go to for a guest address: a block's, or a new side exit's. */
static Label label_for(LatheFunc *fn, u64 pc) {
    u32 block = graph_block_at(fn, pc);
    if (block)
        return fn->blocks[block].head;
    Label here = ir_where(&fn->l), exit = ir_label(&fn->l, "exit");
    ir_here(&fn->l, exit);
    fn->cold = true;
    leave_directly(fn, pc);
    fn->cold = false;
    ir_here(&fn->l, here);
    return exit;
}

/* ------------------------------------------------------------------------------------------------------------ LiftOps */

static void flow_trap_if(Lifter *l, const Insn *in, Val cond, LatheTrap trap) {
    LatheFunc *fn = func_of(l);
    Label rare = ir_label(l, "trap"), often = ir_label(l, "");
    ir_branch_rare(l, cond, rare, often);
    ir_here(l, rare);
    fn->cold = true;
    leave_with_trap(fn, pc_value(l, in->pc), trap, 0);
    fn->cold = false;
    ir_here(l, often);
}

static Label flow_fault_exit(Lifter *l, const Insn *in) {
    LatheFunc *fn = func_of(l);
    Label here = ir_where(l), exit = ir_label(l, "fault");
    ir_here(l, exit);
    fn->cold = true;
    leave_with_trap(fn, pc_value(l, in->pc), LATHE_TRAP_FAULT, 0);
    fn->cold = false;
    ir_here(l, here);
    return exit;
}

static void flow_trap(Lifter *l, const Insn *in, u64 pc, LatheTrap trap, u32 info) {
    (void)in;
    leave_with_trap(func_of(l), pc_value(l, pc), trap, info);
}

/* Go on in the middle of what a tool sees as a block. */
static void leave_inside(LatheFunc *fn, u64 pc, Val begins, bool no_flags) {
    LatheTrap trap = watch_set_inside(fn, begins);
    if (trap)
        store_u32(&fn->l, fn->isa->trap_off, trap);
    leave(fn, pc_value(&fn->l, pc), no_flags);
}

static void goto_pc(LatheFunc *fn, u64 pc) {
    u32 block = graph_block_at(fn, pc);
    if (block)
        ir_goto(&fn->l, fn->blocks[block].head);
    else
        leave_directly(fn, pc);
}

static void flow_jump(Lifter *l, const Insn *in) {
    goto_pc(func_of(l), in->target);
}

static void flow_branch(Lifter *l, const Insn *in, Val cond) {
    LatheFunc *fn = func_of(l);
    watch_transfer(fn, in, pc_value(l, in->target), cond);
    Label yes = label_for(fn, in->target);
    ir_branch(l, cond, yes, label_for(fn, insn_end(in)));
}

/* What is switched over: the index of a table, or the distance of the place from the function's beginning. */
static Val selector(LatheFunc *fn, const JumpTable *table, Val pc) {
    if (table->by_address)
        return ir_sub(&fn->l, pc, pc_value(&fn->l, fn->entry_pc));
    return table->lifted_index;
}

/* A recovered table is a switch over its index; an index outside leaves as any computed jump does. */
static void flow_jump_to(Lifter *l, const Insn *in, Val pc) {
    LatheFunc *fn = func_of(l);
    const JumpTable *table = in->table;
    watch_transfer(fn, in, pc, NULL);
    if (!table || (!table->by_address && !table->lifted_index)) {
        leave_to(fn, pc);
        return;
    }
    Label otherwise = ir_label(l, "outside");
    Val sw = LLVMBuildSwitch(l->b, selector(fn, table, pc), otherwise, (unsigned)table->count);
    for (size_t i = 0; i < table->count; i++) {
        u32 block = graph_block_at(fn, table->targets[i]);
        if (block)
            LLVMAddCase(sw, ir_int(l, I64, table->by_address ? table->targets[i] - fn->entry_pc : i),
                        fn->blocks[block].head);
    }
    ir_here(l, otherwise);
    fn->cold = true;
    leave_to(fn, pc);
    fn->cold = false;
    ir_here(l, LLVMGetInstructionParent(sw));
}

/* Return if `back`, where a callee went on to, is not `expected`; else go to `on`. What a lifted callee returned is just what
 * is to be returned. */
static void check_return(LatheFunc *fn, Val lifted_call, Val back, u64 expected, Label on) {
    Lifter *l = &fn->l;
    Val astray = ir_icmp(l, NE, back, pc_value(l, expected));
    Label here = ir_where(l), up = ir_label(l, "astray");
    ir_branch_rare(l, astray, up, on);
    ir_here(l, up);
    fn->cold = true;
    if (lifted_call && fn->conv.in_registers)
        LLVMBuildRet(l->b, lifted_call);
    else
        return_with(fn, back);
    fn->cold = false;
    ir_here(l, here);
}

static Val load_pc(LatheFunc *fn) {
    return ir_load(&fn->l, I64, ir_state(&fn->l, fn->isa->pc_off), 8, SPACE_STATE);
}

/* The lifted function for a guest call, and the pc stored for those that want it. */
static Val callee_of(LatheFunc *fn, const Insn *in, Val pc) {
    Val known = in->target && fn->cfg.resolve ? fn->cfg.resolve(fn->cfg.user, in->target) : NULL;
    if (!fn->conv.in_registers || (!known && !fn->cfg.lookup))
        store_pc(fn, pc);
    if (known)
        return known;
    return fn->cfg.lookup ? look_up(fn, pc, true) : fn->cfg.dispatch;
}

/* Behind a call that may throw: in a block of its own, an instruction that tells whether it has. Registers are looked at behind that. */
static Val ask_whether_threw(LatheFunc *fn, const Insn *in) {
    Lifter *l = &fn->l;
    Label on = ir_label(l, "called");
    Val end = ir_int(l, I64, insn_end(in));
    ir_goto(l, on);
    ir_here(l, on);
    return ir_call(l, fn->tuning.threw, &end, 1);
}

/* A callee has come back, or thrown. */
static void go_on_after(LatheFunc *fn, const Insn *in, Val threw) {
    Lifter *l = &fn->l;
    if (!insn_lands(in)) {
        ir_goto(l, label_for(fn, insn_end(in)));
        return;
    }
    Label never = in->last ? ir_label(l, "never") : NULL;
    Label pad = label_for(fn, in->landing), next = never ? never : label_for(fn, insn_end(in));
    ir_branch(l, threw, pad, next);
    if (!never)
        return;
    Label here = ir_where(l);
    ir_here(l, never);
    LLVMBuildUnreachable(l->b);
    ir_here(l, here);
}

static void flow_call(Lifter *l, const Insn *in, Val pc) {
    LatheFunc *fn = func_of(l);
    watch_transfer(fn, in, pc, NULL);
    if (!func_calls_out(fn, in)) {
        leave(fn, pc, flags_dead(fn));
        return;
    }
    regfile_flush(fn, flags_dead(fn), false);
    Val call = call_lifted(fn, callee_of(fn, in, pc));
    if (in->landing)
        call = ask_whether_threw(fn, in);
    regfile_reload(fn, call, false);
    if (in->last && !insn_lands(in)) {
        LLVMBuildUnreachable(l->b);
        return;
    }
    if (fn->tuning.trusted_returns) {
        go_on_after(fn, in, call);
        return;
    }
    Val back = fn->conv.in_registers ? LLVMBuildExtractValue(l->b, call, fn->conv.count, "") : load_pc(fn);
    check_return(fn, call, back, insn_end(in), label_for(fn, insn_end(in)));
}

/* Were all flags last set by an instruction that restores state (popf)? Then the return goes back to what was interrupted, wherever that
 * is, as Go's preemption does. */
static bool behind_restored_flags(const LatheFunc *fn) {
    const Block *b = &fn->blocks[fn->current];
    const RegSet *flags = &fn->isa->dead_at_calls;
    bool restored = false;
    for (u32 i = 0, at = b->first; i < b->insn_count; i++, at = fn->insns.at[at].next) {
        const Insn *in = &fn->insns.at[at];
        RegSet kept = *flags;
        regset_drop(&kept, &in->writes);
        if (regset_meets(flags, &in->writes))
            restored = in->special && regset_is_empty(&kept);
    }
    return restored;
}

static void flow_return(Lifter *l, const Insn *in, Val pc) {
    LatheFunc *fn = func_of(l);
    watch_transfer(fn, in, pc, NULL);
    leave(fn, pc, flags_dead(fn) && !behind_restored_flags(fn));
}

static void flow_call_out(Lifter *l, const Insn *in, Val callee, bool may_move) {
    LatheFunc *fn = func_of(l);
    regfile_flush(fn, false, true);
    store_pc(fn, pc_value(l, insn_end(in)));
    regfile_reload(fn, ir_call(l, callee, &l->cpu, 1), true);
    if (!may_move)
        return;
    Label on = ir_label(l, "");
    check_return(fn, NULL, load_pc(fn), insn_end(in), on);
    ir_here(l, on);
}

static Val flow_immediate(Lifter *l, const Insn *in, int i, Ty t) {
    return ir_int(l, t, (u64)in->op[i].disp);
}

const LiftOps lift_ops = {
    .immediate = flow_immediate,
    .read = regfile_read,
    .write = regfile_write,
    .write_low = regfile_write_low,
    .also = regfile_also,
    .copy = regfile_copy,
    .has = regfile_has,
    .defer = regfile_defer,
    .deferred = regfile_deferred,
    .trap_if = flow_trap_if,
    .fault_exit = flow_fault_exit,
    .trap = flow_trap,
    .jump = flow_jump,
    .branch = flow_branch,
    .jump_to = flow_jump_to,
    .call = flow_call,
    .ret = flow_return,
    .call_out = flow_call_out,
};

/* At a loop's head: is somebody waiting for the guest's whole state? Flags are left to regfile_finish, which knows whether they
 * are read before the loop sets them again: most are not, and would be computed in each turn. */
void flow_poll(LatheFunc *fn, u64 pc, Val begins) {
    Lifter *l = &fn->l;
    Label rare = ir_label(l, "poll"), often = ir_label(l, "");
    branch_if_awaited(fn, rare, often);
    ir_here(l, rare);
    fn->cold = true;
    if (watch_leaves_inside(fn, begins))
        leave_inside(fn, pc, begins, true);
    else
        leave(fn, pc_value(l, pc), true);
    fn->cold = false;
    fn->blocks[fn->current].poll = rare;
    ir_here(l, often);
}

/* A block that ends because the next instruction begins another one. */
void flow_fall_through(LatheFunc *fn, const Insn *last) {
    u64 pc = insn_end(last);
    if (!graph_block_at(fn, pc) && watch_goes_on_inside(fn, last))
        leave_inside(fn, pc, NULL, false);
    else
        goto_pc(fn, pc);
}

void flow_unliftable(LatheFunc *fn, const Insn *in, Val begins) {
    LatheTrap trap = in->status == LATHE_ERR_MEMORY ? LATHE_TRAP_UNREADABLE : LATHE_TRAP_UNSUPPORTED;
    if (watch_leaves_inside(fn, begins))
        watch_set_inside(fn, begins);
    leave_with_trap(fn, pc_value(&fn->l, in->pc), trap, 0);
}
