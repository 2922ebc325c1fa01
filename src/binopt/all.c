/* all.c: the rewriters of libbinopt. */
#include "binopt/config/rewriter.h"
#include "binopt/config/signature.h"

SignatureFinder *const signature_finder = signature_find;

const Rewriter *const rewriters[] = {&rewriter_llvm,     &rewriter_tiered, &rewriter_trace,
                                     &rewriter_function, &rewriter_none,   NULL};
