/* lifetime.c: functions and handles that come and go take no more memory the longer that goes on, and those of a child process have
 * nothing to do with its parent's. */
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subtracting.h"

enum { MANY = 10000, WARM = 1000, ALIVE = 16, ALLOWED_PAGES = 64 };

/* Of this process, mapped and in memory. */
static long pages(void) {
    long mapped = 0, present = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &mapped, &present) != 2)
        printf("the system does not tell how large this process is\n");
    if (f)
        fclose(f);
    return mapped + present;
}

static bool grows(const char *what, long before) {
#ifdef __SANITIZE_ADDRESS__
    before = pages(); /* what was freed is not used again for a while, so that uses of it are seen */
#endif
    long more = pages() - before;
    if (more > ALLOWED_PAGES)
        printf("%s took %ld pages\n", what, more);
    return more > ALLOWED_PAGES;
}

/* The oldest of a few that are alive goes when a new one comes. */
static int many_functions(void) {
    BinoptHandle handle = binopt_init();
    Subtract alive[ALIVE] = {0};
    int wrong = 0;
    long before = 0;
    for (int i = 0; i < MANY; i++) {
        Subtract *place = &alive[i % ALIVE];
        binopt_spec_delete(handle, (BinoptFunc)*place);
        *place = make(handle, i);
        for (int k = 0; k < ALIVE; k++)
            wrong += alive[k] && alive[k](50, i - (i - k) % ALIVE) != 50 - (i - (i - k) % ALIVE);
        wrong += *place == subtract;
        if (i == WARM)
            before = pages();
    }
    wrong += grows("functions", before);
    binopt_fini(handle);
    return wrong;
}

static int many_handles(void) {
    int wrong = 0;
    long before = 0;
    for (int i = 0; i < MANY; i++) {
        BinoptHandle handle = binopt_init();
        wrong += make(handle, i)(50, i) != 50 - i;
        binopt_fini(handle);
        if (i == WARM)
            before = pages();
    }
    return wrong + grows("handles", before);
}

/* A function that is made here is the same after another process has made its own. */
static int check_made(int by) {
    BinoptHandle handle = binopt_init();
    int wrong = 0;
    for (int i = 0; i < 20; i++) {
        Subtract made = make(handle, by + i);
        usleep(1000);
        wrong += made(50, by + i) != 50 - by - i;
    }
    binopt_fini(handle);
    return wrong;
}

static int in_two_processes(void) {
    binopt_fini(binopt_init());
    pid_t child = fork();
    int wrong = check_made(child ? 100 : 200), status = 1;
    if (!child)
        _exit(wrong != 0);
    waitpid(child, &status, 0);
    return wrong + (status != 0);
}

int main(void) {
    int wrong = in_two_processes() + many_functions() + many_handles() + in_two_processes();
    printf("%s: %d things are wrong\n", binopt_driver(), wrong);
    return wrong != 0;
}
