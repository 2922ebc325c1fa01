/* proc.h: files of /proc that the client answers: proc.c finds and opens them, proc_memory.c has those about memory. */
#ifndef RUN_CLIENT_PROC_H
#define RUN_CLIENT_PROC_H

#include "run/client/core/client.h"
#include "run/client/memory/maps.h"

enum { PROC_OUT_BYTES = 16 << 10, PROC_LINE_BYTES = MAPS_BUFFER + 128 };

/* Files of /proc that would show the client, or processors other than the guest's. */
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
    int dir; /* the directory that a relative path begins at */
    const char *path;
    ProcFile file;
} ProcPath;
ProcPath proc_find(int dir, const char *path);
/* The kernel has opened this file (any but PROC_EXE) as `fd`; replaces it by the guest's view. Returns fd, or a
 * negative errno after closing fd. */
i64 proc_open(const ProcPath *p, int fd, u32 flags);

/* ----------------------------------------------------------------------------------------- between proc.c and proc_memory.c */

/* The guest's copy of a file while it is written. */
typedef struct ProcOut {
    int fd;
    bool failed;
    size_t len, written;
    char text[PROC_OUT_BYTES + PROC_LINE_BYTES];
} ProcOut;

void proc_flush(ProcOut *o);
/* Writes at most PROC_LINE_BYTES. */
void proc_put(ProcOut *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the guest's view of a file about memory. host: the host's file, open; smaps: the host's smaps of the same
 * process. Returns false if the view cannot be made. */
bool proc_put_memory(ProcOut *o, ProcFile file, int host, int smaps);
/* Puts the guest's sizes into the host's text of `status`. The text stays as it is if they do not fit or are not known. */
void proc_correct_status(char *status, size_t size, int smaps);

#endif
