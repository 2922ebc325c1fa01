/* proc.h: files of /proc that the client answers: proc.c finds and opens them, proc_memory.c has those about memory. */
#ifndef RUN_CLIENT_PROC_H
#define RUN_CLIENT_PROC_H

#include "run/client/core/client.h"
#include "run/client/memory/maps.h"

enum { PROC_OUT_BYTES = 16 << 10, PROC_LINE_BYTES = MAPS_BUFFER + 128 };

/* Files of /proc that would show the client, or processors that the guest has not. */
typedef enum ProcFile {
    PROC_OTHER,
    PROC_EXE,
    PROC_MAPS,
    PROC_SMAPS,
    PROC_NUMA,
    PROC_ROLLUP,
    PROC_STATM,
    PROC_STAT,
    PROC_LIMITS,
    PROC_STATUS,
    PROC_CPUINFO
} ProcFile;
typedef struct ProcPath {
    int dir; /* what the path begins at, if it is relative */
    const char *path;
    ProcFile file;
} ProcPath;
ProcPath proc_find(int dir, const char *path);
/* fd, which the kernel opened as one of these but exe, becomes the guest's view; returns fd, or a negative errno and fd is closed. */
i64 proc_open(const ProcPath *p, int fd, u32 flags);

/* ----------------------------------------------------------------------------------------- between proc.c and proc_memory.c */

/* What is written to the guest's copy of a file. */
typedef struct ProcOut {
    int fd;
    bool failed;
    size_t len, written;
    char text[PROC_OUT_BYTES + PROC_LINE_BYTES];
} ProcOut;

void proc_flush(ProcOut *o);
/* Up to PROC_LINE_BYTES. */
void proc_put(ProcOut *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The guest's view of a file about memory, of which `host` is the host's, and smaps the host's file of that name; false: that cannot be made. */
bool proc_put_memory(ProcOut *o, ProcFile file, int host, int smaps);
/* The host's text of `status` gets the guest's sizes. It stays as it is if they do not fit, or cannot be known. */
void proc_correct_status(char *status, size_t size, int smaps);

#endif
