/* key.h: the names that the cache has for guest code: see cache/pack.h. */
#ifndef RUN_CLIENT_KEY_H
#define RUN_CLIENT_KEY_H

#include "base/base.h"
#include "cache/key.h"

/* Of a mapped file; all zero: it has none. */
Key key_of_file(int fd, const CodeConfig *config);
/* Of code that is no file's. */
Key key_of_bytes(const void *bytes, size_t size, const CodeConfig *config);

#endif
