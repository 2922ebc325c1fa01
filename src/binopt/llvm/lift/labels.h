/* labels.h: places inside a function that computed jumps may lead to. */
#ifndef BINOPT_LLVM_LABELS_H
#define BINOPT_LLVM_LABELS_H

#include "lift/func.h"

/* Is it shown that nobody has an address of a place inside the function, other than of its beginning? The unwind tables say which code is
 * the function's. All of it has to be reached from its beginning without computed jumps whose targets are unknown, and no instruction
 * of it and no pointer in the memory of its file may be such an address. */
bool labels_none(LatheFunc *fn);

#endif
