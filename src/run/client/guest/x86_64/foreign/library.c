/* library.c: what the functions of isa/x86_64/plain take from a C library, which the client does not have: the clock, random numbers, signals. */
#include "run/client/core/sys.h"

int clock_gettime(int clock, struct timespec *now);
long getrandom(void *to, size_t size, unsigned flags);
int raise(int sig);

int clock_gettime(int clock, struct timespec *now) {
    return (int)sys_clock_gettime(clock, now);
}

long getrandom(void *to, size_t size, unsigned flags) {
    return sys_getrandom(to, size, flags);
}

int raise(int sig) {
    return (int)sys3(__NR_tgkill, (u64)sys_getpid(), (u64)sys_gettid(), (u64)sig);
}
