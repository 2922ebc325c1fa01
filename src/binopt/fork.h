/* fork.h: what the handles of a process share is whole in a child of it. */
#ifndef BINOPT_FORK_H
#define BINOPT_FORK_H

#include <pthread.h>

/* From now on nobody has this lock while the process forks: a thread that is not in the child could not give it back. To be called
 * without the lock; once is enough, more is no harm. */
void fork_protect(pthread_mutex_t *lock);

#endif
