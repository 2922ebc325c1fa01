/* events.c: one line for each event of the program that is no instruction, and system calls that are changed: geteuid's result, and what is written to
 * standard output is one byte less. */
#include <lathe/tool.h>

static bool is(uint64_t number, const char *name) {
    const char *own = lathe_syscall_name(number);
    while (own && *own && *own == *name)
        own++, name++;
    return own && *own == *name;
}

static void begin(uint64_t number, uint64_t fd, uint64_t size) {
    if (is(number, "write") && fd == 1 && size > 1)
        lathe_set_argument(2, size - 1);
}

static void done(uint64_t number) {
    if (is(number, "geteuid"))
        lathe_set_result(4321);
}

static void say(const char *what, uint64_t number) {
    lathe_print(number ? "%s %lu\n" : "%s\n", what, number);
}

static void started(void) {
    say("start", 0);
}
static void ended(void) {
    say("end", 0);
}
static void on_signal(uint64_t number) {
    say("signal", number);
}
static void on_thread(uint64_t id, const uint64_t *own) {
    say(id && !own[0] ? "thread" : "thread without a number", 0);
}
static void on_thread_end(void) {
    say("thread ends", 0);
}
static void on_fork(uint64_t child) {
    say(child ? "fork" : "fork of nobody", 0);
}

LATHE_HOOKS(LATHE_ON(LATHE_SYSCALL, begin, {LATHE_NUMBER}, {LATHE_ARGUMENT, 0}, {LATHE_ARGUMENT, 2}),
            LATHE_ON(LATHE_SYSCALL_DONE, done, {LATHE_NUMBER}), LATHE_ON(LATHE_START, started),
            LATHE_ON(LATHE_END, ended), LATHE_ON(LATHE_SIGNAL, on_signal, {LATHE_NUMBER}),
            LATHE_ON(LATHE_THREAD, on_thread, {LATHE_THREAD_ID}, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_THREAD_END, on_thread_end), LATHE_ON(LATHE_FORKED, on_fork, {LATHE_NUMBER}));
