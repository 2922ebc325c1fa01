/* recording.c: writes a line for each system call of some kinds to a file, and one when the program ends. With `end=no` nothing is written at the end, with out=FILE to that file. */
#include <lathe/tool.h>

static LatheFile *file;
static LatheLock lock;
static uint64_t calls;

static void begin(void) {
    const char *name = lathe_option("out");
    if (!file || !name)
        file = lathe_open(name ? name : "record.%p");
    calls = 0;
    lathe_fprint(file, "begin %s\n", strrchr(lathe_program(), '/') + 1);
}

static void call(uint64_t number) {
    const char *name = lathe_syscall_name(number);
    lathe_lock(&lock);
    calls++;
    if (name && !strcmp(name, "getppid"))
        lathe_fprint(file, "call %s\n", name);
    lathe_unlock(&lock);
}

static void thread_ends(void) {
    lathe_fprint(file, "thread ends\n");
}

static void end(void) {
    lathe_fprint(file, "end%s\n", calls ? "" : " without calls");
}

LATHE_HOOKS(LATHE_ON(LATHE_START, begin), LATHE_ON(LATHE_SYSCALL, call, {LATHE_NUMBER}),
            LATHE_ON(LATHE_THREAD_END, thread_ends), LATHE_ON(LATHE_END, end));
