/* func.c: the public lifting API: decode, lift block by block, and look at the result. */
#include <stdio.h>
#include <stdlib.h>

#include "lift/func.h"

const char *lathe_status_text(LatheStatus status) {
    switch (status) {
    case LATHE_OK:
        return "success";
    case LATHE_ERR_ARCH:
        return "unknown architecture";
    case LATHE_ERR_MEMORY:
        return "guest memory is not readable";
    case LATHE_ERR_DECODE:
        return "not an instruction";
    case LATHE_ERR_UNSUPPORTED:
        return "unsupported instruction";
    case LATHE_ERR_LIMIT:
        return "too many instructions";
    case LATHE_ERR_ARGUMENT:
        return "invalid argument";
    case LATHE_ERR_COMPILE:
        return "LLVM could not compile the module";
    case LATHE_ERR_LINK:
        return "undefined symbol or unusable object";
    case LATHE_ERR_NOMEM:
        return "out of memory";
    }
    return "unknown status";
}

const char *lathe_arch_name(LatheArch arch) {
    return isa_name(arch);
}

const char *lathe_host_name(LatheHost id) {
    const Host *host = host_find(id);
    return host ? host->name : NULL;
}

/* Has the host what the configuration asks for beyond plain code? */
static bool host_can(const Host *host, const LatheConfig *cfg) {
    const LatheTuning *t = tuning_of(cfg);
    return (!t->exact_faults || host->access) && (!t->native_fs || host->native_fs);
}

LatheFunc *lathe_func_new(LLVMModuleRef mod, const LatheConfig *cfg) {
    const Isa *isa = isa_find(cfg->arch);
    const Host *host = host_find(cfg->host);
    if (!isa || !host || !host_can(host, cfg))
        return NULL;
    LatheFunc *fn = mem_new(sizeof(LatheFunc));
    fn->cfg = *cfg;
    fn->tuning = *tuning_of(cfg);
    fn->cfg.tuning = &fn->tuning;
    fn->isa = isa;
    convention_init(&fn->conv, isa, host, fn->tuning.convention);
    fn->l.cfg = &fn->cfg;
    fn->l.mod = mod;
    fn->l.arena = &fn->arena;
    fn->l.ops = &lift_ops;
    return fn;
}

void lathe_func_free(LatheFunc *fn) {
    if (!fn)
        return;
    VEC_FREE(&fn->insns);
    VEC_FREE(&fn->preds);
    map64_free(&fn->by_pc);
    VEC_FREE(&fn->ranges);
    VEC_FREE(&fn->also);
    arena_free(&fn->arena);
    mem_free(fn);
}

LatheStatus lathe_func_decode_insn(LatheFunc *fn, uint64_t pc) {
    return fn->blocks ? LATHE_ERR_ARGUMENT : discover_insn(fn, pc);
}

LatheStatus lathe_func_decode_block(LatheFunc *fn, uint64_t pc) {
    return fn->blocks ? LATHE_ERR_ARGUMENT : discover_block(fn, pc);
}

LatheStatus lathe_func_decode_cfg(LatheFunc *fn, uint64_t pc) {
    return fn->blocks ? LATHE_ERR_ARGUMENT : discover_graph(fn, pc);
}

LatheProblem lathe_func_problem(const LatheFunc *fn) {
    return fn->problem;
}

/* ------------------------------------------------------------------------------------------------------------ lifting */

static Val declare(Lifter *l, const Convention *conv, const char *name) {
    Val fn = LLVMAddFunction(l->mod, name, convention_type(l, conv));
    convention_mark_function(l, conv, fn);
    return fn;
}

/* The module tells for which host it is, if that was named. */
static void mark_module(const LatheFunc *fn) {
    if (fn->cfg.host)
        LLVMSetTarget(fn->l.mod, fn->l.host->triple);
}

static void make_function(LatheFunc *fn, const char *name) {
    Lifter *l = &fn->l;
    mark_module(fn);
    l->fn = declare(l, &fn->conv, name);
    l->cpu = LLVMGetParam(l->fn, fn->conv.count);
    LLVMSetValueName2(l->cpu, "cpu", 3);
    ir_attribute(l, l->fn, OF_FUNCTION, "nounwind", 0);
    ir_attribute(l, l->fn, OF_FUNCTION, "null_pointer_is_valid", 0);
    if (l->strict_fp)
        ir_attribute(l, l->fn, OF_FUNCTION, "strictfp", 0);
    unsigned cpu = fn->conv.count + 1; /* attributes count parameters from 1 */
    ir_attribute(l, l->fn, cpu, "noalias", 0);
    ir_attribute(l, l->fn, cpu, "nonnull", 0);
    ir_attribute(l, l->fn, cpu, "align", 64);
    ir_attribute(l, l->fn, cpu, "dereferenceable", fn->isa->state_bytes);
}

static void make_pic_base(LatheFunc *fn) {
    Lifter *l = &fn->l;
    if (!fn->cfg.pic_symbol)
        return;
    l->pic_base = LLVMGetNamedGlobal(l->mod, fn->cfg.pic_symbol);
    if (!l->pic_base)
        l->pic_base = LLVMAddGlobal(l->mod, ir_type(l, I8), fn->cfg.pic_symbol);
    LLVMSetAlignment(l->pic_base, 1);
}

static void make_labels(LatheFunc *fn) {
    for (u32 i = 0; i < fn->order_count; i++) {
        Block *b = &fn->blocks[fn->order[i]];
        char name[32] = "entry";
        if (fn->order[i])
            snprintf(name, sizeof(name), "pc_%llx", (unsigned long long)fn->insns.at[b->first].pc);
        b->head = b->tail = ir_label(&fn->l, name);
        b->vals = ARENA_ARRAY(&fn->arena, RegVal *, fn->isa->reg_count);
    }
}

static void mark_insn(LatheFunc *fn, const Insn *in) {
    if (fn->cfg.mark_insn)
        ir_call(&fn->l, fn->cfg.mark_insn, (Val[]){pc_value(&fn->l, in->pc), ir_int(&fn->l, I32, in->size)}, 2);
}

/* What is left to others is counted by them. */
static void count_insn(LatheFunc *fn, const Insn *in) {
    Lifter *l = &fn->l;
    for (u32 i = 0; i < fn->tuning.cell_count; i++) {
        const ToolCell *c = &fn->tuning.cells[i];
        i64 amount = (i64)c->amount * (1 + in->joined);
        Val sum = ir_load(l, I64, ir_state(l, c->off), 8, SPACE_STATE);
        ir_store(l, ir_add_to(l, sum, amount), ir_state(l, c->off), 8, SPACE_STATE);
    }
}

static void read_index(Lifter *l, JumpTable *table) {
    table->lifted_index = ir_zext(l, reg_read(l, table->index, ty_int(table->index_bits)), I64);
}

static void lift_insn(LatheFunc *fn, const Insn *in, Val begins) {
    Lifter *l = &fn->l;
    ir_line(l, 1 + (u32)(in - fn->insns.at));
    if (!in->row) {
        flow_unliftable(fn, in, begins);
        return;
    }
    mark_insn(fn, in);
    count_insn(fn, in);
    watch_before(fn, in, begins);
    memset(l->address, 0, sizeof(l->address));
    if (in->loaded_table)
        read_index(l, in->loaded_table);
    fn->isa->lift(l, in);
    watch_behind(fn, in);
}

static void lift_block(LatheFunc *fn, u32 index) {
    Lifter *l = &fn->l;
    Block *b = &fn->blocks[index];
    fn->current = index;
    fn->dirty = b->dirty_in;
    ir_here(l, b->head);
    Insn *in = &fn->insns.at[b->first];
    Val begins = watch_head(fn, b);
    if (fn->cfg.mark_block)
        ir_call(l, fn->cfg.mark_block, (Val[]){pc_value(l, in->pc), ir_int(l, I32, b->insn_count)}, 2);
    if (fn->tuning.poll_off && b->heads_loop)
        flow_poll(fn, in->pc, begins);
    for (u32 i = 1;; i++) {
        lift_insn(fn, in, begins);
        if (i == b->insn_count)
            break;
        begins = watch_next(fn, in);
        in = &fn->insns.at[in->next];
    }
    if (in->flow == FLOW_NEXT)
        flow_fall_through(fn, in);
    b->tail = ir_where(l);
    regfile_settle(fn);
}

bool func_changes_rounding(const LatheFunc *fn) {
    for (size_t i = 0; i < fn->insns.len; i++)
        if (fn->insns.at[i].row && fn->isa->sets_rounding(&fn->insns.at[i]))
            return true;
    return false;
}

/* An instruction without a meaning stops the function, whatever its flow was. */
static void stop_at_unsupported(LatheFunc *fn) {
    for (size_t i = 0; i < fn->insns.len; i++) {
        Insn *in = &fn->insns.at[i];
        if (in->row)
            continue;
        in->writes = (RegSet){0};
        in->calls_out = false;
        if (in->status == LATHE_OK && fn->problem.status == LATHE_OK) {
            char text[128] = "";
            lathe_disassemble(&fn->cfg, in->pc, text, sizeof(text));
            fn->problem = (LatheProblem){LATHE_ERR_UNSUPPORTED, in->pc,
                                         arena_printf(&fn->arena, "unsupported instruction: %s", text)};
        }
    }
}

/* Adds the vector registers that the function names. False: all are used, since everything goes through the guest state somewhere. */
static bool add_vectors(const LatheFunc *fn, RegSet *used) {
    for (size_t i = 0; i < fn->insns.len; i++) {
        if (fn->insns.at[i].calls_out)
            return false;
        regset_join(used, &fn->insns.at[i].vectors);
    }
    return true;
}

static void narrow(LatheFunc *fn) {
    RegSet used = fn->vectors_too;
    if (add_vectors(fn, &used))
        convention_narrow(&fn->conv, &used);
}

void func_match(LatheFunc *const *fns, size_t count) {
    RegSet used = {0};
    bool narrow = true;
    for (size_t i = 0; i < count; i++)
        narrow &= add_vectors(fns[i], &used);
    for (size_t i = 0; i < count; i++) {
        fns[i]->tuning.narrow &= narrow;
        fns[i]->vectors_too = used;
    }
}

static void build(LatheFunc *fn) {
    if (fn->blocks || !fn->insns.len)
        return;
    stop_at_unsupported(fn);
    if (fn->tuning.narrow)
        narrow(fn);
    graph_build(fn);
}

LLVMValueRef lathe_func_lift(LatheFunc *fn, const char *name) {
    if (!fn->insns.len || fn->l.fn) {
        fn->problem = (LatheProblem){LATHE_ERR_ARGUMENT, 0, "nothing was decoded, or it was lifted already"};
        return NULL;
    }
    build(fn);
    if (fn->cfg.exact_unsupported && fn->problem.status != LATHE_OK)
        return NULL;
    Lifter *l = &fn->l;
    ir_begin(l, l->mod);
    l->strict_fp = fn->cfg.strict_fp || func_changes_rounding(fn);
    make_function(fn, name);
    if (fn->cfg.mark_lines)
        ir_lines_begin(l);
    make_pic_base(fn);
    make_labels(fn);
    ir_here(l, fn->blocks[0].head);
    ir_line(l, 0);
    watch_begin(fn);
    ir_goto(l, fn->blocks[fn->blocks[0].succ[0]].head);
    for (u32 i = 1; i < fn->order_count; i++)
        lift_block(fn, fn->order[i]);
    ir_line(l, 0);
    regfile_finish(fn);
    watch_finish(fn);
    canonical_settle(l);
    if (fn->tuning.own_frame)
        frame_mark(fn);
    ir_end(l);
    return l->fn;
}

unsigned func_vectors(LatheFunc *fn) {
    build(fn);
    return fn->conv.vectors;
}

LLVMValueRef lathe_declare(LLVMModuleRef mod, const LatheConfig *cfg, const char *name) {
    const Isa *isa = isa_find(cfg->arch);
    const Host *host = host_find(cfg->host);
    if (!isa || !host)
        return NULL;
    Lifter l = {.mod = mod, .ctx = LLVMGetModuleContext(mod)};
    Convention conv;
    convention_init(&conv, isa, host, tuning_of(cfg)->convention);
    return declare(&l, &conv, name);
}

/* ------------------------------------------------------------------------------------------------ looking at the result */

static int by_start(const void *a, const void *b) {
    const LatheRange *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void add_range(LatheFunc *fn, u64 start, u64 end) {
    if (start < end)
        VEC_PUSH(&fn->ranges, ((LatheRange){start, end}));
}

void func_depend(LatheFunc *fn, LatheFunc *on) {
    const LatheRange *ranges;
    size_t count = lathe_func_ranges(on, &ranges);
    for (size_t i = 0; i < count; i++)
        VEC_PUSH(&fn->also, ranges[i]);
}

size_t lathe_func_ranges(LatheFunc *fn, const LatheRange **ranges) {
    fn->ranges.len = 0;
    for (size_t i = 0; i < fn->also.len; i++)
        VEC_PUSH(&fn->ranges, fn->also.at[i]);
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        add_range(fn, in->pc, insn_end(in));
        if (in->table && !in->table->by_address)
            add_range(fn, in->table->start, in->table->end);
    }
    if (fn->ranges.len)
        qsort(fn->ranges.at, fn->ranges.len, sizeof(LatheRange), by_start);
    size_t kept = 0;
    for (size_t i = 0; i < fn->ranges.len; i++) {
        LatheRange r = fn->ranges.at[i];
        if (kept && r.start <= fn->ranges.at[kept - 1].end) {
            if (r.end > fn->ranges.at[kept - 1].end)
                fn->ranges.at[kept - 1].end = r.end;
        } else {
            fn->ranges.at[kept++] = r;
        }
    }
    fn->ranges.len = kept;
    *ranges = fn->ranges.at;
    return kept;
}

size_t lathe_func_block_count(const LatheFunc *fn) {
    build((LatheFunc *)fn);
    return fn->block_count ? fn->block_count - 1 : 0;
}

LatheBlock lathe_func_block(const LatheFunc *cfn, size_t index) {
    LatheFunc *fn = (LatheFunc *)cfn;
    if (index >= lathe_func_block_count(fn))
        return (LatheBlock){0};
    Block *b = &fn->blocks[index + 1];
    u64 *pcs = ARENA_ARRAY(&fn->arena, u64, b->insn_count), *succ = ARENA_ARRAY(&fn->arena, u64, b->succ_count);
    const Insn *in = &fn->insns.at[b->first];
    for (u32 i = 0;; in = &fn->insns.at[in->next]) {
        pcs[i] = in->pc;
        if (++i == b->insn_count)
            break;
    }
    for (u32 i = 0; i < b->succ_count; i++)
        succ[i] = fn->insns.at[fn->blocks[b->succ[i]].first].pc;
    return (LatheBlock){
        .start = fn->insns.at[b->first].pc,
        .end = insn_end(in),
        .insns = pcs,
        .insn_count = b->insn_count,
        .successors = succ,
        .successor_count = b->succ_count,
        .exits = b->exits,
        .jump_table = in->table != NULL,
        .unsupported = !in->row && in->status == LATHE_OK,
    };
}

uint64_t lathe_func_line(const LatheFunc *fn, uint32_t line) {
    return line && line <= fn->insns.len ? fn->insns.at[line - 1].pc : 0;
}

bool lathe_support(LatheArch arch, LatheHost id, size_t index, LatheSupport *row) {
    const Isa *isa = isa_find(arch);
    const Host *host = host_find(id);
    return isa && host && isa->support(host, index, row);
}

int lathe_disassemble(const LatheConfig *cfg, uint64_t pc, char *text, size_t text_size) {
    const Isa *isa = isa_find(cfg->arch);
    if (!isa)
        return LATHE_ERR_ARCH;
    LatheFunc reader = {.cfg = *cfg};
    u8 bytes[16];
    size_t n = discover_read(&reader, pc, bytes, sizeof(bytes));
    return n ? isa->format(bytes, n, pc, text, text_size) : LATHE_ERR_MEMORY;
}
