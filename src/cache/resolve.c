/* resolve.c: see resolve.h. getaddrinfo has no time limit, so a thread calls it, and is abandoned if it takes too long. */
#include "cache/resolve.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

/* Shared by the caller and the thread; the last of them to need it frees it. */
typedef struct HostQuestion {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    char host[256], port[8];
    struct addrinfo *found;
    int error;
    bool done, abandoned;
} HostQuestion;

static const struct addrinfo wish = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};

static void free_question(HostQuestion *q) {
    pthread_cond_destroy(&q->answered);
    pthread_mutex_destroy(&q->lock);
    mem_free(q);
}

static void *answer(void *user) {
    HostQuestion *q = user;
    struct addrinfo *found = NULL;
    int error = getaddrinfo(q->host, q->port, &wish, &found);
    pthread_mutex_lock(&q->lock);
    bool abandoned = q->abandoned;
    q->found = found;
    q->error = error;
    q->done = true;
    pthread_cond_signal(&q->answered);
    pthread_mutex_unlock(&q->lock);
    if (abandoned) {
        if (!error)
            freeaddrinfo(found);
        free_question(q);
    }
    return NULL;
}

static struct timespec later(u32 ms) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    u64 ns = (u64)t.tv_nsec + (u64)ms * 1000000;
    return (struct timespec){t.tv_sec + (time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

static HostQuestion *new_question(const char *host, const char *port) {
    HostQuestion *q = mem_new(sizeof(HostQuestion));
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    snprintf(q->host, sizeof(q->host), "%s", host);
    snprintf(q->port, sizeof(q->port), "%s", port);
    return q;
}

/* Returns false if the time limit is reached. */
static bool wait_for(HostQuestion *q, u32 limit_ms) {
    struct timespec end = later(limit_ms);
    pthread_mutex_lock(&q->lock);
    for (int late = 0; !q->done && !late;)
        late = pthread_cond_timedwait(&q->answered, &q->lock, &end);
    bool done = q->done;
    q->abandoned = !done;
    pthread_mutex_unlock(&q->lock);
    return done;
}

struct addrinfo *resolve_host(const char *host, u32 port, u32 limit_ms, const char **why) {
    char digits[8];
    struct addrinfo numeric = wish, *found = NULL;
    snprintf(digits, sizeof(digits), "%u", port);
    numeric.ai_flags |= AI_NUMERICHOST;
    if (getaddrinfo(host, digits, &numeric, &found) == 0)
        return found;
    HostQuestion *q = new_question(host, digits);
    pthread_t thread;
    *why = "its name cannot be looked up";
    if (pthread_create(&thread, NULL, answer, q)) {
        free_question(q);
        return NULL;
    }
    pthread_detach(thread);
    if (!wait_for(q, limit_ms))
        return NULL;
    if (q->error)
        *why = gai_strerror(q->error);
    found = q->error ? NULL : q->found;
    free_question(q);
    return found;
}
