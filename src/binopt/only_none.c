/* only_none.c: the rewriters of libbinopt-none. */
#include "binopt/rewriter.h"
#include "binopt/signature.h"

SignatureFinder *const signature_finder = NULL;

const Rewriter *const rewriters[] = {&rewriter_none, NULL};
