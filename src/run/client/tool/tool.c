/* tool.c: see tool.h. */
#include "run/client/tool/tool.h"

#include "codegen/link.h"
#include "run/client/memory/own.h"

enum { SYMBOLS_MAX = 1024, SYSCALL_ARGUMENTS = 6 };

typedef struct ToolSymbol {
    const char *name;
    u64 address;
} ToolSymbol;

enum { END_NOT, END_BEGUN, END_DONE };

typedef struct Tool {
    const void *package;
    u64 package_size;
    ToolSymbol symbols[SYMBOLS_MAX];
    u32 symbol_count;
    bool loaded;
    u32 end;     /* END_* */
    u32 end_tid; /* the thread that does it */
    const LatheHook *hooks;
    const ToolPlan *plans;
    u32 hook_count;
    u32 events; /* a bit for each event that has hooks */
    ToolCounts counts;
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

static const u8 *map_file(const char *path, u64 *size) {
    i64 fd = open_package(path, size);
    i64 at = own_map(page_up(*size), PROT_READ, MAP_PRIVATE, (int)fd, 0);
    if (sys_failed(at))
        die("%s, the tool: cannot be mapped (error %d)", path, (int)-at);
    sys_close((int)fd);
    return (const u8 *)at;
}

static bool resolve(void *user, const char *name, u64 *address) {
    (void)user;
    if (!tool_resolve(name, address))
        die("the tool uses %s, which lathe/tool.h does not have", name);
    return true;
}

static void define(void *user, const char *name, u64 address, u64 size) {
    (void)user, (void)size;
    if (!strcmp(name, TOOL_HOOKS))
        tool.hooks = (const LatheHook *)address;
    if (tool.symbol_count == SYMBOLS_MAX)
        die("the tool has more than %d functions and variables", SYMBOLS_MAX);
    tool.symbols[tool.symbol_count++] = (ToolSymbol){name, address};
}

/* Code and constants first, then data, in one piece of memory. */
static bool link_object(const u8 *object, u64 size) {
    LinkNeeds needs;
    if (link_measure(object, size, &needs) != LATHE_OK)
        return false;
    u64 code = page_up(needs.code_bytes), data = page_up(needs.data_bytes);
    u8 *at = sys_pages(code + data), *work = sys_pages(page_up(needs.work_bytes));
    if (!at || !work)
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
    return tool.hooks && !sys_mprotect((u64)at, code, PROT_READ | PROT_EXEC);
}

/* --------------------------------------------------------------------------------------------------------------- hooks */

static void add_count(const ToolAdd *add) {
    ToolCounts *c = &tool.counts;
    for (u32 i = 0; i < c->count; i++)
        if (c->add[i].counter == add->counter) {
            c->add[i].amount += add->amount; /* each is small, and so is the number of hooks */
            return;
        }
    if (c->count == TOOL_COUNTS)
        die("the tool has more than %d counters for instructions", TOOL_COUNTS);
    c->add[c->count++] = *add;
}

static void take_hooks(void) {
    for (u32 i = 0; i < tool.hook_count; i++) {
        if (tool.hooks[i].event >= LATHE_EVENTS)
            die("hook %u of the tool is for event %u, which there is not", i + 1, (u32)tool.hooks[i].event);
        tool.events |= 1u << tool.hooks[i].event;
        if (tool.hooks[i].event == LATHE_INSN && tool.plans[i].kind == TOOL_COUNT)
            for (u32 k = 0; k < tool.plans[i].add_count; k++)
                add_count(&tool.plans[i].add[k]);
    }
}

void tool_load(void) {
    u64 size;
    if (!*the.opt.tool)
        return;
    const u8 *at = map_file(the.opt.tool, &size);
    ToolParts parts;
    if (!tool_open(at, size, &parts))
        die("%s is no tool of this version of Lathe", the.opt.tool);
    tool.package = at;
    tool.package_size = size;
    tool.plans = parts.plans;
    tool.hook_count = parts.head->hook_count;
    if (!link_object(parts.object, parts.head->object_size))
        die("%s, the tool: cannot be linked", the.opt.tool);
    tool.loaded = true;
    take_hooks();
}

void tool_identify(void) {
    ToolPackage head;
    u64 size;
    if (!*the.opt.tool)
        return;
    int fd = open_package(the.opt.tool, &size);
    if (!sys_read_all(fd, &head, sizeof(head)) || head.magic != TOOL_MAGIC)
        die("%s is no tool of this version of Lathe", the.opt.tool);
    sys_close(fd);
    the.opt.code.tool = head.identity | 1;
}

static bool is_called(u32 hook, LatheEvent event) {
    return tool.hooks[hook].event == event && tool.plans[hook].kind == TOOL_CALL;
}

bool tool_needs_quick(void) {
    for (u32 i = 0; i < tool.hook_count; i++)
        for (u32 k = 0; k < LATHE_VALUES && is_called(i, LATHE_INSN); k++)
            if (tool.hooks[i].value[k].what > LATHE_SIZE)
                return true;
    return false;
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
    return tool_calls(LATHE_INSN) ? tool.package : NULL;
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
        return about->arguments && (u64)v->number < SYSCALL_ARGUMENTS ? about->arguments[v->number] : 0;
    case LATHE_RESULT:
        return (u64)about->result;
    case LATHE_THREAD_ID:
        return thread_self()->tid;
    case LATHE_THREAD_OWN:
        return (u64)thread_self()->tool.own;
    case LATHE_NO_VALUE:
        break;
    }
    return 0;
}

bool tool_watches(LatheEvent event) {
    return tool.events >> event & 1;
}

void tool_call(LatheEvent event, ToolEvent *about) {
    if (!tool_watches(event))
        return;
    thread_self()->tool.event = about;
    for (u32 i = 0; i < tool.hook_count; i++) {
        const LatheHook *h = &tool.hooks[i];
        if (!is_called(i, event))
            continue;
        u64 v[LATHE_VALUES];
        for (u32 k = 0; k < LATHE_VALUES; k++)
            v[k] = value_of(&h->value[k], about);
        ((void (*)(u64, u64, u64, u64, u64, u64))h->call)(v[0], v[1], v[2], v[3], v[4], v[5]);
    }
    thread_self()->tool.event = NULL;
}

void tool_thread_ends(Thread *t) {
    if (!tool.loaded)
        return;
    for (u32 i = 0; i < TOOL_COUNTERS_MAX; i++)
        for (u32 k = 0; k < TOOL_CELLS; k++)
            tool.ended_counts[i] += t->tool.cell[i][k];
    memset(&t->tool, 0, sizeof(t->tool));
}

void tool_after_fork(Thread *t) {
    if (!tool.loaded)
        return;
    tool.end = END_NOT;
    memset(tool.ended_counts, 0, sizeof(tool.ended_counts));
    memset(t->tool.cell, 0, sizeof(t->tool.cell));
    tool_call(LATHE_START, &(ToolEvent){0});
}

u64 tool_ended(u32 counter) {
    return tool.ended_counts[counter];
}

static bool is_the_program(const Thread *t) {
    return tool.loaded && !t->process.borrows_memory && !t->process.separate;
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
    tool_call(LATHE_END, &(ToolEvent){0});
    __atomic_store_n(&tool.end, END_DONE, __ATOMIC_RELEASE);
}

void tool_not_ended(const Thread *t) {
    if (is_the_program(t))
        __atomic_store_n(&tool.end, END_NOT, __ATOMIC_RELEASE);
}
