/* arena.h: the memory of translated code. One piece of memory is mapped twice: executable behind the modules' window, so that code and guest data
 * reach each other by 32-bit displacements, and writable elsewhere. Data that code writes lies behind the executable view.
 *
 * The executable view may also show other memory: the file of an image, or code from before a fork, which two processes have in common. A piece of
 * that is copied to this process's own memory before it is changed. Memory is only given back as a whole (arena_reset). */
#ifndef RUN_CLIENT_ARENA_H
#define RUN_CLIENT_ARENA_H

#include "base/base.h"

bool arena_init(void);
/* Lets the kernel tell perf of the executable view: it does so of mappings that become executable, and not of those that mremap makes. No code runs there yet. */
void arena_announce(void);

/* The lock of translated code: held by whoever adds or changes code or its tables. */
void arena_lock(void);
void arena_unlock(void);
/* Another process has this memory as well, or soon will. From now on, whoever adds or changes code here takes memory of this process's own first. */
void arena_after_fork(void);

/* New memory, by its address in the executable view. The process ends if there is none left. */
u8 *arena_code(u64 bytes, u64 align);
u8 *arena_data(u64 bytes, u64 align);
/* Code whose size is known afterwards: room for `most` bytes, of which arena_keep takes some. */
u8 *arena_room(u64 most, u64 align);
void arena_keep(const u8 *end);
/* The address in the writable view for an address in the executable one. It may be written up to the next multiple of 16, where other memory may begin. */
u8 *arena_writable(const void *run);
/* To be called when code that runs there has been written. */
void arena_written(const void *run, u64 bytes);
bool arena_holds(u64 addr);
u64 arena_used(void); /* bytes of code */
bool arena_is_nearly_full(void);

/* Code and data behind the part that arena_fix marks, for an image; the part before is the client's own in every process. */
typedef struct ArenaParts {
    u8 *code, *data;
    u64 code_size, data_size;
    u64 code_off, data_off; /* in that file; multiples of the page size */
} ArenaParts;
void arena_fix(void);   /* what exists by now is the client's own */
void arena_reset(void); /* gives everything else back; no thread may be in it */
ArenaParts arena_export(void);
/* Takes code and data over from a file. parts->code and parts->data are the file's bytes in memory, which are copied if the file cannot be mapped as code. */
void arena_import(int fd, const ArenaParts *parts);

/* A part of an image: see image.c. room: the bytes that the part gets in the file, so that it can grow in place; if less than its size, just the size. */
typedef struct ImagePart {
    u8 *at;
    u64 size, room;
} ImagePart;

#endif
