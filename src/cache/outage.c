/* outage.c: see outage.h. The file is a short table of the latest outages, which any process locks to read or change.
 * Nothing else depends on it, so its content needs no check. */
#include "cache/outage.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OUTAGES = 64, LASTS_S = 600 }; /* after that time a long run tries again */

static u32 now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (u32)now.tv_sec + 1;
}

/* Opens and locks the file. Returns -1 if there is none. In /tmp, the file could belong to another user. */
static int open_notes(const char *dir) {
    char path[PATH_MAX];
    struct stat st;
    int len = *dir ? snprintf(path, sizeof(path), "%s/outages", dir)
                   : snprintf(path, sizeof(path), "/tmp/lathe-%u.outages", (unsigned)geteuid());
    if (len >= (int)sizeof(path))
        return -1;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && S_ISREG(st.st_mode) && flock(fd, LOCK_EX) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool is_same(const Outage *a, const Outage *b, u32 now) {
    return a->cache == b->cache && a->run == b->run && a->since_s && a->since_s <= now && now - a->since_s < LASTS_S;
}

/* The index of this outage, or else of the oldest one. */
static size_t find(const Outage *table, const Outage *o, bool *known) {
    size_t oldest = 0;
    for (size_t i = 0; i < OUTAGES; i++) {
        *known = is_same(&table[i], o, now_s());
        if (*known)
            return i;
        if (table[i].since_s < table[oldest].since_s)
            oldest = i;
    }
    return oldest;
}

static bool look(const char *dir, const Outage *o, bool change) {
    Outage table[OUTAGES] = {{0}}, mine = *o;
    bool known = false;
    int fd = open_notes(dir);
    if (fd < 0)
        return false;
    if (pread(fd, table, sizeof(table), 0) < 0)
        memset(table, 0, sizeof(table));
    size_t at = find(table, o, &known);
    mine.since_s = now_s();
    /* If it cannot be written, other processes print the same message again. */
    if (change && !known && pwrite(fd, &mine, sizeof(mine), (off_t)(at * sizeof(mine))) < 0)
        known = false;
    close(fd);
    return known;
}

bool outage_is_known(const char *dir, const Outage *o) {
    return look(dir, o, false);
}

bool outage_note(const char *dir, const Outage *o) {
    return !look(dir, o, true);
}
