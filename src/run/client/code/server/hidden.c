/* hidden.c: the client's own descriptors: connections to servers, the keeper, standard error for statistics, files of a tool's. For the
 * guest they are not open: close answers EBADF, close_range leaves them out, and dup2 to the number of one moves it
 * away. A process that shares memory and has its own descriptors (a vfork child) may do what it likes with its copies
 * of the parent's. */
#include "run/client/code/server/hidden.h"

#include "run/client/code/arena/arena.h"
#include "run/client/code/server/remote.h"
#include "run/client/code/server/spawn.h"
#include "run/client/core/debug.h"
#include "run/client/memory/limits.h"
#include "run/client/tool/tool.h"

enum { STATS = REMOTES_MAX, KEEPER, DEBUGGER, TOOL }; /* the indices behind the connections */

/* Where the number of the client's descriptor with this index is stored; NULL: there is none. The caller holds the lock of the tool's files. */
static int *descriptor_no(Thread *t, u32 index) {
    if (index == KEEPER)
        return keeper_descriptor(t);
    if (index == STATS)
        return the.stats_fd > 2 && !t->process.own_files ? &the.stats_fd : NULL;
    if (index == DEBUGGER)
        return t->process.own_files ? NULL : debug_descriptor();
    if (index >= TOOL)
        return t->process.own_files ? NULL : tool_descriptor(index - TOOL);
    Remote *r = remote_no(t, index);
    return r && r->open ? &r->fd : NULL;
}

int hidden_place(int fd) {
    i64 moved = limits_dup_away(fd);
    if (moved < 0)
        return fd;
    sys_close(fd);
    return (int)moved;
}

/* True if there are no descriptors from this index on. */
static bool is_last(u32 index, const int *fd) {
    return index >= TOOL && !fd;
}

int hidden_next(Thread *t, int from) {
    int next = -1;
    const int *fd = NULL;
    tool_files_lock();
    for (u32 i = 0; !is_last(i, fd = descriptor_no(t, i)); i++)
        if (fd && *fd >= from && (next < 0 || *fd < next))
            next = *fd;
    tool_files_unlock();
    return next;
}

/* The limit may be so low that only a number below the guest's can be had. */
static bool move(int *fd) {
    i64 moved = limits_dup_away(*fd);
    if (moved < 0)
        moved = sys_fcntl(*fd, F_DUPFD_CLOEXEC, (u64)*fd + 1);
    if (moved < 0)
        moved = sys_fcntl(*fd, F_DUPFD_CLOEXEC, 0);
    if (moved < 0)
        return false;
    sys_close(*fd);
    *fd = (int)moved;
    return true;
}

/* Finds the client's descriptor with this number. remote_is_busy closes a connection whose user was killed, so the
 * descriptor is looked up once more. */
static int *with_number(Thread *t, int fd, bool *busy) {
    *busy = false;
    const int *at = NULL;
    for (u32 i = 0; !is_last(i, at = descriptor_no(t, i)); i++) {
        if (!at || *at != fd)
            continue;
        *busy = i < REMOTES_MAX && remote_is_busy(t, i);
        return descriptor_no(t, i);
    }
    return NULL;
}

/* If a thread uses the connection now, waits until it is free, which is soon. */
bool hidden_make_way(Thread *t, int fd) {
    for (bool busy = true; busy;) {
        arena_lock();
        tool_files_lock();
        int *at = with_number(t, fd, &busy);
        bool ok = !at || (!busy && move(at));
        tool_files_unlock();
        arena_unlock();
        if (!busy)
            return ok;
        sys_poll(NULL, 0, 1);
    }
    return false;
}
