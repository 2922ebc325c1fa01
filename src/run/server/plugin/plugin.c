/* plugin.c: see plugin.h. */
#include "run/server/plugin/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lathe/plugin.h"
#include "run/protocol/plugin_id.h"

enum { MARKS = 3 };

struct Plugin {
    char path[PLUGIN_PATH_SIZE];
    const char *options;
    Connection *connection;
    u64 identity;
    const LathePlugin *it; /* NULL: not loaded yet */
    LathePluginStart start;
    /* for the current module: */
    LLVMValueRef marks[MARKS]; /* the plugin's markers: of instructions, blocks and accesses; NULL: it wants none */
    u64 base;
};

Plugin *plugin_new(const char *word, Connection *c) {
    if (!word)
        return NULL;
    Plugin *p = mem_new(sizeof(*p));
    p->connection = c;
    p->options = plugin_split(word, p->path);
    if (!p->options || !plugin_identity(p->path, p->options, &p->identity))
        p->identity = 0;
    return p;
}

u64 plugin_wanted(const Plugin *p) {
    return p ? p->identity : 0;
}

/* The connection for messages of a plugin, which knows nothing of it. A process has one plugin. */
static Connection *listener;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    char line[1000];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    size_t size = len < (int)sizeof(line) ? (size_t)len : sizeof(line) - 1;
    if (listener && len > 0)
        connection_send(listener, S_WARNING, line, size, NULL, 0);
}

/* ------------------------------------------------------------------------------------------------------------- loading */

static void enter(const Plugin *p, const char *what, u64 pc) {
    plugin_guard_set((PluginPlace){p->path, what, pc, true});
}

/* What LLVM does with its code is the plugin's fault, too, if LLVM does not survive it; but how long that takes is not. */
static void leave(const Plugin *p, u64 pc) {
    plugin_guard_set((PluginPlace){p->path, "LLVM, with what it has made", pc, false});
}

static void expect(const Plugin *p, const LathePlugin *it) {
    char why[128];
    unsigned llvm, minor, patch;
    LLVMGetVersion(&llvm, &minor, &patch);
    plugin_guard_set((PluginPlace){p->path, "cannot be used", 0, false});
    if (!it)
        plugin_guard_fail("it has no lathe_plugin");
    snprintf(why, sizeof(why), "it is of version %u of lathe/plugin.h, and this is version %u", it->version,
             (u32)LATHE_PLUGIN_VERSION);
    if (it->version != LATHE_PLUGIN_VERSION)
        plugin_guard_fail(why);
    snprintf(why, sizeof(why), "it is for LLVM %u, and this is LLVM %u", it->llvm, llvm);
    if (it->llvm != llvm)
        plugin_guard_fail(why);
}

static const LathePlugin *load(const Plugin *p) {
    enter(p, "loading", 0);
    void *handle = dlopen(p->path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        plugin_guard_fail(dlerror());
    const LathePlugin *it = dlsym(handle, "lathe_plugin");
    expect(p, it);
    return it;
}

void plugin_start(Plugin *p, LatheArch arch) {
    if (!p || p->it)
        return;
    plugin_guard_begin(p->connection->out ? p->connection->out : p->connection->fd);
    listener = p->connection;
    p->it = load(p);
    p->start = (LathePluginStart){.options = p->options, .arch = arch, .say = say};
    enter(p, "init", 0);
    const char *why = p->it->init ? p->it->init(&p->start) : NULL;
    if (why)
        plugin_guard_fail(why);
    leave(p, 0);
}

void plugin_finish(Plugin *p) {
    listener = NULL;
    plugin_guard_end();
    if (p && p->it && p->it->finish)
        p->it->finish();
}

/* -------------------------------------------------------------------------------------------------------------- markers */

/* The places in a LatheConfig, in the order of LATHE_MARK_*. */
static LLVMValueRef *slot(LatheConfig *cfg, u32 index) {
    LLVMValueRef *const slots[MARKS] = {&cfg->mark_insn, &cfg->mark_block, &cfg->mark_memory};
    return slots[index];
}

static LLVMValueRef declare(LLVMModuleRef mod, u32 index) {
    static const char *const names[MARKS] = {"lathe.mark.insn", "lathe.mark.block", "lathe.mark.memory"};
    static const u32 memory = 2;
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(ctx), i32 = LLVMInt32TypeInContext(ctx);
    LLVMTypeRef plain[] = {i64, i32}, access[] = {i64, LLVMPointerTypeInContext(ctx, 0), i32, i32};
    bool is_access = index == memory;
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(ctx), is_access ? access : plain, is_access ? 4 : 2, false);
    return LLVMAddFunction(mod, names[index], type);
}

void plugin_mark(Plugin *p, LLVMModuleRef mod, LatheConfig *cfg, u64 base) {
    if (!p)
        return;
    p->base = base;
    for (u32 i = 0; i < MARKS; i++) {
        bool wanted = p->start.marks >> i & 1;
        p->marks[i] = wanted ? declare(mod, i) : NULL;
        if (wanted)
            *slot(cfg, i) = p->marks[i];
    }
}

/* Removes what the plugin has left of a marker's calls. */
static void settle_marker(LLVMValueRef marker) {
    for (LLVMUseRef use; (use = LLVMGetFirstUse(marker));) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != marker)
            plugin_guard_fail("it uses a marker for something else than calls");
        LLVMInstructionEraseFromParent(user);
    }
    LLVMDeleteFunction(marker);
}

/* ------------------------------------------------------------------------------------------------------------ functions */

/* The names of each tool are apart; the first one that has it counts. */
static LLVMValueRef find(const LathePluginFunction *f, const char *name) {
    char full[256];
    for (u32 tool = 1; tool <= TOOLS_MAX; tool++) {
        snprintf(full, sizeof(full), TOOL_PREFIX "%u.%s", tool, name);
        LLVMValueRef found = LLVMGetNamedFunction(f->module, full);
        snprintf(full, sizeof(full), TOOL_DATA_PREFIX "%u.%s", tool, name);
        found = found ? found : LLVMGetNamedGlobal(f->module, full);
        if (found)
            return found;
    }
    return NULL;
}

/* The symbol of the file's base, and perhaps an offset from it in bytes. */
static uint64_t address(const LathePluginFunction *f, LLVMValueRef pc) {
    size_t len;
    u64 off = 0;
    if (LLVMIsAConstantInt(pc))
        return LLVMConstIntGetZExtValue(pc);
    if (!LLVMIsAConstantExpr(pc) || LLVMGetConstOpcode(pc) != LLVMPtrToInt)
        return 0;
    LLVMValueRef at = LLVMGetOperand(pc, 0);
    if (LLVMIsAConstantExpr(at) && LLVMGetConstOpcode(at) == LLVMGetElementPtr && LLVMGetNumOperands(at) == 2 &&
        LLVMIsAConstantInt(LLVMGetOperand(at, 1))) {
        off = (u64)LLVMConstIntGetSExtValue(LLVMGetOperand(at, 1));
        at = LLVMGetOperand(at, 0);
    }
    return LLVMIsAGlobalVariable(at) && !strcmp(LLVMGetValueName2(at, &len), SYMBOL_GUEST) ? f->base + off : 0;
}

void plugin_instrument(Plugin *p, LLVMValueRef function, u64 pc) {
    if (!p)
        return;
    LathePluginFunction f = {
        .module = LLVMGetGlobalParent(function),
        .function = function,
        .cpu = LLVMGetParam(function, LLVMCountParams(function) - 1),
        .pc = pc,
        .base = p->base,
        .mark_insn = p->marks[0],
        .mark_block = p->marks[1],
        .mark_memory = p->marks[2],
        .find = find,
        .address = address,
    };
    enter(p, "instrument", pc);
    const char *why = p->it->instrument ? p->it->instrument(&f) : NULL;
    if (why)
        plugin_guard_fail(why);
    char *message = NULL;
    if (LLVMVerifyModule(f.module, LLVMReturnStatusAction, &message))
        plugin_guard_fail(message);
    LLVMDisposeMessage(message);
    leave(p, pc);
}

void plugin_settle(Plugin *p) {
    for (u32 i = 0; p && i < MARKS; i++)
        if (p->marks[i])
            settle_marker(p->marks[i]);
}

void plugin_failed_at(Plugin *p, u64 pc) {
    if (!p)
        return;
    leave(p, pc);
    plugin_guard_fail("it cannot be compiled");
}
