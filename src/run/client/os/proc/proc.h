/* proc.h: files of /proc that the client answers: between proc.c, which finds and opens them, and proc_memory.c, which has those about
 * memory. */
#ifndef RUN_CLIENT_PROC_H
#define RUN_CLIENT_PROC_H

#include "run/client/core/client.h"
#include "run/client/memory/maps.h"

enum { PROC_OUT_BYTES = 16 << 10, PROC_LINE_BYTES = MAPS_BUFFER + 128 };

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
