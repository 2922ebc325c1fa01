/* peek.h: memory is read by the kernel, so that an address where there is none is no fault. guest_write of client.h does the same for
 * writing. */
#ifndef RUN_CLIENT_PEEK_H
#define RUN_CLIENT_PEEK_H

#include "base/base.h"

size_t peek(u64 addr, void *buf, size_t size); /* how many bytes */

#endif
