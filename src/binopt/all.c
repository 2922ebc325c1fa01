/* all.c: the rewriters of libbinopt. */
#include "binopt/rewriter.h"

const Rewriter *const rewriters[] = {&rewriter_llvm, &rewriter_none, NULL};
