/* own.h: the client's own memory, at addresses that are never the guest's.
 *
 * All of it lies in areas: reserved address space (PROT_NONE, not committed), which the kernel therefore gives to nobody else. The first
 * area is reserved at the start, before the guest has any memory; another one is reserved when it is full. No part of an area is ever
 * returned to the kernel, so an address in it never belonged to the guest and never will.
 */
#ifndef RUN_CLIENT_OWN_H
#define RUN_CLIENT_OWN_H

#include "base/base.h"

/* Reserves the first area and tells space_own of it. Returns false if there is not enough address space. */
bool own_init(void);

/* mmap in an area, with MAP_FIXED added to the flags. Returns the address or a negative errno. */
i64 own_map(u64 size, u32 prot, u32 flags, int fd, u64 off);
/* Frees any part of a mapping that own_map has returned. */
void own_unmap(u64 start, u64 size);

/* Zeroed memory of the client in whole pages, which no guest mapping can replace, or NULL if there is none left.
 * space_init must be called before. */
void *sys_pages(size_t size);
void sys_pages_free(void *pages, size_t size);

/* Held around fork, so that the child's tables are complete; space_lock does this. */
void own_lock(void);
void own_unlock(void);

#endif
