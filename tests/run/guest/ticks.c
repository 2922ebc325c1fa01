/* ticks.c: handlers that interrupt loops which run long enough to be optimised meanwhile. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile int ticks;

static void on_tick(int sig) {
    (void)sig;
    ticks++;
}

static void start_ticks(void) {
    struct sigaction action;
    struct itimerval every = {{0, 20000}, {0, 20000}};
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_tick;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

static unsigned long mix(unsigned long rounds) {
    unsigned long x = 1;
    for (unsigned long i = 0; i < rounds; i++)
        x = x * 6364136223846793005ul + i;
    return x;
}

int main(void) {
    printf("%lx\n", mix(300000000)); /* optimised before there is a handler */
    start_ticks();
    unsigned long x = 1;
    while (ticks < 25)
        x = x * 6364136223846793005ul + 1;
    printf("%d %d\n", ticks >= 25, x != 0);
    printf("%lx\n", mix(400000000));
    while (ticks < 40) /* again, with optimised code that knows of the handler */
        x = x * 6364136223846793005ul + 3;
    printf("%d %d\n", ticks >= 40, x != 0);
    return 0;
}
