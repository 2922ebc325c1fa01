/* build.h: makes a package (package.h) of a tool's bitcode. */
#ifndef TOOL_BUILD_H
#define TOOL_BUILD_H

#include "base/base.h"

/* The package of the tool whose bitcode is in a file, in malloc'ed memory. NULL: there is none, and `why` is a sentence about it. */
void *tool_build(const char *bitcode, u64 identity, size_t *size, char *why, size_t why_size);

#endif
