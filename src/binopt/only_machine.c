/* only_machine.c: the rewriters of libbinopt-machine. */
#include "binopt/config/rewriter.h"
#include "binopt/config/signature.h"

SignatureFinder *const signature_finder = signature_find;

const Rewriter *const rewriters[] = {&rewriter_trace, &rewriter_function, &rewriter_none, NULL};
