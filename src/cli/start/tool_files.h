/* tool_files.h: where the files of tools are (docs/tools.md): their source, and the package that is built of it. */
#ifndef CLI_TOOL_FILES_H
#define CLI_TOOL_FILES_H

#include "base/base.h"
#include "tool/package.h"

/* The source of a tool: `name` is a path with a slash or ending in .c, or the name of a tool that comes with Lathe. False after a message. */
bool tool_source(const char *name, char *path, size_t size);

/* The directory with lathe/tool.h. False after a message. */
bool tool_include(char *path, size_t size);

/* A number for the contents of all files that a tool is made of, whose paths have a zero behind each, and of what builds it. False after a message. */
bool tool_identity(const char *paths, size_t size, u64 *identity);

/* The package of the tools that --tool=NAME,key=value,… name, each with its options, which is built now if the cache does not have it; and what their run-time is told about them. False after a message. */
bool tool_packages(const char *const *texts, u32 count, const char *cache, char *path, size_t size,
                   char options[TOOL_OPTIONS_SIZE]);

#endif
