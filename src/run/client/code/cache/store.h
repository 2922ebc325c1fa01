/* store.h: translations of earlier runs in the persistent cache: see store.c. */
#ifndef RUN_CLIENT_STORE_H
#define RUN_CLIENT_STORE_H

#include "run/client/core/client.h"

/* The cached object for the guest address pc of module m, or NULL. Its checksum and the guest's code bytes were
 * compared. */
typedef struct Stored {
    u32 object_size, insns;
    LatheRange span; /* contains all guest bytes that the object was made from */
} Stored;
const void *store_find(Module *m, u64 pc, Stored *facts);
/* The code configuration has changed, so other cached code belongs to the modules. difference: how their keys change
 * (pack.h). */
void store_change(u64 difference);

/* tidy.c: removes the oldest files if the cache is larger than its bound, and files that a writer has not finished
 * within TIDY_SECONDS. */
enum { TIDY_SECONDS = 60 };
#define TIDY_SUFFIX ".new" /* the end of an image's name while it is written */
void tidy_cache(void);
/* Makes the cache's directory, and those around it, if there are none. */
void tidy_make_folder(void);

#endif
