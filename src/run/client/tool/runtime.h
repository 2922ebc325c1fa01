/* runtime.h: what the parts of the tools' run-time (lathe/tool.h) have to do with each other and with tool.c. */
#ifndef RUN_CLIENT_TOOL_RUNTIME_H
#define RUN_CLIENT_TOOL_RUNTIME_H

#include "run/client/core/client.h"
#include "tool/library/library.h"
#include "tool/package.h"

/* print.c: a text of any length, formatted; in `room` if it fits there, else in memory that text_free frees. */
typedef struct ToolText {
    char *at;
    size_t len;
    bool allocated;
    char room[2048];
} ToolText;
void tool_text(ToolText *text, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void tool_text_free(ToolText *text);
/* Prints a message of Lathe's about the tool to where the tool prints. */
void tool_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* files.c: writes out all that is in the buffers of files. */
void tool_files_flush(void);
void tool_files_flush_dying(void); /* likewise, unless another thread has the lock of files and does not give it back */
void tool_files_flush_locked(void); /* likewise; the caller has the lock of files */
/* In a child of fork: files whose names have the process's number begin anew. */
void tool_files_after_fork(void);
void tool_files_init(void); /* notes the current directory */

/* Held around fork, before tool_memory_lock: no other thread holds a lock of the tool's (locks.c), or is in files.c. */
void tool_close_gate(void);
void tool_open_gate(void);

/* lines.c: where the number of its descriptor is; and in a child of fork. */
int *tool_lines_descriptor(void);
void tool_lines_after_fork(void);

/* runtime.c: ends the process with a message if something was counted by what is no counter. */
void tool_check_counts(void);

/* symbols.c: other files than before may be in [start, end) by now. */
void tool_symbols_forget(u64 start, u64 end);
void tool_lines_forget(u64 start, u64 end);

/* program.c: the guest's arguments, from argv[0] on. */
void tool_set_arguments(char **argv);

#endif
