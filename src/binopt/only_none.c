/* only_none.c: the rewriters of libbinopt-none. */
#include "binopt/rewriter.h"

const Rewriter *const rewriters[] = {&rewriter_none, NULL};
