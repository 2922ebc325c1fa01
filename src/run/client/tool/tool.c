/* tool.c: see tool.h. */
#include "run/client/tool/tool.h"

#include "codegen/link.h"
#include "run/client/code/arena/arena.h"
#include "run/client/memory/own.h"
#include "run/client/tool/explain.h"
#include "run/client/tool/gate.h"
#include "run/client/tool/runtime.h"
#include "run/client/tool/sites.h"
#include "run/client/tool/table/tables.h"
#include "tool/condition.h"

enum { SYMBOLS_MAX = 4096, SYSCALL_ARGUMENTS = 6 };

typedef struct ToolSymbol {
    const char *name;
    u64 address;
} ToolSymbol;

#define WITHOUT_MARK 0x5d1e0f2c3b4a6978 /* in the cache's key of code with --no-tool-opt */
#define OFF_MARK 0x2b7e151628aed2a7
enum { VARIANTS = 6 }; /* from 1 to TOOL_VARIANT_MOST */
enum { END_NOT, END_BEGUN, END_DONE };

typedef struct Tool {
    const void *package;
    u64 package_size;
    ToolSymbol symbols[SYMBOLS_MAX];
    u32 symbol_count;
    bool loaded;
    u64 code, code_end; /* where its functions are */
    u32 end;            /* END_* */
    u32 end_tid;        /* the thread that does it */
    const LatheHook *hooks;
    const ToolPlan *plans;
    u64 off; /* a bit for each hook that the options leave out: it is one for LATHE_NOTHING here */
    u32 hook_count;
    u32 events; /* a bit for each event that has hooks */
    ToolCounts counts;
    u64 variants[TOOL_HOOKS_MAX][VARIANTS]; /* tool_variant, once it was asked for */
    u64 ended_counts[TOOL_COUNTERS_MAX];
} Tool;

static Tool tool;

/* ------------------------------------------------------------------------------------------------------------ loading */

/* It is code that this process will run: nobody else may be able to write it. */
static int open_package(const char *path, u64 *size) {
    struct stat st;
    i64 fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0 || sys_fstat((int)fd, &st))
        die("%s, the tool: cannot be opened (error %d)", path, (int)-fd);
    if (!S_ISREG(st.st_mode) || (i64)st.st_uid != sys_geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
        die("%s, the tool: others can write to it", path);
    *size = (u64)st.st_size;
    return (int)fd;
}

static u8 *map_file(const char *path, u64 *size) {
    i64 fd = open_package(path, size);
    i64 at = own_map(page_up(*size), PROT_READ | PROT_WRITE, MAP_PRIVATE, (int)fd, 0);
    if (sys_failed(at))
        die("%s, the tool: cannot be mapped (error %d)", path, (int)-at);
    sys_close((int)fd);
    return (u8 *)at;
}

static bool resolve(void *user, const char *name, u64 *address) {
    (void)user;
    if (!tool_resolve(name, address))
        die("the tool uses %s, which lathe/tool.h does not have", name);
    *address = gate_new(name, *address);
    return *address;
}

static void define(void *user, const char *name, u64 address, u64 size) {
    (void)user, (void)size;
    if (!strcmp(name, TOOL_HOOKS))
        tool.hooks = (const LatheHook *)address;
    if (tool.symbol_count == SYMBOLS_MAX)
        die("the tool has more than %d functions and variables", SYMBOLS_MAX);
    tool.symbols[tool.symbol_count++] = (ToolSymbol){name, address};
}

static void leave_out_hooks(void) {
    for (u32 i = 0; i < tool.hook_count; i++)
        if (tool.off >> i & 1)
            ((LatheHook *)tool.hooks)[i].event = LATHE_NOTHING;
}

/* Code and constants first, then data, in one piece of memory, which quick code reaches by 32-bit displacements. */
static bool link_object(const u8 *object, u64 size) {
    LinkNeeds needs;
    if (link_measure(object, size, &needs) != LATHE_OK)
        return false;
    u64 code = page_up(needs.code_bytes), data = page_up(needs.data_bytes);
    u8 *at = arena_data(code + data, LINK_MAX_ALIGN), *work = sys_pages(page_up(needs.work_bytes));
    if (!work)
        return false;
    LinkPlace place = {.code_write = at,
                       .code_run = (u64)at,
                       .data_write = at + code,
                       .data_run = (u64)at + code,
                       .work = work,
                       .resolve = resolve};
    if (link_place(object, size, &place) != LATHE_OK)
        return false;
    link_symbols(object, size, &place, define, NULL);
    sys_pages_free(work, page_up(needs.work_bytes));
    tool.code = (u64)at, tool.code_end = (u64)at + code;
    if (tool.hooks)
        leave_out_hooks();
    return tool.hooks && !sys_mprotect((u64)at, code, PROT_READ | PROT_EXEC) && gates_close();
}

/* --------------------------------------------------------------------------------------------------------------- hooks */

/* Does it apply only to some instructions (LatheWhere)? */
static bool is_filtered(u32 number) {
    const LatheWhere *w = &tool.hooks[number].where;
    return w->module || w->symbol || w->from || w->to || w->classes || w->opcode || w->leaves || w->not_stack;
}

static bool counts_insns(u32 number) {
    return tool_plan_is_of_all_insns(&tool.plans[number], tool.hooks[number].event, is_filtered(number));
}

bool tool_only_counts_insns(u32 number) {
    return counts_insns(number) && !tool.plans[number].row_count;
}

static void add_count(const ToolAdd *add, bool at_all_insns) {
    ToolCounts *c = &tool.counts;
    i32 amount = at_all_insns ? add->amount : 0;
    for (u32 i = 0; i < c->count; i++)
        if (c->add[i].counter == add->counter) {
            c->add[i].amount += amount; /* each is small, and so is the number of hooks */
            return;
        }
    if (c->count == TOOL_COUNTS)
        die("the tool has more than %d counters for instructions", TOOL_COUNTS);
    c->add[c->count++] = (ToolAdd){.counter = add->counter, .amount = amount};
}

/* Most additions to rows that one instruction can have. */
static u32 rows_of_insn(void) {
    u32 most = 0;
    for (u32 i = 0; i < tool.hook_count; i++) {
        bool accesses = tool.hooks[i].event == LATHE_LOAD || tool.hooks[i].event == LATHE_STORE;
        most += tool.plans[i].kind == TOOL_COUNT ? tool.plans[i].row_count * (accesses ? TOOL_ADDRESSES : 1) : 0;
    }
    return most;
}

u32 tool_cells(u32 counter) {
    for (u32 i = 0; i < tool.hook_count; i++)
        for (u32 k = 0; k < LATHE_VALUES; k++)
            if (tool.hooks[i].value[k].what == LATHE_COUNTED && tool.hooks[i].value[k].number == counter)
                return LATHE_COUNTED_WORDS;
    return TOOL_CELLS;
}

static void take_hooks(void) {
    if (rows_of_insn() > TOOL_RUN_ROWS)
        die("the tool has more than %d additions to tables at an instruction", TOOL_RUN_ROWS);
    for (u32 i = 0; i < tool.hook_count; i++) {
        if (tool.hooks[i].event >= LATHE_EVENTS)
            die("hook %u of the tool is for event %u, which there is not", i + 1, (u32)tool.hooks[i].event);
        tool.events |= 1u << tool.hooks[i].event;
        for (u32 k = 0; tool.plans[i].kind == TOOL_COUNT && k < tool.plans[i].add_count; k++)
            add_count(&tool.plans[i].add[k], counts_insns(i));
    }
}

/* For --no-tool-opt, and what the tool's options say, also in the copy that the server gets. */
static void leave_out(u8 *package, const ToolParts *parts, u32 without) {
    tool.off = tool_left_out(parts->plans, parts->head->hook_count, the.opt.tool_options);
    ((ToolPackage *)package)->without = without;
    ((ToolPackage *)package)->off = tool.off;
    for (u32 i = 0; i < parts->head->hook_count; i++)
        if (tool.off >> i & 1)
            ((ToolPlan *)parts->plans)[i] = (ToolPlan){.kind = TOOL_CALL};
    if (without != TOOL_WITHOUT_ALL && without != TOOL_WITHOUT_COUNTER)
        return;
    for (u32 i = 0; i < parts->head->hook_count; i++) {
        ToolPlan *plan = (ToolPlan *)parts->plans + i;
        plan->kind = TOOL_CALL;
        plan->once &= without != TOOL_WITHOUT_ALL;
    }
}

void tool_load(void) {
    u64 size;
    if (!*the.opt.tool)
        return;
    u8 *at = map_file(the.opt.tool, &size);
    ToolParts parts;
    if (!tool_open(at, size, &parts))
        die("%s is no tool of this version of Lathe", the.opt.tool);
    leave_out(at, &parts, the.opt.tool_without);
    tool.package = at;
    tool.package_size = size;
    tool.plans = parts.plans;
    tool.hook_count = parts.head->hook_count;
    if (!link_object(parts.object, parts.head->object_size))
        die("%s, the tool: cannot be linked", the.opt.tool);
    tool.loaded = true;
    take_hooks();
    rows_reserve(parts.head->table_count);
    site_words_reserve();
    tool_files_init();
    tool_options_init(the.opt.tool_options);
}

/* Code that tools have made with other options is other code where these decide about hooks. */
void tool_identify(void) {
    ToolPackage head;
    ToolPlan plans[TOOL_HOOKS_MAX];
    u64 size;
    if (!*the.opt.tool)
        return;
    int fd = open_package(the.opt.tool, &size);
    if (!sys_read_all(fd, &head, sizeof(head)) || head.magic != TOOL_MAGIC || head.version != TOOL_VERSION ||
        head.hook_count > TOOL_HOOKS_MAX || !sys_read_all(fd, plans, head.hook_count * sizeof(*plans)))
        die("%s is no tool of this version of Lathe", the.opt.tool);
    sys_close(fd);
    u64 off = tool_left_out(plans, head.hook_count, the.opt.tool_options);
    the.opt.code.tool = (head.identity ^ the.opt.tool_without * WITHOUT_MARK ^ off * OFF_MARK) | 1;
}

static bool is_called(u32 hook, LatheEvent event) {
    return tool.hooks[hook].event == event && tool.plans[hook].kind == TOOL_CALL;
}

bool tool_wants_quick(u32 hook) {
    return site_is_event(tool.hooks[hook].event) && tool.plans[hook].kind == TOOL_CALL && tool.plans[hook].wants_state;
}

bool tool_needs_quick(void) {
    for (u32 i = 0; i < tool.hook_count; i++)
        if (tool_wants_quick(i) && !tool.hooks[i].where.symbol)
            return true;
    return false;
}

static bool is_function(const ToolSymbol *s) {
    return !strncmp(s->name, TOOL_PREFIX, sizeof(TOOL_PREFIX) - 1) &&
           strncmp(s->name, TOOL_DATA_PREFIX, sizeof(TOOL_DATA_PREFIX) - 1);
}

const char *tool_function(u64 pc) {
    const ToolSymbol *best = NULL;
    if (pc < tool.code || pc >= tool.code_end)
        return NULL;
    for (u32 i = 0; i < tool.symbol_count; i++)
        if (tool.symbols[i].address <= pc && (!best || tool.symbols[i].address > best->address))
            best = &tool.symbols[i];
    return best && is_function(best) ? best->name + sizeof(TOOL_PREFIX) - 1 : NULL;
}

static const char *name_of(u64 address) {
    for (u32 i = 0; i < tool.symbol_count; i++)
        if (tool.symbols[i].address == address)
            return tool.symbols[i].name;
    return NULL;
}

static u64 find_variant(u32 hook, u32 bytes) {
    char name[TOOL_VARIANT_NAME];
    u64 function = (u64)tool.hooks[hook].call, variant;
    const char *own = name_of(function);
    if (!own)
        return function;
    tool_variant_name(name, own, bytes);
    return tool_symbol(name, &variant) ? variant : function;
}

u64 tool_variant(u32 hook, u64 bytes) {
    enum { UNKNOWN = 0 };
    bool usual = bytes && bytes <= TOOL_VARIANT_MOST && !(bytes & (bytes - 1));
    if (!usual)
        return (u64)tool.hooks[hook].call;
    u64 *known = &tool.variants[hook][__builtin_ctzll(bytes)];
    if (*known == UNKNOWN)
        *known = find_variant(hook, (u32)bytes);
    return *known;
}

bool tool_symbol(const char *name, u64 *address) {
    for (u32 i = 0; i < tool.symbol_count; i++)
        if (!strcmp(tool.symbols[i].name, name)) {
            *address = tool.symbols[i].address;
            return true;
        }
    return tool.loaded && tool_resolve(name, address);
}

const void *tool_package(u64 *size) {
    *size = tool.package_size;
    for (u32 i = 0; i < tool.hook_count; i++)
        if (site_is_event(tool.hooks[i].event) && !tool_only_counts_insns(i))
            return tool.package;
    return *the.opt.plugin ? tool.package : NULL;
}

const ToolCounts *tool_counts(void) {
    return &tool.counts;
}

bool tool_calls(LatheEvent event) {
    for (u32 i = 0; i < tool.hook_count; i++)
        if (is_called(i, event))
            return true;
    return false;
}

/* -------------------------------------------------------------------------------------------------------------- calls */

u32 tool_value_register(const LatheHook *hook, const LatheValue *v) {
    if (v->what == LATHE_REGISTER)
        return (u32)v->number;
    if (v->what == LATHE_ARGUMENT && hook->event == LATHE_FUNCTION)
        return guest_argument_register((u32)v->number);
    if (v->what == LATHE_RESULT && hook->event == LATHE_RETURN)
        return GUEST_RESULT;
    return v->what == LATHE_SP ? GUEST_SP : GUEST_REGISTERS;
}

u32 tool_hook_registers(u32 number) {
    u32 all = 0;
    for (u32 k = 0; k < LATHE_VALUES; k++) {
        u32 reg = tool_value_register(&tool.hooks[number], &tool.hooks[number].value[k]);
        all |= reg < GUEST_REGISTERS ? (u32)1 << reg : 0;
    }
    return all;
}

u32 tool_hook_count(void) {
    return tool.hook_count;
}

const LatheHook *tool_hook(u32 number) {
    return &tool.hooks[number];
}

const ToolPlan *tool_plan(u32 number) {
    return &tool.plans[number];
}

/* Of a function, if it is not one of a system call. */
static u64 argument_of(u64 index, const ToolEvent *about) {
    if (!about->arguments)
        return guest_register(&thread_self()->cpu, guest_argument_register((u32)index));
    return index < SYSCALL_ARGUMENTS ? about->arguments[index] : 0;
}

static u64 value_of(const LatheValue *v, const ToolEvent *about) {
    switch (v->what) {
    case LATHE_CONSTANT:
        return (u64)v->number;
    case LATHE_PC:
        return about->pc;
    case LATHE_SIZE:
        return about->size;
    case LATHE_NUMBER:
        return about->number;
    case LATHE_ARGUMENT:
        return argument_of((u64)v->number, about);
    case LATHE_RESULT:
        return (u64)about->result;
    case LATHE_THREAD_ID:
        return thread_self()->tid;
    case LATHE_THREAD_OWN:
        return (u64)thread_self()->tool.own + (u64)v->number;
    case LATHE_ADDRESS:
        return about->address;
    case LATHE_BYTES:
        return about->bytes;
    case LATHE_VALUE:
        return about->value;
    case LATHE_COUNT:
        return about->count;
    case LATHE_TARGET:
        return about->target;
    case LATHE_TAKEN:
        return about->taken;
    case LATHE_NEXT:
        return about->next;
    case LATHE_REGISTER:
        return guest_register(&thread_self()->cpu, (u32)v->number);
    case LATHE_SP:
        return guest_sp(&thread_self()->cpu);
    case LATHE_CLASSES:
        return about->classes;
    case LATHE_OPCODE:
        return about->opcode;
    case LATHE_SITE:
        return about->site;
    case LATHE_NAME:
        return (u64)about->name;
    case LATHE_OFFSET:
        return about->offset;
    case LATHE_COUNTED:
        return (u64)thread_self()->tool.cell[v->number];
    case LATHE_NO_VALUE:
        break;
    }
    return 0;
}

bool tool_exists(void) {
    return tool.loaded;
}

bool tool_watches(LatheEvent event) {
    return tool.events >> event & 1;
}

void tool_call_hook(u32 number, ToolEvent *about) {
    const LatheHook *h = &tool.hooks[number];
    u64 v[LATHE_VALUES];
    for (u32 k = 0; k < LATHE_VALUES; k++)
        v[k] = value_of(&h->value[k], about);
    thread_self()->tool.event = about;
    thread_self()->tool.calling = (u64)h->call;
    ((void (*)(u64, u64, u64, u64, u64, u64))h->call)(v[0], v[1], v[2], v[3], v[4], v[5]);
    thread_self()->tool.event = NULL;
    thread_self()->tool.calling = 0;
}

void tool_start(char **argv) {
    if (!tool.loaded)
        return;
    tool_set_arguments(argv);
    tool_call(LATHE_START, &(ToolEvent){0});
    tool_modules();
    tool_options_check();
}

void tool_thread_end(Thread *t) {
    tool_call(LATHE_THREAD_END, &(ToolEvent){.pc = t->cpu.pc});
    if (tool.loaded)
        tool_files_flush();
}

void tool_call(LatheEvent event, ToolEvent *about) {
    for (u32 i = 0; tool_watches(event) && i < tool.hook_count; i++)
        if (is_called(i, event))
            tool_call_hook(i, about);
}

/* --------------------------------------------------------------------------------------------------------------- threads */

/* The page at its end allows no access. */
bool tool_stack_new(Thread *t) {
    if (!tool.loaded)
        return true;
    u8 *stack = sys_pages(TOOL_STACK_BYTES);
    t->stack.tool_top = stack ? (u64)stack + TOOL_STACK_BYTES : 0;
    return stack && !sys_mprotect((u64)stack, PAGE, PROT_NONE);
}

void tool_stack_free(Thread *t) {
    if (t->stack.tool_top)
        sys_pages_free((void *)(t->stack.tool_top - TOOL_STACK_BYTES), TOOL_STACK_BYTES);
}

void tool_thread_ends(Thread *t) {
    if (!tool.loaded)
        return;
    for (u32 i = 0; i < TOOL_COUNTERS_MAX; i++)
        for (u32 k = 0; k < TOOL_CELLS; k++)
            tool.ended_counts[i] += t->tool.cell[i][k];
    rows_thread_ends(t);
    memset(&t->tool, 0, offsetof(ThreadTool, own));
    lathe_clear(t->tool.own, sizeof(t->tool.own));
}

void tool_after_fork(Thread *t) {
    if (!tool.loaded)
        return;
    tool.end = END_NOT;
    memset(tool.ended_counts, 0, sizeof(tool.ended_counts));
    memset(t->tool.cell, 0, sizeof(t->tool.cell));
    rows_after_fork(t);
    tool_files_after_fork();
    tool_lines_after_fork();
    tool_call(LATHE_START, &(ToolEvent){0});
    tool_modules();
}

void tool_before_fork(void) {
    if (tool.loaded)
        tool_close_gate();
}

/* What is in the buffers of files is the parent's. */
void tool_lock(void) {
    if (!tool.loaded)
        return;
    tool_files_lock();
    tool_files_flush_locked();
    tool_memory_lock();
}

void tool_unlock(void) {
    if (!tool.loaded)
        return;
    tool_memory_unlock();
    tool_files_unlock();
}

void tool_fork_done(void) {
    if (tool.loaded)
        tool_open_gate();
}

u64 tool_ended(u32 counter) {
    return tool.ended_counts[counter];
}

static bool is_the_program(const Thread *t) {
    return tool.loaded && thread_is_of_process(t);
}

static void await_end(void) {
    while (__atomic_load_n(&tool.end, __ATOMIC_ACQUIRE) == END_BEGUN)
        sys0(__NR_sched_yield);
}

/* A function of the tool's that faults comes here, too. */
void tool_end(const Thread *t) {
    u32 not_begun = END_NOT;
    if (!is_the_program(t) || (tool.end == END_BEGUN && tool.end_tid == t->tid))
        return;
    if (!__atomic_compare_exchange_n(&tool.end, &not_begun, END_BEGUN, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        await_end();
        return;
    }
    tool.end_tid = t->tid;
    tool_check_counts();
    tool_call(LATHE_END, &(ToolEvent){0});
    tool_files_flush();
    explain_print();
    __atomic_store_n(&tool.end, END_DONE, __ATOMIC_RELEASE);
}

void tool_not_ended(const Thread *t) {
    if (is_the_program(t))
        __atomic_store_n(&tool.end, END_NOT, __ATOMIC_RELEASE);
}
