/* key.h: the keys under which the cache has translated code of a file, or of other bytes: see cache/pack.h. */
#ifndef RUN_CLIENT_KEY_H
#define RUN_CLIENT_KEY_H

#include "base/base.h"
#include "cache/pack.h"
#include "run/client/core/sys.h"

/* What identifies a file: device, inode, size and times. */
PackIdentity key_identity(const struct stat *st);
/* The key of a mapped file, or all zero if it has none. */
Key key_of_file(int fd, const CodeConfig *config);
/* The key of code that is not in a file. */
Key key_of_bytes(const void *bytes, size_t size, const CodeConfig *config);

#endif
