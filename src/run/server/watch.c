/* watch.c: ends the server when its client is gone, even in the middle of a translation.
 *
 * A translation can take seconds, and nobody waits for it any more. An object that was sent already is still stored for the next run: that
 * is not interrupted. */
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "run/server/server.h"

struct Watch {
    int fd;
    pthread_mutex_t working; /* held while something must be finished */
};

static void *wait_for_end(void *user) {
    Watch *w = user;
    struct pollfd p = {.fd = w->fd, .events = POLLRDHUP};
    while (poll(&p, 1, -1) < 0 || !(p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)))
        ;
    pthread_mutex_lock(&w->working);
    _exit(0);
}

Watch *watch_new(int fd) {
    Watch *w = mem_new(sizeof(Watch));
    pthread_t thread;
    w->fd = fd;
    pthread_mutex_init(&w->working, NULL);
    /* Without this thread, the server ends when it cannot send its next answer. */
    if (!pthread_create(&thread, NULL, wait_for_end, w))
        pthread_detach(thread);
    return w;
}

void watch_hold(Watch *w) {
    if (w)
        pthread_mutex_lock(&w->working);
}

void watch_release(Watch *w) {
    if (w)
        pthread_mutex_unlock(&w->working);
}
