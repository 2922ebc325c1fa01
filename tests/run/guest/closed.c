/* closed.c: processes without one or more of the first descriptors run code that is new to them. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORK(n)                                                                                                        \
    __attribute__((noinline)) static unsigned work_##n(unsigned seed) {                                                \
        for (int i = 0; i < 2000000; i++)                                                                              \
            seed = seed * 1664525 + (n) + (seed >> 9);                                                                 \
        return seed;                                                                                                   \
    }

WORK(0)
WORK(1)
WORK(2)
WORK(3)
WORK(4)
WORK(5)
WORK(6)
WORK(7)

enum { FIRST = 3 };

static void close_some(unsigned set) {
    for (int fd = 0; fd < FIRST; fd++)
        if (set >> fd & 1)
            close(fd);
}

int main(void) {
    unsigned (*const works[])(unsigned) = {work_0, work_1, work_2, work_3, work_4, work_5, work_6, work_7};
    int kept[FIRST];
    for (int fd = 0; fd < FIRST; fd++)
        kept[fd] = fcntl(fd, F_DUPFD, FIRST + 1);
    for (unsigned set = 0; set < 1 << FIRST; set++) {
        int status;
        close_some(set);
        if (!fork())
            _exit(works[set](set) & 127);
        wait(&status);
        for (int fd = 0; fd < FIRST; fd++)
            dup2(kept[fd], fd);
        printf("%x closed: status %x\n", set, (unsigned)status);
        fflush(stdout);
    }
    return 0;
}
