/* interrupts.c: handlers that run in the middle of loops without calls; what they change there, and what they must not. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t count;
static volatile double clobbered;

static void tick(int sig) {
    (void)sig;
    clobbered = (double)count * 1.5 + 2.25; /* uses the registers that the loop has its sums in */
    count++;
}

int main(void) {
    struct sigaction action = {.sa_handler = tick};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {.it_value = {.tv_usec = 2000}, .it_interval = {.tv_usec = 2000}}, never = {0};
    setitimer(ITIMER_REAL, &often, NULL);
    unsigned long turns = 0, check = 0;
    double sum = 0;
    while (count < 25) {
        turns++;
        check += turns & 3;
        sum += 0.5;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    unsigned long expected = turns / 4 * 6 + (turns % 4) * (turns % 4 + 1) / 2;
    printf("counted %d, sums are right: %d %d\n", count >= 25, check == expected, sum == (double)turns * 0.5);
    return 0;
}
