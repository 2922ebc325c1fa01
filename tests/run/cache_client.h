/* cache_client.h: the client's reader of packs, for the test of the cache: it cannot include both the client's headers
 * and libc's.
 */
#ifndef TESTS_RUN_CACHE_CLIENT_H
#define TESTS_RUN_CACHE_CLIENT_H

#include "run/protocol/protocol.h"

/* A guest module at `image`, whose code is in the pack. There is one at a time. */
void client_open(const char *cache_dir, Key pack, u8 *image, size_t size);
void client_close(void);

/* The object for the function at an offset; NULL: none. */
const void *client_find(u64 off, u32 *size, u32 *insns);

/* The name of the pack for a file. */
Key client_key(int fd, const CodeConfig *config);

#endif
