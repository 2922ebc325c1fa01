/* await.h: how a guest program waits until another thread or process is in a certain state, instead of for some milliseconds.
 *
 * The one that is waited for opens its directory of /proc itself, since in a PID namespace its number says nothing there:
 *
 *     int me = proc_directory();
 *     if (!fork()) {
 *         await_sleep(me);
 *         kill(getppid(), SIGUSR1);
 *         _exit(0);
 *     }
 *     pause();
 */
#ifndef AWAIT_H
#define AWAIT_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { AWAIT_LOOK_US = 3000, AWAIT_LOOKS = 3, AWAIT_MOST_LOOKS = 300, AWAIT_FOREIGN = 200 };

/* A descriptor of the directory of the calling thread, for the functions below. */
static int proc_directory(void) {
    return open("/proc/thread-self", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void proc_text(int directory, const char *name, char *text, size_t size) {
    memset(text, 0, size);
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, text, size - 1) < 0)
        *text = 0;
    close(fd);
}

/* The letter that `ps` shows: R for running, S for sleeping, T for stopped; 0 if the thread is gone. */
static char proc_state(int directory) {
    char text[512];
    proc_text(directory, "stat", text, sizeof(text));
    const char *name_end = strrchr(text, ')');
    return name_end ? name_end[2] : 0;
}

/* Reads the thread from a descriptor that no program of ours has? Then its translator waits for a server. The numbers are the host's, of read and
 * recvmsg. */
static int waits_for_server(int directory) {
    char text[512];
    long number = -1;
    unsigned long descriptor = 0;
    proc_text(directory, "syscall", text, sizeof(text));
    int reads = sscanf(text, "%ld %lx", &number, &descriptor) == 2 &&
                (number == 0 || number == 47 || number == 63 || number == 212);
    return reads && descriptor >= AWAIT_FOREIGN;
}

/* Returns when the thread has been in this state at several looks, one after the other, or is gone; and after many looks in any case, but for those at which it
 * waited for a server: a client that takes samples every few microseconds wakes the thread so often that it is hardly ever seen asleep. */
static void await_state(int directory, char state) {
    int seen = 0;
    for (int looks = 0; seen < AWAIT_LOOKS && looks < AWAIT_MOST_LOOKS; looks++) {
        char now = proc_state(directory);
        if (!now)
            return;
        int is = now == state && !waits_for_server(directory);
        seen = is ? seen + 1 : 0;
        looks -= now == state && !is;
        usleep(AWAIT_LOOK_US);
    }
}

/* Returns when the thread waits in a system call of its own. */
static void await_sleep(int directory) {
    await_state(directory, 'S');
}

#endif
