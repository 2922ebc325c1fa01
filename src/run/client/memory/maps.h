/* maps.h: the kernel's list of this process's mappings, line by line.
 *
 *     MapsReader r;
 *     MapsLine line;
 *     if (maps_open(&r))
 *         while (maps_next(&r, &line))
 *             …
 *     maps_close(&r);
 *
 * The list is of one moment only as far as nothing is mapped meanwhile.
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

/* The strings are in the reader, until the next line is read. */
typedef struct MapsLine {
    u64 start, end, off;
    char prot[5];       /* "r-xp" */
    const char *origin; /* device and inode, "fe:00 332383" */
    const char *name;   /* "" if it has none */
    bool file;          /* has an inode */
} MapsLine;

bool maps_open(MapsReader *r);
void maps_begin(MapsReader *r, int fd); /* the list is open already, and stays the caller's */
bool maps_next(MapsReader *r, MapsLine *line);
void maps_close(MapsReader *r);

/* For lists with other lines in them. The next whole line, which ends with a zero now and is in the reader like a MapsLine's strings;
 * NULL: there is none. */
char *maps_next_text(MapsReader *r);
void maps_parse(char *text, MapsLine *line); /* which changes the text */
u64 maps_take_hex(const char **p);

#endif
