/* build.h: makes a package (package.h) of a tool's bitcode. */
#ifndef TOOL_BUILD_H
#define TOOL_BUILD_H

#include "base/base.h"

/* What a tool is made of: a number for the contents of all files, and their paths, each with a zero behind it. */
typedef struct ToolInputs {
    u64 identity;
    const char *paths;
    size_t size;
} ToolInputs;

/* The package of the tool whose bitcode is in a file, in malloc'ed memory. NULL: there is none, and `why` is a sentence about it. */
void *tool_build(const char *bitcode, const ToolInputs *inputs, size_t *size, char *why, size_t why_size);

#endif
