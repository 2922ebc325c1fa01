/* build.h: makes a package (package.h) of the bitcode of one tool, or of several. */
#ifndef TOOL_BUILD_H
#define TOOL_BUILD_H

#include "base/base.h"

typedef struct ToolSource {
    char path[4096];    /* of the file, for messages */
    char bitcode[4096]; /* the path of what the compiler has made of it */
} ToolSource;

/* What a package is made of: the tools in their order, a number for the contents of all files, and their paths, each with a zero behind it. */
typedef struct ToolInputs {
    const ToolSource *sources;
    u32 source_count; /* from 1 to TOOLS_MAX */
    u64 identity;
    const char *paths;
    size_t size;
} ToolInputs;

/* The package, in malloc'ed memory. NULL: there is none, and `why` is a sentence about it, with the name of the file. */
void *tool_build(const ToolInputs *inputs, size_t *size, char *why, size_t why_size);

#endif
