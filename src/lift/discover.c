/* discover.c: which instructions belong to the function.
 *
 * From an address on, decode and follow direct jumps both ways; go on after calls where they are expected to return; follow
 * indirect jumps whose table can be recovered from the code before them and from constant guest memory. Undecodable or
 * unreadable code becomes an instruction that stops the function there, so that only running into it matters.
 */
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lift/func.h"

enum { DEFAULT_MAX_INSNS = 100000, WINDOW_INSN_BYTES = 16, PAGE = 4096 };

/* So many instructions behind a call are looked at for one that reads the flags. */
enum { FLAGS_LOOK_INSNS = 16 };

/* Entries of all tables of a function. An interpreter with hundreds of computed gotos through one table of 256 would have an
 * edge from each to each, and LLVM would take minutes: what is over this stays a computed jump. With LatheTuning.many_ways, somebody sees to that. */
enum { MAX_TABLE_ENTRIES = 4096, MAX_LABEL_WAYS = 32768, MANY_WAYS = 1 << 18 };

/* ------------------------------------------------------------------------------------------------------- guest bytes */

/* This process's memory, without dying of an unmapped address. */
static size_t read_self(u64 addr, void *buf, size_t size) {
    size_t head = PAGE - addr % PAGE;
    if (head > size)
        head = size;
    struct iovec local = {buf, size};
    struct iovec remote[] = {{(void *)(uintptr_t)addr, head}, {(void *)(uintptr_t)(addr + head), size - head}};
    ssize_t n = process_vm_readv(getpid(), &local, 1, remote, size > head ? 2 : 1, 0);
    return n > 0 ? (size_t)n : 0;
}

/* May this process write at addr? Then what is there now is no constant. */
static bool writable(u64 addr) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], perms[8];
    unsigned long long start, end;
    bool found = false;
    while (maps && !found && fgets(line, sizeof(line), maps))
        found = sscanf(line, "%llx-%llx %7s", &start, &end, perms) == 3 && addr >= start && addr < end;
    if (maps)
        fclose(maps);
    return !found || perms[1] == 'w';
}

size_t discover_read(LatheFunc *fn, u64 addr, void *buf, size_t size) {
    if (!fn->cfg.read_memory)
        return read_self(addr, buf, size);
    size_t n = fn->cfg.read_memory(fn->cfg.user, addr, buf, size);
    return n < size ? n : size;
}

/* The bytes at pc, enough for any instruction if there are that many. */
static const u8 *bytes_at(LatheFunc *fn, u64 pc, size_t *size) {
    u64 off = pc - fn->window_pc;
    if (off >= fn->window_len || fn->window_len - off < WINDOW_INSN_BYTES) {
        fn->window_len = (u32)discover_read(fn, pc, fn->window, sizeof(fn->window));
        fn->window_pc = pc;
        off = 0;
    }
    *size = fn->window_len - off;
    return fn->window + off;
}

/* ------------------------------------------------------------------------------------------------------ instructions */

static void note_problem(LatheFunc *fn, LatheStatus status, u64 pc, const char *text) {
    if (fn->problem.status == LATHE_OK)
        fn->problem = (LatheProblem){status, pc, text};
}

static LatheStatus decode_any(LatheFunc *fn, u64 pc, Insn *in) {
    size_t size;
    const u8 *bytes = bytes_at(fn, pc, &size);
    *in = (Insn){.pc = pc};
    bool watched = watch_look(fn, pc, bytes, &size);
    LatheStatus status = size ? fn->isa->decode(bytes, size, pc, in) : LATHE_ERR_MEMORY;
    if (!watched)
        in->row = 0, in->special = true;
    if (status == LATHE_OK && insn_end(in) < pc)
        status = LATHE_ERR_MEMORY;
    if (in->flow == FLOW_SYSCALL) {
        in->flow = fn->cfg.on_syscall ? FLOW_NEXT : FLOW_STOP;
        in->calls_out = fn->cfg.on_syscall != NULL;
    }
    if (in->flow == FLOW_CALL && in->target && fn->cfg.never_returns)
        in->last = fn->cfg.never_returns(fn->cfg.user, in->target);
    if (in->flow == FLOW_CALL && fn->tuning.ends_at)
        in->last |= fn->tuning.ends_at(fn->cfg.user, fn, in);
    if (in->flow == FLOW_CALL && fn->tuning.landing)
        in->landing = fn->tuning.landing(fn->cfg.user, in);
    if (!in->row) /* without a meaning: the function stops there, whatever comes behind */
        in->flow = FLOW_STOP;
    if (status != LATHE_OK)
        *in = (Insn){.pc = pc, .flow = FLOW_STOP, .status = (i8)status};
    return status;
}

/* Does the code at pc read a flag before it sets it? Looks straight ahead: a branch reads flags itself, and it is not followed. */
static bool reads_flags_at(LatheFunc *fn, u64 pc) {
    RegSet open = fn->isa->dead_at_calls;
    Insn in;
    for (u32 i = 0; i < FLAGS_LOOK_INSNS && !regset_is_empty(&open) && decode_any(fn, pc, &in) == LATHE_OK; i++) {
        if (regset_meets(&in.flags, &open))
            return true;
        if (in.flow != FLOW_NEXT && in.flow != FLOW_BRANCH && in.flow != FLOW_JUMP)
            return false;
        regset_drop(&open, &in.writes);
        pc = in.flow == FLOW_JUMP ? in.target : insn_end(&in);
    }
    return false;
}

/* Flags are dead at calls and returns, and here is one that has flags for its result, or hands some over. */
static bool is_call_with_flags(LatheFunc *fn, const Insn *in) {
    if (in->flow != FLOW_CALL || !fn->tuning.leave_at_flags)
        return false;
    return (!in->last && reads_flags_at(fn, insn_end(in))) || (in->target && reads_flags_at(fn, in->target));
}

static LatheStatus decode(LatheFunc *fn, u64 pc, Insn *in) {
    LatheStatus status = decode_any(fn, pc, in);
    if (status == LATHE_OK && is_call_with_flags(fn, in)) {
        in->row = 0;
        in->special = true;
        in->flow = FLOW_STOP;
    }
    return status;
}

static u32 add(LatheFunc *fn, const Insn *in) {
    if (!fn->insns.len)
        fn->entry_pc = in->pc;
    fn->has_indirect |= in->flow == FLOW_INDIRECT;
    u32 i = (u32)fn->insns.len;
    VEC_PUSH(&fn->insns, *in);
    map64_set(&fn->by_pc, in->pc, i);
    return i;
}

static bool known(LatheFunc *fn, u64 pc) {
    u32 i;
    return map64_get(&fn->by_pc, pc, &i);
}

static bool full(LatheFunc *fn) {
    size_t max = fn->cfg.max_insns ? fn->cfg.max_insns : DEFAULT_MAX_INSNS;
    return fn->insns.len >= max;
}

static bool returns_here(LatheFunc *fn, const Insn *in) {
    return in->flow == FLOW_CALL && func_calls_out(fn, in) && !in->last;
}

/* ------------------------------------------------------------------------------------------------------------ tracing */

typedef VEC(u64) Work;

static bool outside(const LatheFunc *fn, u64 pc) {
    if (fn->cfg.code_end && (pc < fn->cfg.code_start || pc >= fn->cfg.code_end))
        return true;
    return fn->tuning.is_outside && fn->insns.len && fn->tuning.is_outside(fn->cfg.user, pc);
}

static bool left_out(const LatheFunc *fn, const Insn *in) {
    return fn->tuning.plain_only && (in->special || in->status != LATHE_OK);
}

/* Decode from pc on until the flow stops or meets known code; other ways to go are left in `work`. */
static void trace(LatheFunc *fn, u64 pc, Work *work) {
    while (!known(fn, pc) && !outside(fn, pc)) {
        if (full(fn)) {
            note_problem(fn, LATHE_ERR_LIMIT, pc, "more instructions than allowed; the rest is left out");
            return;
        }
        Insn in;
        LatheStatus status = decode(fn, pc, &in);
        if (status != LATHE_OK)
            note_problem(fn, status, pc, lathe_status_text(status));
        if (left_out(fn, &in))
            return;
        add(fn, &in);
        if (in.flow == FLOW_BRANCH)
            VEC_PUSH(work, in.target);
        if (insn_lands(&in))
            VEC_PUSH(work, in.landing);
        if (in.flow == FLOW_JUMP)
            pc = in.target;
        else if (in.flow == FLOW_NEXT || in.flow == FLOW_BRANCH || returns_here(fn, &in))
            pc = insn_end(&in);
        else
            return;
    }
}

static void trace_all(LatheFunc *fn, Work *work) {
    while (work->len)
        trace(fn, work->at[--work->len], work);
}

/* -------------------------------------------------------------------------------------------------------- jump tables */

typedef void Edge(LatheFunc *fn, u32 from, u64 to_pc);

static void count_edge(LatheFunc *fn, u32 from, u64 to_pc) {
    (void)from;
    u32 to;
    if (map64_get(&fn->by_pc, to_pc, &to))
        fn->insns.at[to].pred_count++;
}

/* Several entries of a table that lead to one place are one way to it. */
static void add_edge(LatheFunc *fn, u32 from, u64 to_pc) {
    u32 to;
    if (!map64_get(&fn->by_pc, to_pc, &to))
        return;
    Insn *in = &fn->insns.at[to];
    if (!in->pred_count || fn->preds.at[in->pred + in->pred_count - 1] != from)
        fn->preds.at[in->pred + in->pred_count++] = from;
}

static void each_edge(LatheFunc *fn, Edge *edge) {
    for (u32 i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        if (in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH)
            edge(fn, i, in->target);
        if (in->flow == FLOW_NEXT || in->flow == FLOW_BRANCH || returns_here(fn, in))
            edge(fn, i, insn_end(in));
        if (insn_lands(in))
            edge(fn, i, in->landing);
        for (size_t k = 0; in->table && k < in->table->count; k++)
            edge(fn, i, in->table->targets[k]);
    }
}

static void link_predecessors(LatheFunc *fn) {
    for (size_t i = 0; i < fn->insns.len; i++)
        fn->insns.at[i].pred_count = 0;
    each_edge(fn, count_edge);
    fn->preds.len = 0;
    for (size_t i = 0; i < fn->insns.len; i++) {
        Insn *in = &fn->insns.at[i];
        in->pred = (u32)fn->preds.len;
        VEC_RESERVE(&fn->preds, in->pred_count);
        fn->preds.len += in->pred_count;
        in->pred_count = 0;
    }
    each_edge(fn, add_edge);
}

static const Insn *view_before(const CodeView *v, const Insn *in, u32 i) {
    LatheFunc *fn = v->self;
    return i < in->pred_count && in->pc != fn->entry_pc ? &fn->insns.at[fn->preds.at[in->pred + i]] : NULL;
}

static size_t view_read(const CodeView *v, u64 addr, void *buf, size_t size) {
    const LatheFunc *fn = v->self;
    return !fn->cfg.read_memory && writable(addr) ? 0 : discover_read(v->self, addr, buf, size);
}

static bool view_is_entry(const CodeView *v, u64 at, u64 to) {
    const LatheFunc *fn = v->self;
    return fn->tuning.is_entry(fn->cfg.user, at, to);
}

/* What a computed jump without a table may lead to. */
static bool find_labels(LatheFunc *fn, const Insn *jump, JumpTable *out) {
    const u64 *places;
    size_t count = fn->tuning.labels ? fn->tuning.labels(fn->cfg.user, fn, jump, &places) : 0;
    *out = (JumpTable){.by_address = true, .count = count};
    if (!count)
        return false;
    out->targets = ARENA_ARRAY(&fn->arena, u64, count);
    memcpy(out->targets, places, count * sizeof(*places));
    return true;
}

static JumpTable *find_table(LatheFunc *fn, const Insn *jump) {
    CodeView view = {fn, fn->isa, view_before, view_read, fn->tuning.is_entry ? view_is_entry : NULL};
    JumpTable table = {0};
    if (!jumptable_find(&view, jump, &fn->arena, &table) && !find_labels(fn, jump, &table))
        return NULL;
    size_t *taken = table.by_address ? &fn->label_ways : &fn->table_entries;
    size_t most = fn->tuning.many_ways ? MANY_WAYS : table.by_address ? MAX_LABEL_WAYS : MAX_TABLE_ENTRIES;
    if (*taken + table.count > most)
        return NULL;
    *taken += table.count;
    JumpTable *kept = ARENA_NEW(&fn->arena, JumpTable);
    *kept = table;
    return kept;
}

/* One round over the indirect jumps without a table, and those by address, since code that was found after them may have taken addresses of more
 * places. True if code was found. */
static bool recover_tables(LatheFunc *fn, Work *work) {
    link_predecessors(fn);
    size_t before = fn->insns.len;
    fn->label_ways = 0;
    for (u32 i = 0; i < before; i++) {
        JumpTable *table = fn->insns.at[i].table;
        if (fn->insns.at[i].flow != FLOW_INDIRECT || (table && !table->by_address))
            continue;
        table = find_table(fn, &fn->insns.at[i]);
        fn->insns.at[i].table = table;
        for (size_t k = 0; table && k < table->count; k++)
            VEC_PUSH(work, table->targets[k]);
    }
    trace_all(fn, work);
    return fn->insns.len > before;
}

/* Code found later may lead into the middle of a table jump's preparation; such a table does not hold. */
static void confirm_tables(LatheFunc *fn) {
    link_predecessors(fn);
    fn->table_entries = fn->label_ways = 0;
    for (size_t i = 0; i < fn->insns.len; i++)
        if (fn->insns.at[i].table)
            fn->insns.at[i].table = find_table(fn, &fn->insns.at[i]);
    for (size_t i = 0; i < fn->insns.len; i++) {
        u32 load;
        JumpTable *table = fn->insns.at[i].table;
        if (table && !table->by_address && map64_get(&fn->by_pc, table->load_pc, &load))
            fn->insns.at[load].loaded_table = table;
    }
}

/* ------------------------------------------------------------------------------------------------------------- public */

LatheStatus discover_insn(LatheFunc *fn, u64 pc) {
    if (known(fn, pc))
        return LATHE_OK;
    if (full(fn))
        return LATHE_ERR_LIMIT;
    Insn in;
    LatheStatus status = decode(fn, pc, &in);
    if (status == LATHE_OK)
        add(fn, &in);
    else
        note_problem(fn, status, pc, lathe_status_text(status));
    return status;
}

LatheStatus discover_block(LatheFunc *fn, u64 pc) {
    LatheStatus status = discover_insn(fn, pc);
    while (status == LATHE_OK) {
        u32 i;
        map64_get(&fn->by_pc, pc, &i);
        const Insn *in = &fn->insns.at[i];
        pc = insn_end(in);
        if (in->flow != FLOW_NEXT || known(fn, pc))
            return LATHE_OK;
        if (discover_insn(fn, pc) != LATHE_OK)
            return LATHE_OK;
    }
    return status;
}

LatheStatus discover_graph(LatheFunc *fn, u64 pc) {
    Insn first;
    if (known(fn, pc))
        return LATHE_OK;
    LatheStatus status = decode(fn, pc, &first);
    if (status == LATHE_OK && left_out(fn, &first))
        status = LATHE_ERR_UNSUPPORTED;
    if (status != LATHE_OK) {
        note_problem(fn, status, pc, lathe_status_text(status));
        return status;
    }
    Work work = {0};
    VEC_PUSH(&work, pc);
    trace_all(fn, &work);
    if (fn->has_indirect && !fn->cfg.no_jump_tables) {
        while (recover_tables(fn, &work))
            ;
        confirm_tables(fn);
    }
    VEC_FREE(&work);
    return LATHE_OK;
}
