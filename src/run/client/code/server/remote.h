/* remote.h: what servers are asked, and what they answer: see remote.c. */
#ifndef RUN_CLIENT_REMOTE_H
#define RUN_CLIENT_REMOTE_H

#include "run/client/core/client.h"

/* A connection that nobody uses, under the arena's lock; NULL: there is none for now. */
Remote *remote_take(Thread *t);
void remote_give(Remote *r);
TranslateMessage remote_request(u64 pc, const Module *m);
/* Ask the server to translate; starts one if there is none, and others if it dies. false: there is no server. The object is in the
 * connection's memory until the next call; NULL: it cannot be translated (facts->object_size is 0). Without the arena's lock. */
bool remote_translate(Thread *t, Remote *r, TranslateMessage request, ObjectMessage *facts, const void **object);
/* The same without waiting: the answer is there when remote_poll says so. One at a time. again: of TranslateMessage. */
bool remote_begin(Thread *t, u64 pc, const Module *m, bool again);
typedef enum RemoteAnswer {
    REMOTE_NOTHING,
    REMOTE_OBJECT,
    REMOTE_LOST,
    REMOTE_LIMIT /* it takes too much */
} RemoteAnswer;
RemoteAnswer remote_poll(ObjectMessage *facts, const void **object);
/* No signals from it any more: the program that exec starts would die of one. remote_begin has them again. */
void remote_silence(void);
void remote_after_fork(Thread *t); /* the child's own connections come later */
void remote_end(void);             /* what remote_begin has asked for is not wanted any more */
void remote_free(Remote *r);       /* its memory */
/* The connections that there may be in the files of this thread; NULL: no more. Does somebody wait for an answer at one? With the arena's lock. */
enum { REMOTES_MAX = 4 };
Remote *remote_no(Thread *t, u32 index);
bool remote_is_busy(Thread *t, u32 index);

#endif
