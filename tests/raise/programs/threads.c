/* threads.c: threads that wait for each other by locks, conditions, barriers, atomics and plain variables. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 500 };

static struct {
    pthread_mutex_t lock;
    long guard; /* what comes behind a lock must not change when it is made */
    long count;
} shared = {.guard = 77};
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int turn;
static long sum;
static volatile int ready;
static int message[16];
static pthread_key_t key;

static void count_ends(void *value) {
    __atomic_fetch_add(&sum, (long)value, __ATOMIC_SEQ_CST);
}

static void *work(void *arg) {
    long number = (long)arg, local[8] = {0};
    pthread_setspecific(key, (void *)(number + 1));
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&shared.lock);
        pthread_mutex_lock(&shared.lock); /* it is a recursive one */
        shared.count++;
        pthread_mutex_unlock(&shared.lock);
        pthread_mutex_unlock(&shared.lock);
        local[i % 8] += i;
    }
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&turn_lock);
    while (turn != number)
        pthread_cond_wait(&changed, &turn_lock);
    printf("thread %ld %ld\n", number, local[0] + local[7]);
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&turn_lock);
    sem_post(&semaphore);
    if (number == 2)
        pthread_exit((void *)22);
    return (void *)(number * number);
}

static void *send(void *unused) {
    for (int i = 0; i < 16; i++)
        message[i] = i * i;
    ready = 1;
    return unused;
}

int main(void) {
    pthread_t threads[THREADS], sender;
    pthread_mutexattr_t recursive;
    pthread_attr_t attributes;
    long total = 0;
    void *result;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&shared.lock, &recursive);
    pthread_barrier_init(&barrier, NULL, THREADS);
    sem_init(&semaphore, 0, 0);
    pthread_key_create(&key, count_ends);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], &attributes, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        sem_wait(&semaphore);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        total += (long)result;
    }
    printf("%ld %ld %ld %ld\n", shared.count, shared.guard, total, sum);
    pthread_create(&sender, NULL, send, NULL);
    while (!ready)
        ;
    for (int i = 0; i < 16; i++)
        total += message[i];
    pthread_join(sender, NULL);
    printf("%ld\n", total);
    return 0;
}
