/* maps.h: the kernel's list of this process's mappings, line by line.
 *
 *     MapsReader r;
 *     MapsLine line;
 *     if (maps_open(&r))
 *         while (maps_next(&r, &line))
 *             …
 *     maps_close(&r);
 *
 * The list is consistent only if nothing is mapped or unmapped while it is read.
 */
#ifndef RUN_CLIENT_MAPS_H
#define RUN_CLIENT_MAPS_H

#include "base/base.h"

enum { MAPS_BUFFER = 32 << 10 }; /* a path in a line has up to four characters for each of its 4096 bytes */

typedef struct MapsReader {
    int fd;
    u32 at, len;
    char text[MAPS_BUFFER + 1];
} MapsReader;

/* The strings are in the reader, and are valid until the next line is read. */
typedef struct MapsLine {
    u64 start, end, off;
    char prot[5];       /* "r-xp" */
    const char *origin; /* device and inode, "fe:00 332383" */
    const char *name;   /* "" if it has none */
    bool file;          /* true if it has an inode */
} MapsLine;

bool maps_open(MapsReader *r);
void maps_begin(MapsReader *r, int fd); /* for a list that is open already; the caller closes it */
bool maps_next(MapsReader *r, MapsLine *line);
void maps_close(MapsReader *r);

/* For lists that contain other lines, too: returns the next whole line, ended with a zero, or NULL if there is none. It
 * is valid until the next line is read. */
char *maps_next_text(MapsReader *r);
void maps_parse(char *text, MapsLine *line); /* changes the text */
u64 maps_take_hex(const char **p);

#endif
