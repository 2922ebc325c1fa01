/* disk.h: specialisations of earlier runs, in the packs of the directory that BINOPT_CACHE names; see docs/binopt.md.
 *
 * Addresses are different in each run, and code may depend on them. Which of its bytes do is found by comparing what two
 * runs made of the same things; from then on it is moved and used. All of it may be called by several threads at once. */
#ifndef BINOPT_LLVM_DISK_H
#define BINOPT_LLVM_DISK_H

#include "binopt/llvm/store/store.h"

/* An object for the configuration that is right in this run, to be freed by mem_free, and what it depends on; NULL: none. */
void *disk_find(const BinoptCfg *cfg, size_t *size, Depends *depends);

/* Keeps what was made. What cannot be kept is not, silently. */
void disk_keep(const BinoptCfg *cfg, const Depends *depends, const void *object, size_t size);

#endif
