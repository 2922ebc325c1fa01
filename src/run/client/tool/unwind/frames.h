/* frames.h: .eh_frame of an ELF file: for each function, how its caller's registers are found. */
#ifndef RUN_CLIENT_TOOL_FRAMES_H
#define RUN_CLIENT_TOOL_FRAMES_H

#include "run/client/tool/unwind/cursor.h"

/* Its functions, by their addresses. */
typedef struct FrameTable FrameTable;

/* Reads the table of a file, which has to stay in memory; never NULL, but it may be empty. */
FrameTable *frames_read(const u8 *file, u64 size);

/* What is said about one function. */
typedef struct FrameRules {
    u64 start; /* the function's address, as in the file */
    u64 code_factor;
    i64 data_factor;
    u32 return_register; /* the number of the one that has the return address */
    bool is_signal;      /* it is what handlers of signals return to */
    Cursor common, own;  /* instructions: those of several functions, and this one's */
} FrameRules;

/* False: the table has nothing about an address. */
bool frames_find(const FrameTable *table, u64 address, FrameRules *rules);

#endif
