/* library.h: the parts of the tools' run-time (lathe/tool.h) that are the same under `lathe run` and in raised programs, and what they need of what is below
 * them, which each of the two has for itself. */
#ifndef TOOL_LIBRARY_LIBRARY_H
#define TOOL_LIBRARY_LIBRARY_H

#include "base/base.h"
#include "tool/package.h"

/* Below: */
void lock(u32 *word);
void unlock(u32 *word);
size_t format_text(char *buf, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Zeroed memory, taken from the system when it is used; NULL: there is none left. */
void *tool_pages(u64 bytes);
void tool_pages_free(void *pages, u64 bytes);
/* Whole pages are zero again, and the system has their memory; false: they are as they were. */
bool tool_pages_clear(void *pages, u64 bytes);

/* memory.c: held around fork. */
void tool_memory_lock(void);
void tool_memory_unlock(void);

/* options.c: reads the options of --tool, NAME,key=value,… for each tool, with TOOL_OPTIONS_DIVIDER between them. */
void tool_options_init(const char *text);
/* Ends the process with a message if there is an option that its tool has not asked for. */
void tool_options_check(void);
/* The name of a tool, by its number from 1 on, where messages have to say which one is meant; NULL: there is only one. */
const char *tool_name(u32 number);
/* The same, also if it is the only one. */
const char *tool_own_name(u32 number);

#endif
