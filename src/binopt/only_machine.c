/* only_machine.c: the rewriters of libbinopt-machine. */
#include "binopt/rewriter.h"
#include "binopt/signature.h"

SignatureFinder *const signature_finder = signature_find;

const Rewriter *const rewriters[] = {&rewriter_trace, &rewriter_function, &rewriter_none, NULL};
