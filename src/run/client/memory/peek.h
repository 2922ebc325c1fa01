/* peek.h: memory is read by the kernel, and written by it, so that an address where there is none is no fault. */
#ifndef RUN_CLIENT_PEEK_H
#define RUN_CLIENT_PEEK_H

#include "base/base.h"

size_t peek(u64 addr, void *buf, size_t size); /* how many bytes */

/* The guest's memory; how many bytes: less than all if the guest may not write there. */
size_t guest_write(u64 addr, const void *buf, size_t size);

#endif
