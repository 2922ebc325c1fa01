/* store.h: what earlier runs have left in the persistent cache: see store.c. */
#ifndef RUN_CLIENT_STORE_H
#define RUN_CLIENT_STORE_H

#include "run/client/core/client.h"

/* The cached object for the guest address pc of module m, checked against its checksum and the guest's bytes; NULL: none. */
const void *store_find(Module *m, u64 pc, u32 *object_size, u32 *insns);
/* The code configuration has changed: the modules' cached code is another; their keys differ by this (pack.h). */
void store_change(u64 difference);

/* tidy.c: files of the cache beyond its bound go, and what writers left behind that did not come to an end. A writer has a minute. */
enum { TIDY_SECONDS = 60 };
#define TIDY_SUFFIX ".new" /* behind an image's name while it is written */
void tidy_cache(void);

#endif
