/* kernel.c: system calls one after the other, on descriptors of one's own. */
#include <fcntl.h>
#include <unistd.h>

#include "team.h"

static void work(Member *m) {
    enum { ROUNDS = 2500000 };
    int zero = open("/dev/zero", O_RDONLY);
    char buffer[512];
    long end = team_first(m, m->index + 1, ROUNDS);
    for (long i = team_first(m, m->index, ROUNDS); i < end; i++)
        m->result += (uint64_t)read(zero, buffer, 1 + i % sizeof(buffer));
    close(zero);
}

int main(int argc, char **argv) {
    printf("%lu\n", (unsigned long)team_run(team_size(argc, argv), work));
    return 0;
}
