/* softly.c: signals while instructions are done by C functions: a rounding mode that the host does not have. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;

static void count(int sig) {
    (void)sig;
    ticks++;
}

int main(void) {
    struct sigaction a = {.sa_handler = count};
    struct itimerval every = {{0, 1000}, {0, 1000}};
    double d = 0.1, r = 0;
    sigaction(SIGALRM, &a, 0);
    setitimer(ITIMER_REAL, &every, 0);
    while (ticks < 100) {
        __asm__ volatile("fadd.d %0, %1, %1, rmm\n\tfmul.d %0, %0, %1, rmm" : "=f"(r) : "f"(d));
        d = r > 100 ? 0.1 : r + 0.3;
    }
    puts(d > 0 ? "interrupted" : "wrong");
    return 0;
}
