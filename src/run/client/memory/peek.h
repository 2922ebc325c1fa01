/* peek.h: reads and writes memory through the kernel, so that a bad address gives a short count and not a fault. */
#ifndef RUN_CLIENT_PEEK_H
#define RUN_CLIENT_PEEK_H

#include "base/base.h"

size_t peek(u64 addr, void *buf, size_t size); /* returns the number of bytes read */

/* Of guard.S: copies memory without the help of the kernel. The size is a multiple of 8. Returns false if some of the bytes cannot be read. */
__attribute__((visibility("hidden"))) bool copy_guarded(void *to, const void *from, u64 size);

/* Writes to the guest's memory. Returns the number of bytes written, which is less than `size` where the guest may not
 * write. */
size_t guest_write(u64 addr, const void *buf, size_t size);

#endif
