/* returned.c: two threads return to the same places again and again, while the page that these are in is written to all the time: whatever is made of its code
 * is made anew, by whoever returns first, and the other one must not find it before it is whole. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

enum { WRITES = 5000, CALLS = 32 };

static long add_one(long x) {
    return x + 1;
}

static long (*volatile step)(long) = add_one;

#define TWICE(x) x x
#define CALL n = step(n);
/* CALLS calls, one behind the other. */
__attribute__((noinline, section(".text.page"), aligned(4096))) static long call_all(long n) {
    TWICE(TWICE(TWICE(TWICE(TWICE(CALL)))))
    return n;
}

/* On the same page, behind the function. */
__attribute__((section(".text.page"), used)) static void last(void) {
    __asm__ volatile(".fill 64, 1, 0x90");
}

static int done;

static void *call_often(void *wrong) {
    for (long i = 0; !__atomic_load_n(&done, __ATOMIC_RELAXED); i++)
        *(long *)wrong += call_all(i) != i + CALLS;
    return NULL;
}

int main(void) {
    pthread_t other;
    long wrong = 0, others_wrong = 0;
    volatile unsigned char *spot = (volatile unsigned char *)last;
    uintptr_t page = (uintptr_t)call_all & ~(uintptr_t)4095;
    if (mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
        return 1;
    pthread_create(&other, NULL, call_often, &others_wrong);
    for (long i = 0; i < WRITES; i++) {
        *spot = *spot;
        wrong += call_all(i) != i + CALLS;
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    pthread_join(other, NULL);
    printf("%ld wrong\n", wrong + others_wrong);
    return 0;
}
