/* contained.h: what is behind the client's program in a file that `lathe raise --contained` has written: a program with its libraries, and code
 * that was compiled for them ahead of time. cli/contain.c writes it, memory/contained.c of the client reads it.
 *
 *     the client's program   its ELF header says, in the bytes that ELF leaves free, at which page the head is
 *     ContainedHead
 *     ContainedFile…         the first one is the program
 *     ContainedPack…
 *     texts                  the options of the client, and paths and names, each ended by a zero
 *     contents               of files, packs and the image, each at a page
 *
 * All offsets are from the head. */
#ifndef RUN_CONTAINED_H
#define RUN_CONTAINED_H

#include "cache/pack.h"

enum {
    CONTAINED_PAGE = 4096,
    CONTAINED_IDENT = 9,       /* the first of the free bytes of e_ident */
    CONTAINED_IDENT_BYTES = 7, /* which hold the number of the head's page, the lowest byte first; 0: there is none */
    CONTAINED_VERSION = 2,
};

#define CONTAINED_MAGIC 0x656e6961746e6f63u

/* Started with this as argv[0], the file is the client of lathe run for any program: it is followed by OPTIONS PATH ARGV0 ARGS…. So do programs that
 * run from such a file start others. */
#define CONTAINED_AS_CLIENT "lathe-client, contained"

typedef struct ContainedHead {
    u64 magic;
    u32 version, file_count, pack_count, reserved;
    u64 files, packs, options; /* offsets */
    u64 size;                  /* of all from the head on */
    u64 cpu;                   /* cpu_kind() of the processor that packs and image are for */
    u64 image, image_size; /* offset and size of an image of translated code (PackImage); a size of 0: there is none */
    u64 window;            /* the address that it needs: PackImage.window */
} ContainedHead;

typedef struct ContainedFile {
    u64 off, size;
    u64 path;              /* absolute, as the guest would name it */
    u64 name;              /* by which the dynamic linker looks for it in any directory; 0: only by its path */
    PackIdentity identity; /* of the file that this is a copy of: packs are named by it */
    u32 mode, reserved;
} ContainedFile;

typedef struct ContainedPack {
    Key key;
    u64 off, size;
} ContainedPack;

#endif
