/* api.c: the functions of binopt.h: handles, configurations, and the choice of a rewriter. */
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "binopt/config/rewriter.h"
#include "binopt/config/signature.h"

struct BinoptOpaqueHandle {
    const Rewriter *rewriter;
    void *self; /* the rewriter's state for this handle */
    BinoptCfg *cfgs;
    pid_t owner; /* the process that made it */
};

/* After fork() the child shares the code of a handle with the parent, but does not have its threads. */
static bool is_inherited(BinoptHandle handle) {
    return handle->owner != getpid();
}

/* The rewriter that the environment names, or else the library's first one. */
static const Rewriter *choose(void) {
    const char *name = getenv("BINOPT_DRIVER");
    for (const Rewriter *const *r = rewriters; name && *r; r++)
        if (!strcmp((*r)->name, name))
            return *r;
    return rewriters[0];
}

static BinoptCfg *adopt(BinoptHandle handle, BinoptCfg *cfg) {
    cfg->next = handle->cfgs;
    return handle->cfgs = cfg;
}

/* If the application gave no type, takes it from the debug information, which is searched once. */
static void need_type(BinoptCfg *cfg) {
    if (cfg->typed || cfg->searched || !signature_finder)
        return;
    cfg->searched = true;
    if (!signature_finder(cfg))
        config_log(cfg, 1, "its type is not known: %s", cfg->untyped);
}

static bool same_type(BinoptType a, BinoptType b) {
    bool pointers = config_type_is_pointer(a) && config_type_is_pointer(b);
    return pointers ||
           (config_type_bytes(a) == config_type_bytes(b) && config_type_is_float(a) == config_type_is_float(b));
}

/* For people who read the log: says whether the configured type is the one that was compiled. Signedness does not
 * count. */
static void compare_type(const BinoptCfg *cfg) {
    if (cfg->log_level < 1 || !signature_finder)
        return;
    BinoptCfg *found = config_new(cfg->handle, cfg->function);
    if (signature_finder(found)) {
        bool same = same_type(cfg->ret, found->ret) && cfg->params.len == found->params.len;
        for (size_t i = 0; same && i < cfg->params.len; i++)
            same = same_type(cfg->params.at[i].type, found->params.at[i].type);
        if (!same)
            config_log(cfg, 1, "the configured type is not that of the debug information");
    }
    config_free(found);
}

size_t rewriter_code_bytes(BinoptHandle handle, BinoptFunc made) {
    const Rewriter *r = handle->rewriter;
    return r->code_bytes ? r->code_bytes(handle->self, made) : 0;
}

const char *binopt_driver(void) {
    return choose()->driver;
}

BinoptHandle binopt_init(void) {
    BinoptHandle handle = mem_new(sizeof(*handle));
    handle->rewriter = choose();
    handle->self = handle->rewriter->open();
    handle->owner = getpid();
    return handle;
}

void binopt_fini(BinoptHandle handle) {
    while (handle->cfgs) {
        BinoptCfg *cfg = handle->cfgs;
        handle->cfgs = cfg->next;
        config_free(cfg);
    }
    if (!is_inherited(handle))
        handle->rewriter->close(handle->self);
    mem_free(handle);
}

BinoptCfgRef binopt_cfg_new(BinoptHandle handle, BinoptFunc base_func) {
    return adopt(handle, config_new(handle, (u64)base_func));
}

BinoptCfgRef binopt_cfg_clone(BinoptCfgRef base_cfg) {
    return adopt(base_cfg->handle, config_clone(base_cfg));
}

void binopt_cfg_free(BinoptCfgRef cfg) {
    BinoptCfg **link = &cfg->handle->cfgs;
    while (*link != cfg)
        link = &(*link)->next;
    *link = cfg->next;
    config_free(cfg);
}

void binopt_cfg_type(BinoptCfgRef cfg, unsigned count, BinoptType ret, ...) {
    va_list types;
    va_start(types, ret);
    config_set_type(cfg, count, ret);
    for (unsigned i = 0; i < count; i++)
        cfg->params.at[i].type = (BinoptType)va_arg(types, int);
    va_end(types);
    compare_type(cfg);
}

void binopt_cfg_set(BinoptCfgRef cfg, BinoptOptFlags flag, size_t val) {
    switch ((unsigned)flag) {
    case BINOPT_F_STACKSZ:
        cfg->stack_bytes = val;
        break;
    case BINOPT_F_FASTMATH:
        cfg->fast_math = val != 0;
        break;
    case BINOPT_F_LOGLEVEL:
        cfg->log_level = val;
        break;
    case BINOPT_F_GUARD:
        cfg->guard = val != 0;
        break;
    case BINOPT_F_LIBRARIES:
        cfg->libraries = val != 0;
        break;
    case BINOPT_F_NOWRAP:
        cfg->nowrap = val != 0;
        break;
    }
}

void binopt_cfg_set_param(BinoptCfgRef cfg, unsigned idx, const void *val) {
    need_type(cfg);
    if (idx >= cfg->params.len) {
        config_log(cfg, 1, "there is no parameter %u; its value is ignored", idx);
        return;
    }
    Param *p = &cfg->params.at[idx];
    p->fixed = true;
    p->value = 0;
    memcpy(&p->value, val, config_type_bytes(p->type));
}

void binopt_cfg_set_parami(BinoptCfgRef cfg, unsigned idx, size_t val) {
    binopt_cfg_set_param(cfg, idx, &val);
}

void binopt_cfg_mem(BinoptCfgRef cfg, void *base, size_t size, BinoptMemFlags flags) {
    u64 start = (u64)base;
    if (size && start + size > start)
        VEC_PUSH(&cfg->regions, ((DeclaredRegion){start, start + size, flags}));
}

void binopt_cfg_set_paramp(BinoptCfgRef cfg, unsigned idx, const void *ptr, size_t size, BinoptMemFlags flags) {
    binopt_cfg_set_param(cfg, idx, &ptr);
    binopt_cfg_mem(cfg, (void *)ptr, size, flags);
}

BinoptFunc binopt_spec_create(BinoptCfgRef cfg) {
    need_type(cfg);
    *cfg->reason = 0;
    cfg->made = NULL;
    if (is_inherited(cfg->handle))
        config_refuse(cfg, "its handle was made by the parent of this process");
    else if (!cfg->typed)
        config_refuse(cfg, "its type is not known: %s",
                      cfg->searched ? cfg->untyped : "binopt_cfg_type was not called");
    else
        cfg->made = cfg->handle->rewriter->specialize(cfg->handle->self, cfg);
    return cfg->made ? cfg->made : (BinoptFunc)cfg->function;
}

const char *binopt_spec_reason(BinoptCfgRef cfg) {
    const Rewriter *r = cfg->handle->rewriter;
    if (cfg->made && r->reason && !is_inherited(cfg->handle))
        r->reason(cfg->handle->self, cfg->made, cfg->reason, CONFIG_REASON_BYTES);
    return *cfg->reason ? cfg->reason : NULL;
}

void binopt_spec_delete(BinoptHandle handle, BinoptFunc spec_func) {
    if (handle->rewriter->release && spec_func && !is_inherited(handle))
        handle->rewriter->release(handle->self, spec_func);
}
