/* tool_files.h: where the files of tools are (docs/tools.md): their source, and the package that is built of it. */
#ifndef CLI_TOOL_FILES_H
#define CLI_TOOL_FILES_H

#include "base/base.h"

/* The source of a tool: `name` is a path with a slash or ending in .c, or the name of a tool that comes with Lathe. False after a message. */
bool tool_source(const char *name, char *path, size_t size);

/* The directory with lathe/tool.h. False after a message. */
bool tool_include(char *path, size_t size);

/* A number for the contents of all files that a tool is made of, whose paths have a zero behind each, and of what builds it. False after a message. */
bool tool_identity(const char *paths, size_t size, u64 *identity);

/* The package of a tool, which is built now if the cache does not have it. False after a message. */
bool tool_package(const char *name, const char *cache, char *path, size_t size);

#endif
