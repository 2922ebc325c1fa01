/* fork.h: what the handles of a process share is whole in a child of it, and code that a child may call stays as it is: the memory of
 * code is shared between both. */
#ifndef BINOPT_FORK_H
#define BINOPT_FORK_H

#include <pthread.h>

#include "base/base.h"

/* From now on nobody has this lock while the process forks: a thread that is not in the child could not give it back. To be called
 * without the lock; once is enough, more is no harm. */
void fork_protect(pthread_mutex_t *lock);

/* From now on `before` is called when the process is about to fork, before any lock is taken, and `after` in both processes, when all
 * are given back. There is one such pair. */
void fork_call(void (*before)(void), void (*after)(bool in_child));

/* How often the process has forked since somebody first asked. If that has changed since code was made, a child may have it: its
 * memory is not to be used for other code. */
u64 fork_count(void);

#endif
