/* disk.h: specialisations of earlier runs, in the packs of the directory that BINOPT_CACHE names; see docs/binopt.md.
 *
 * Addresses differ in each run, and code may depend on them. Which of its bytes do is found by comparing the objects that two runs made for
 * the same configuration; from then on the object is relocated and used. All functions are thread-safe. */
#ifndef BINOPT_LLVM_DISK_H
#define BINOPT_LLVM_DISK_H

#include "binopt/llvm/store/store.h"

/* Returns an object for the configuration that is right in this run, to be freed by mem_free, and what it depends on;
 * NULL: there is none. */
void *disk_find(const BinoptCfg *cfg, size_t *size, Depends *depends);

/* Stores an object. If it cannot be stored, nothing happens. */
void disk_keep(const BinoptCfg *cfg, const Depends *depends, const void *object, size_t size);

#endif
