/* above.h: what call stacks ask of the folder above, which has these functions. */
#ifndef RUN_CLIENT_TOOL_UNWIND_ABOVE_H
#define RUN_CLIENT_TOOL_UNWIND_ABOVE_H

#include "run/client/tool/unwind/frames.h"

/* A file that is mapped where the program has an address, as it is on disk. Of symbols.c. */
typedef struct ToolFile {
    const u8 *bytes; /* NULL: it cannot be read */
    u64 size;
    u64 address;         /* the address, as the file has it */
    FrameTable **frames; /* where stack.c has what it knows of the file; at first NULL */
} ToolFile;
bool tool_file_at(u64 address, ToolFile *out); /* false: there is none */

#endif
