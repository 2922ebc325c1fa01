/* config.c: see config.h. */
#include "binopt/config/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_STACK_BYTES = 65536, DEFAULT_LIMIT_MS = 30000, LOG_CODE = 3 };

static const u8 type_bytes[] = {
    [BINOPT_TY_VOID] = 0,        [BINOPT_TY_INT8] = 1,  [BINOPT_TY_INT16] = 2,  [BINOPT_TY_INT32] = 4,
    [BINOPT_TY_INT64] = 8,       [BINOPT_TY_UINT8] = 1, [BINOPT_TY_UINT16] = 2, [BINOPT_TY_UINT32] = 4,
    [BINOPT_TY_UINT64] = 8,      [BINOPT_TY_FLOAT] = 4, [BINOPT_TY_DOUBLE] = 8, [BINOPT_TY_PTR] = 8,
    [BINOPT_TY_PTR_NOALIAS] = 8,
};

u32 config_type_bytes(BinoptType type) {
    return (size_t)type < ARRAY_LEN(type_bytes) ? type_bytes[type] : 0;
}

bool config_type_is_float(BinoptType type) {
    return type == BINOPT_TY_FLOAT || type == BINOPT_TY_DOUBLE;
}

bool config_type_is_signed(BinoptType type) {
    return type >= BINOPT_TY_INT8 && type <= BINOPT_TY_INT64;
}

u64 config_extend(const Param *p) {
    u32 unused = 64 - 8 * config_type_bytes(p->type);
    u64 low = p->value << unused;
    return config_type_is_signed(p->type) ? (u64)((i64)low >> unused) : low >> unused;
}

BinoptCfg *config_new(BinoptHandle handle, u64 function) {
    BinoptCfg *cfg = mem_new(sizeof(*cfg));
    cfg->handle = handle;
    cfg->function = function;
    cfg->stack_bytes = DEFAULT_STACK_BYTES;
    cfg->reason = mem_new(CONFIG_REASON_BYTES);
    const char *level = getenv("BINOPT_LOGLEVEL"), *always = getenv("BINOPT_ALWAYS"),
               *limit = getenv("BINOPT_LIMIT_MS");
    cfg->log_level = level ? (size_t)atoi(level) : 0;
    cfg->always = always && *always == '1';
    cfg->limit_ms = limit && *limit ? (size_t)strtoul(limit, NULL, 10) : DEFAULT_LIMIT_MS;
    return cfg;
}

BinoptCfg *config_clone(const BinoptCfg *cfg) {
    BinoptCfg *copy = mem_new(sizeof(*copy));
    *copy = *cfg;
    copy->reason = mem_new(CONFIG_REASON_BYTES);
    copy->made = NULL;
    memset(&copy->params, 0, sizeof(copy->params));
    memset(&copy->regions, 0, sizeof(copy->regions));
    for (size_t i = 0; i < cfg->params.len; i++)
        VEC_PUSH(&copy->params, cfg->params.at[i]);
    for (size_t i = 0; i < cfg->regions.len; i++)
        VEC_PUSH(&copy->regions, cfg->regions.at[i]);
    return copy;
}

void config_free(BinoptCfg *cfg) {
    VEC_FREE(&cfg->params);
    VEC_FREE(&cfg->regions);
    mem_free(cfg->reason);
    mem_free(cfg);
}

static bool same_params(const BinoptCfg *a, const BinoptCfg *b) {
    for (size_t i = 0; i < a->params.len; i++) {
        const Param *x = &a->params.at[i], *y = &b->params.at[i];
        if (x->type != y->type || x->fixed != y->fixed || (x->fixed && x->value != y->value))
            return false;
    }
    return true;
}

static bool same_regions(const BinoptCfg *a, const BinoptCfg *b) {
    for (size_t i = 0; i < a->regions.len; i++) {
        const DeclaredRegion *x = &a->regions.at[i], *y = &b->regions.at[i];
        if (x->start != y->start || x->end != y->end || x->flags != y->flags)
            return false;
    }
    return true;
}

bool config_same(const BinoptCfg *a, const BinoptCfg *b) {
    return a->function == b->function && a->typed == b->typed && a->ret == b->ret && a->stack_bytes == b->stack_bytes &&
           a->fast_math == b->fast_math && a->guard == b->guard && a->libraries == b->libraries &&
           a->nowrap == b->nowrap && a->params.len == b->params.len && a->regions.len == b->regions.len &&
           same_params(a, b) && same_regions(a, b);
}

void config_set_type(BinoptCfg *cfg, u32 count, BinoptType ret) {
    cfg->typed = true;
    cfg->ret = ret;
    cfg->results = 0;
    cfg->params.len = 0;
    for (u32 i = 0; i < count; i++)
        VEC_PUSH(&cfg->params, ((Param){0}));
}

BinoptMemFlags config_memory(const BinoptCfg *cfg, u64 addr, u64 size) {
    for (size_t i = cfg->regions.len; i-- > 0;) {
        const DeclaredRegion *r = &cfg->regions.at[i];
        if (addr >= r->end || addr + size <= r->start)
            continue;
        return addr >= r->start && addr + size <= r->end ? r->flags : BINOPT_MEM_DYNAMIC;
    }
    return BINOPT_MEM_DEFAULT;
}

bool config_wants_code(const BinoptCfg *cfg) {
    return cfg->watcher || cfg->log_level >= LOG_CODE;
}

void config_show_code(const BinoptCfg *cfg, const char *stage, const char *text) {
    if (cfg->watcher)
        cfg->watcher->code(cfg->watcher->user, stage, text);
    else
        fprintf(stderr, "binopt: %s:\n%s\n", stage, text);
}

void config_log(const BinoptCfg *cfg, size_t level, const char *format, ...) {
    if (!cfg->watcher && cfg->log_level < level)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (cfg->watcher)
        cfg->watcher->say(cfg->watcher->user, level, text);
    else
        fprintf(stderr, "binopt: %#llx: %s\n", (unsigned long long)cfg->function, text);
}

void config_refuse(const BinoptCfg *cfg, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(cfg->reason, CONFIG_REASON_BYTES, format, args);
    va_end(args);
    config_log(cfg, 1, "left alone: %s", cfg->reason);
}
