/* arena.h: the memory of translated code: one piece of shared memory mapped twice, executable behind the modules' window, so that
 * everything reaches everything by 32-bit displacements, and writable elsewhere; writable data lies behind the executable view.
 * Code of an image is the image's own file, mapped into the executable view, and code from before a fork is in memory of both processes;
 * a piece of it that is to be changed is copied into one's own first. Memory is only given back as a whole. */
#ifndef RUN_CLIENT_ARENA_H
#define RUN_CLIENT_ARENA_H

#include "base/base.h"

bool arena_init(void);

/* Whoever adds or changes code holds the lock. */
void arena_lock(void);
void arena_unlock(void);
/* There is, or will be, another process with this memory: who adds or changes code takes memory of its own first. */
void arena_after_fork(void);

/* New memory, by its address in the executable view. The process ends if there is none left. */
u8 *arena_code(u64 bytes, u64 align);
u8 *arena_data(u64 bytes, u64 align);
/* Code whose size is known afterwards: room for `most` bytes, of which arena_keep takes some. */
u8 *arena_room(u64 most, u64 align);
void arena_keep(const u8 *end);
/* Where to write for what runs at an address; up to the next multiple of 16. */
u8 *arena_writable(const void *run);
bool arena_holds(u64 addr);
u64 arena_used(void); /* bytes of code */
bool arena_is_nearly_full(void);

/* The first `fixed` part of both is the client's, in every process; the rest can be taken to another one by a file. */
typedef struct ArenaParts {
    u8 *code, *data;
    u64 code_size, data_size;
    u64 code_off, data_off; /* in that file; multiples of the page size */
} ArenaParts;
void arena_fix(void);   /* what there is so far is that first part */
void arena_reset(void); /* to that part: nobody is in the rest any more */
ArenaParts arena_export(void);
/* code and data are the file's in memory, for where it cannot be mapped as code. */
void arena_import(int fd, const ArenaParts *parts);

/* Memory that an image keeps for other processes: see image.c. There it has room to grow in place, if that is more than its size. */
typedef struct ImagePart {
    u8 *at;
    u64 size, room;
} ImagePart;

#endif
