/* coverage.h: does every supported instruction have a case, and is its row as the manual has it? */
#ifndef ISA_COVERAGE_H
#define ISA_COVERAGE_H

#include "cases.h"

/* Prints each mnemonic without a case and what is wrong about rows; returns how many. */
size_t coverage_check(const CaseList *list);

#endif
