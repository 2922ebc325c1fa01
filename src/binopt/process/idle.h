/* idle.h: keeps things that are expensive to make and not in use, for the next one who needs one. All functions are
 * thread-safe. */
#ifndef BINOPT_IDLE_H
#define BINOPT_IDLE_H

#include <pthread.h>

#include "base/base.h"

enum { IDLE_MOST = 4 };

/* A static variable, with .lock = PTHREAD_MUTEX_INITIALIZER. */
typedef struct Idle {
    pthread_mutex_t lock;
    void *thing[IDLE_MOST];
    u32 count;
} Idle;

/* Returns NULL if there is none. */
void *idle_take(Idle *idle);
/* Returns false if `most` things are kept already. */
bool idle_give(Idle *idle, void *thing, u32 most);

#endif
