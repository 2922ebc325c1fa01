/* A hot loop with what an image has to keep: a jump table, literals; with HANDLER it looks for signals, with LIBRARY another one is
 * elsewhere. Prints a number. Words: how many rounds, then whether to do the same in a child, to exec, and to fault. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LIBRARY
unsigned spin(unsigned rounds);
#else
static unsigned spin(unsigned rounds) {
    return rounds;
}
#endif

static unsigned choose(unsigned h) {
    switch (h % 7) {
    case 0:
        return h * 3;
    case 1:
        return h ^ 0x5555;
    case 2:
        return h >> 3;
    case 3:
        return h + 77;
    case 4:
        return ~h;
    case 5:
        return h * 5 - 1;
    default:
        return h;
    }
}

static unsigned work(unsigned rounds) {
    unsigned h = spin(rounds);
    double sum = 0;
    for (unsigned i = 0; i < rounds; i++) {
        h = choose((h ^ i) * 16777619u);
        sum = sum * 0.5 + h % 10;
    }
    return h + (unsigned)sum;
}

static void ignore(int sig) {
    (void)sig;
}

int main(int argc, char **argv) {
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 20000000;
#ifdef HANDLER
    signal(SIGUSR1, ignore);
#else
    (void)ignore;
#endif
    if (argc > 2) {
        fflush(stdout);
        if (!fork()) /* with the image mapped, and changed in both */
            _exit((int)(work(rounds) & 63));
        int status;
        wait(&status);
        printf("child %d\n", WEXITSTATUS(status));
    }
    printf("%u\n", work(rounds));
    if (argc > 4)
        *(volatile int *)8 = 1;
    if (argc > 3) {
        fflush(stdout);
        execl("/bin/echo", "echo", "exec", (char *)NULL);
    }
    return 0;
}
