// leaving.cc: leaving WHAT: a guest that leaves functions in ways other than returning: exceptions, longjmp out of a handler of a signal, and handlers themselves; in several
// threads at once (threads), and in a copy of the program (fork).
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION extern "C" __attribute__((noipa))

static __thread sigjmp_buf back;
static __thread volatile int jumps;

FUNCTION void step(void) {
    __asm__ volatile("");
}

FUNCTION void handled(void) {
    step();
}

FUNCTION void handler(int) {
    handled();
    if (jumps)
        siglongjmp(back, 1);
}

FUNCTION void interrupted(void) {
    pthread_kill(pthread_self(), SIGUSR1);
    step();
}

FUNCTION void jumped_out(void) {
    jumps = 1;
    if (!sigsetjmp(back, 1))
        interrupted();
    jumps = 0;
    step();
}

FUNCTION void thrown(int depth) {
    if (!depth)
        throw 7;
    thrown(depth - 1);
    __asm__ volatile("");
}

FUNCTION void caught(void) {
    try {
        thrown(5);
    } catch (int) {
        step();
    }
}

FUNCTION void *work(void *) {
    for (int i = 0; i < 100; i++) {
        caught();
        interrupted();
        jumped_out();
        for (int k = 0; k < 100; k++)
            step();
    }
    return nullptr;
}

FUNCTION void in_child(void) {
    for (int i = 0; i < 10; i++)
        step();
}

FUNCTION int in_copy(void) {
    pid_t child = fork();
    if (!child) {
        in_child();
        _exit(0);
    }
    return waitpid(child, nullptr, 0) == child ? 0 : 1;
}

FUNCTION int in_threads(int count) {
    pthread_t threads[16];
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], nullptr, work, nullptr);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], nullptr);
    return 0;
}

int main(int argc, char **argv) {
    struct sigaction action = {};
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, nullptr);
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "fork"))
        return in_copy();
    return in_threads(4);
}
