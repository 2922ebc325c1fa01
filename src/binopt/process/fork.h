/* fork.h: keeps data that all handles share consistent in a child process, and code that a child may call unchanged:
 * parent and child share the memory of code. */
#ifndef BINOPT_FORK_H
#define BINOPT_FORK_H

#include <pthread.h>

#include "base/base.h"

/* From now on no other thread holds this lock while the process forks, because that thread would not exist in the child
 * and could not release it. Must be called without the lock; calling it again does no harm. */
void fork_protect(pthread_mutex_t *lock);

/* From now on `before` is called when the process is about to fork, before any lock is taken, and `after` in both
 * processes, when all locks are released. There is only one such pair. */
void fork_call(void (*before)(void), void (*after)(bool in_child));

/* How often the process has forked since this was first called. If the number has changed since code was made, a child
 * may use the code, and its memory must not be used for other code. */
u64 fork_count(void);

#endif
