/* all.c: the rewriters of libbinopt. */
#include "binopt/rewriter.h"
#include "binopt/signature.h"

SignatureFinder *const signature_finder = signature_find;

const Rewriter *const rewriters[] = {&rewriter_llvm, &rewriter_tiered, &rewriter_trace, &rewriter_function, &rewriter_none, NULL};
