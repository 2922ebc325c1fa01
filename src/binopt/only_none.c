/* only_none.c: the rewriters of libbinopt-none. */
#include "binopt/config/rewriter.h"
#include "binopt/config/signature.h"

SignatureFinder *const signature_finder = NULL;

const Rewriter *const rewriters[] = {&rewriter_none, NULL};
