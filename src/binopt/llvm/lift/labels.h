/* labels.h: places inside a function to which computed jumps may lead. */
#ifndef BINOPT_LLVM_LABELS_H
#define BINOPT_LLVM_LABELS_H

#include "lift/func.h"

/* True if it is certain that no pointer leads into the function, except to its beginning. The unwind tables say which
 * code belongs to the function. All of it must be reached from its beginning without computed jumps of unknown targets,
 * and no instruction of it and no pointer in the memory of its file may be such an address. */
bool labels_none(LatheFunc *fn);

#endif
