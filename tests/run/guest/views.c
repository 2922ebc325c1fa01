/* views.c: code that is written where it is not executed: two views of one file, which come and go, and change. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { SIZE = 3 * 4096, ROUNDS = 300 };

typedef int Function(void);

/* mov $value, %eax; ret */
static void write_function(unsigned char *at, int value) {
    at[0] = 0xb8;
    memcpy(at + 1, &value, 4);
    at[5] = 0xc3;
}

static int call(const unsigned char *at) {
    return ((Function *)at)();
}

static void *map(int fd, int prot, int pages) {
    return mmap(NULL, (size_t)pages * 4096, prot, MAP_SHARED, fd, 0);
}

static void two_views(int fd) {
    unsigned char *w = map(fd, PROT_READ | PROT_WRITE, 3), *x = map(fd, PROT_READ | PROT_EXEC, 3);
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int off = i % 3 * 4096 + i % 7 * 64;
        write_function(w + off, i);
        sum += call(x + off) * 3 + call(x + off);
    }
    printf("two views: %ld\n", sum);
    munmap(w, SIZE);
    munmap(x, SIZE);
}

/* The view to write by is there only for the time of it. */
static void passing_views(int fd) {
    unsigned char *x = map(fd, PROT_READ | PROT_EXEC, 3);
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned char *w = map(fd, PROT_READ | PROT_WRITE, 1 + i % 3);
        write_function(w + i % 5 * 32, i);
        sum += call(x + i % 5 * 32);
        write_function(w + i % 5 * 32, i + 1);
        munmap(w, (size_t)(1 + i % 3) * 4096);
        sum += call(x + i % 5 * 32);
    }
    printf("passing views: %ld\n", sum);
    munmap(x, SIZE);
}

static void changing_views(int fd) {
    unsigned char *w = map(fd, PROT_READ, 3), *x = map(fd, PROT_READ, 3), *y = map(fd, PROT_READ | PROT_EXEC, 3);
    long sum = 0;
    mprotect(x, SIZE, PROT_READ | PROT_EXEC);
    for (int i = 0; i < ROUNDS; i++) {
        mprotect(w, SIZE, PROT_READ | PROT_WRITE);
        write_function(w + 4096, i);
        sum += call(x + 4096) + call(y + 4096) * 2;
        mprotect(w, SIZE, PROT_READ | PROT_WRITE);
        write_function(w + 4096, i + 5);
        sum += call(x + 4096) + call(y + 4096) * 2;
        mprotect(w, SIZE, PROT_READ);
    }
    unsigned char *moved = mremap(w, SIZE, 2 * SIZE, MREMAP_MAYMOVE);
    mprotect(moved, SIZE, PROT_READ | PROT_WRITE);
    write_function(moved + 4096, 1000);
    sum += call(x + 4096);
    unsigned char *twice = mremap(moved, 0, SIZE, MREMAP_MAYMOVE);
    write_function(twice + 4096, 2000);
    sum += call(y + 4096);
    write_function(moved + 4096, 3000);
    sum += call(x + 4096);
    printf("changing views: %ld\n", sum);
}

/* By the kernel: a read that ends in a view. */
static void read_into(int fd) {
    unsigned char *w = map(fd, PROT_READ | PROT_WRITE, 3), *x = map(fd, PROT_READ | PROT_EXEC, 3), text[16];
    int ends[2];
    long sum = 0;
    pipe(ends);
    for (int i = 0; i < ROUNDS; i++) {
        write_function(text, i * 7);
        write(ends[1], text, 6);
        read(ends[0], w + 128, 6);
        sum += call(x + 128);
    }
    printf("read into: %ld\n", sum);
}

static void segments(void) {
    int id = shmget(IPC_PRIVATE, SIZE, 0700);
    unsigned char *w = shmat(id, NULL, 0), *x = shmat(id, NULL, SHM_EXEC);
    shmctl(id, IPC_RMID, NULL);
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        write_function(w + 64, i);
        sum += call(x + 64);
    }
    printf("segments: %ld\n", sum);
}

static unsigned char *shared_w, *shared_x;
static atomic_int written, done;

static void *follow(void *arg) {
    long sum = 0;
    (void)arg;
    for (int i = 1; i <= ROUNDS; i++) {
        while (written < i)
            sched_yield();
        sum += call(shared_x);
        done++;
    }
    return (void *)sum;
}

static void with_threads(int fd) {
    pthread_t id[2];
    shared_w = map(fd, PROT_READ | PROT_WRITE, 1), shared_x = map(fd, PROT_READ | PROT_EXEC, 1);
    for (int i = 0; i < 2; i++)
        pthread_create(&id[i], NULL, follow, NULL);
    for (int i = 1; i <= ROUNDS; i++) {
        write_function(shared_w, i);
        written = i;
        while (done < 2 * i)
            sched_yield();
    }
    for (int i = 0; i < 2; i++) {
        void *sum;
        pthread_join(id[i], &sum);
        printf("thread: %ld\n", (long)sum);
    }
}

int main(void) {
    int fd = memfd_create("code", 0);
    ftruncate(fd, 2 * SIZE);
    two_views(fd);
    passing_views(fd);
    changing_views(fd);
    read_into(fd);
    segments();
    with_threads(fd);
    return 0;
}
