/* own.h: the client's own memory, at addresses that are never the guest's.
 *
 * All of it is in areas: address space that is reserved (PROT_NONE, not committed) and that the kernel therefore gives to nobody else.
 * The first area is reserved at the start, before the guest has any memory; another one follows when it is full. Nothing of an area is
 * ever given back to the kernel, so an address in it was never the guest's and never will be.
 */
#ifndef RUN_CLIENT_OWN_H
#define RUN_CLIENT_OWN_H

#include "base/base.h"

/* Reserves the first area and tells space.c of it; false: there is not enough address space. */
bool own_init(void);

/* mmap in an area: the address, or a negative errno. MAP_FIXED is added to the flags. */
i64 own_map(u64 size, u32 prot, u32 flags, int fd, u64 off);
/* Any part of what own_map has returned. */
void own_unmap(u64 start, u64 size);

/* Zeroed memory of the client's own, in whole pages, which no guest mapping may replace; NULL: none left.
 * space_init comes before the first call. */
void *sys_pages(size_t size);
void sys_pages_free(void *pages, size_t size);

/* Around fork, so that the child's tables are whole; see space_lock, which does it. */
void own_lock(void);
void own_unlock(void);

#endif
