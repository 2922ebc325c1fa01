/* tls.c: a library whose thread-local variables are found through descriptors (-mtls-dialect=gnu2): a call that keeps all
 * registers but rax, which the compiler relies on. */
#include "tls.h"

__thread long tls_counter = 3;
static __thread long last;

long tls_count(long a, long b, long c, long d, long by) {
    last = a * by + b;
    tls_counter += last - c * d;
    return a + 2 * b + 3 * c + 4 * d + tls_counter * by + last;
}

static __attribute__((noinline)) long previous(long a) {
    long was = last;
    last = a;
    return was;
}

long tls_calls(long a, long b, long by) {
    long was = previous(a * by);
    return was * by + b;
}
