/* tls.c: thread-local variables, initialised and not, by address and after fork. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static __thread int set = 41;
static __thread long unset[100];
__thread double shared_one = 2.5;

__attribute__((noinline)) static long *place(int i) {
    return &unset[i];
}

int main(void) {
    set++;
    *place(99) = set;
    shared_one *= 2;
    printf("%d %ld %.1f\n", set, unset[99], shared_one);
    errno = 0;
    close(-1);
    int kept = errno;
    printf("errno %d, distinct %d\n", kept, (void *)&errno != (void *)&set);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        set += 100;
        printf("child %d %ld\n", set, *place(99));
        exit(0);
    }
    waitpid(pid, NULL, 0);
    printf("parent %d\n", set);
    return 0;
}
