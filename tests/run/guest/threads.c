/* threads.c: threads that count together, wait for each other, have their own variables, and end in every way. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 200000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static atomic_long atomic_count;
static long plain_count;
static int turn;
static __thread long own;
static sem_t ready;

static void *count(void *arg) {
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < ROUNDS; i++) {
        atomic_count++;
        own += (long)arg;
        if (i % 16 == 0) {
            pthread_mutex_lock(&lock);
            plain_count++;
            pthread_mutex_unlock(&lock);
        }
    }
    return (void *)own;
}

static void *take_turns(void *arg) {
    int me = (int)(long)arg;
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&lock);
        while (turn != me)
            pthread_cond_wait(&turned, &lock);
        turn = 1 - me;
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *use_memory(void *arg) {
    char *text = NULL;
    for (int i = 0; i < 2000; i++) {
        text = realloc(text, 16 + (size_t)(i * 37 % 5000));
        snprintf(text, 16, "%d", i);
    }
    long n = atoi(text) + (long)arg;
    free(text);
    sem_post(&ready);
    pthread_exit((void *)n);
}

static void run(void *(*body)(void *), int n, long step, int print) {
    pthread_t id[THREADS];
    for (int i = 0; i < n; i++)
        pthread_create(&id[i], NULL, body, (void *)(i * step));
    for (int i = 0; i < n; i++) {
        void *result;
        pthread_join(id[i], &result);
        if (print)
            printf("%ld ", (long)result);
    }
    printf("\n");
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, THREADS);
    sem_init(&ready, 0, 0);
    run(count, THREADS, 3, 1);
    printf("%ld %ld %ld\n", (long)atomic_count, plain_count, own);
    run(take_turns, 2, 1, 0);
    run(use_memory, THREADS, 100, 1);
    for (int i = 0; i < THREADS; i++)
        sem_wait(&ready);
    for (int i = 0; i < 200; i++) { /* many, one after the other */
        pthread_t id;
        pthread_create(&id, NULL, use_memory, NULL);
        pthread_join(id, NULL);
    }
    puts("done");
    return 0;
}
