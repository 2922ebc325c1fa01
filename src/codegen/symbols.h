/* symbols.h: names of linked code and data, and where it is. A zeroed SymbolTable is empty. */
#ifndef CODEGEN_SYMBOLS_H
#define CODEGEN_SYMBOLS_H

#include "base/base.h"

typedef struct Symbol {
    const char *name;
    u64 address, size;
    u32 older; /* index + 1 of the symbol before it with the same hash, 0: none */
} Symbol;

typedef struct SymbolTable {
    Arena names;
    VEC(Symbol) list;
    Map64 by_hash; /* the newest index with that hash */
} SymbolTable;

/* Copies the name. A name defined again means the new place from now on. */
void symbols_define(SymbolTable *t, const char *name, u64 address, u64 size);

/* NULL if unknown; valid until the next definition. */
const Symbol *symbols_find(const SymbolTable *t, const char *name);

void symbols_free(SymbolTable *t);

#endif
