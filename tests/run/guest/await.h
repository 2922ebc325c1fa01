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
#include <string.h>
#include <unistd.h>

enum { AWAIT_LOOK_US = 3000, AWAIT_LOOKS = 3, AWAIT_MOST_LOOKS = 300 };

/* A descriptor of the directory of the calling thread, for the functions below. */
static int proc_directory(void) {
    return open("/proc/thread-self", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The letter that `ps` shows: R for running, S for sleeping, T for stopped; 0 if the thread is gone. */
static char proc_state(int directory) {
    char text[512] = "";
    int fd = openat(directory, "stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t size = read(fd, text, sizeof(text) - 1);
    close(fd);
    const char *name_end = size > 0 ? strrchr(text, ')') : NULL;
    return name_end ? name_end[2] : 0;
}

/* Returns when the thread has been in this state at several looks, one after the other, or is gone; and after many looks in any case: a client
 * that takes samples every few microseconds wakes the thread so often that it is hardly ever seen asleep. */
static void await_state(int directory, char state) {
    int seen = 0;
    for (int looks = 0; seen < AWAIT_LOOKS && looks < AWAIT_MOST_LOOKS; looks++) {
        char now = proc_state(directory);
        if (!now)
            return;
        seen = now == state ? seen + 1 : 0;
        usleep(AWAIT_LOOK_US);
    }
}

/* Returns when the thread waits in a system call. The code that leads to the call should have run before: optimised code is waited for, too. */
static void await_sleep(int directory) {
    await_state(directory, 'S');
}

#endif
