/* store.h: objects of specialised functions, for all handles of the process.
 *
 * An object belongs to a configuration (its key) and to the memory that was read while it was made: code and constants. It is found if
 * both are the same to the last byte. All functions are thread-safe. */
#ifndef BINOPT_LLVM_STORE_H
#define BINOPT_LLVM_STORE_H

#include "binopt/config/config.h"
#include "binopt/process/depends.h"

/* An object that was found. `id` identifies the object in the store. */
typedef struct Stored {
    u64 id;
    char name[32]; /* name of its function */
    void *object;  /* a copy, to be freed by mem_free */
    size_t size;
} Stored;

bool store_find(const BinoptCfg *cfg, Stored *found);
/* Adds copies of everything, and returns the object's id. */
u64 store_add(const BinoptCfg *cfg, const Depends *depends, const char *name, const void *object, size_t size);

#endif
