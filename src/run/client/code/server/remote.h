/* remote.h: requests to servers, and their answers: see remote.c. */
#ifndef RUN_CLIENT_REMOTE_H
#define RUN_CLIENT_REMOTE_H

#include "run/client/core/client.h"

/* Takes a connection that nobody uses. Returns NULL if there is none for now. The caller holds the arena's lock. */
Remote *remote_take(Thread *t);
void remote_give(Remote *r);
/* The number of processors that this process may use. */
u32 remote_processors(void);
TranslateMessage remote_request(u64 pc, const Module *m);
/* Asks the server to translate; starts one if there is none, and another one if it dies. Returns false if there is no
 * server. *object is in the connection's memory until the next call; it is NULL if the code cannot be translated
 * (facts->object_size is 0). The caller does not hold the arena's lock. */
bool remote_translate(Thread *t, Remote *r, TranslateMessage request, ObjectMessage *facts, const void **object);
/* Sends a request without waiting; remote_poll returns the answer when it has come. There is one such request at a
 * time. again: see TranslateMessage. */
bool remote_begin(Thread *t, u64 pc, const Module *m, bool again);
typedef enum RemoteAnswer {
    REMOTE_NOTHING,
    REMOTE_OBJECT,
    REMOTE_LOST,
    REMOTE_LIMIT /* the request takes too much time or memory */
} RemoteAnswer;
RemoteAnswer remote_poll(Thread *t, ObjectMessage *facts, const void **object);
void remote_wait(void); /* waits until the server has sent something, or a signal comes */
/* Stops the signals of the connection: the program that exec starts would die of one. remote_begin and remote_poll enable them again. */
void remote_silence(void);
void remote_after_fork(Thread *t); /* in the child, which will make connections of its own */
void remote_end(void);             /* gives up the request of remote_begin */
void remote_free(Remote *r);       /* frees its memory */
/* remote_no: the connections that there may be in the files of this thread; NULL for a higher index. remote_is_busy:
 * true if a thread waits for an answer at this one. The caller holds the arena's lock. */
enum { REMOTES_MAX = 4 };
Remote *remote_no(Thread *t, u32 index);
bool remote_is_busy(Thread *t, u32 index);

#endif
