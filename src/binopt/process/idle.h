/* idle.h: things that are dear to make and not in use, for whoever needs one next. May be called by several threads at once. */
#ifndef BINOPT_IDLE_H
#define BINOPT_IDLE_H

#include <pthread.h>

#include "base/base.h"

enum { IDLE_MOST = 4 };

/* Static, with .lock = PTHREAD_MUTEX_INITIALIZER. */
typedef struct Idle {
    pthread_mutex_t lock;
    void *thing[IDLE_MOST];
    u32 count;
} Idle;

/* NULL: there is none. */
void *idle_take(Idle *idle);
/* False: there are as many as are to be kept. */
bool idle_give(Idle *idle, void *thing, u32 most);

#endif
