/* symbols.c: see symbols.h. */
#include "codegen/symbols.h"

/* FNV-1a. */
static u64 hash(const char *name) {
    u64 h = 0xcbf29ce484222325;
    for (; *name; name++)
        h = (h ^ (u8)*name) * 0x100000001b3;
    return h;
}

void symbols_define(SymbolTable *t, const char *name, u64 address, u64 size) {
    u64 key = hash(name);
    u32 newest;
    u32 older = map64_get(&t->by_hash, key, &newest) ? newest + 1 : 0;
    Symbol s = {arena_printf(&t->names, "%s", name), address, size, older};
    map64_set(&t->by_hash, key, (u32)t->list.len);
    VEC_PUSH(&t->list, s);
}

const Symbol *symbols_find(const SymbolTable *t, const char *name) {
    u32 newest;
    if (!map64_get(&t->by_hash, hash(name), &newest))
        return NULL;
    for (u32 i = newest + 1; i; i = t->list.at[i - 1].older)
        if (!strcmp(t->list.at[i - 1].name, name))
            return &t->list.at[i - 1];
    return NULL;
}

void symbols_free(SymbolTable *t) {
    arena_free(&t->names);
    VEC_FREE(&t->list);
    map64_free(&t->by_hash);
}
