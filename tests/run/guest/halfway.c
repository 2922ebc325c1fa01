/* halfway.c: a program with threads that needs about 95 million bytes of data. Under a limit of twice as much (RLIMIT_DATA, which nobody may raise), half of
 * which is Lathe's, it has them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, STACK_BYTES = 8 << 20, BLOCK_BYTES = 1 << 20, BLOCKS = 58 };

static pthread_barrier_t all_there;

static void *stay(void *arg) {
    char room[1 << 16];
    memset(room, 1, sizeof(room));
    pthread_barrier_wait(&all_there);
    return room[(size_t)arg] ? arg : NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    int refused = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_barrier_init(&all_there, NULL, THREADS + 1);
    for (size_t i = 0; i < THREADS; i++) {
        int error = pthread_create(&threads[i], &attributes, stay, (void *)(i + 1));
        if (error) {
            printf("thread %zu: %s\n", i, strerror(error));
            return 1;
        }
    }
    for (int i = 0; i < BLOCKS; i++) {
        char *block = malloc(BLOCK_BYTES);
        refused += !block;
        if (block)
            memset(block, i, BLOCK_BYTES);
    }
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d threads, %d of %d blocks refused\n", THREADS, refused, BLOCKS);
    return 0;
}
