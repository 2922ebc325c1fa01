/* keeper.c: a process that keeps the rights which the guest gives up, and starts servers with them.
 *
 * A guest may confine itself: by Landlock, another root, another user, limits of processes or descriptors. A server that is started
 * afterwards would be confined likewise; its program might not be found, or it could not read its files. So before the first such call a
 * keeper is started: a process of this client's program that only waits for sockets. A client that needs a server makes a pair of sockets
 * and sends one end to the keeper, which starts a server for it. No answer is needed: if no server comes, the client's end is closed.
 *
 * The guest adopts orphans if it is the first process of a PID namespace, or has asked for it by PR_SET_CHILD_SUBREAPER. Then servers and
 * keepers would become its children: wait would not answer ECHILD, and would return processes that the guest never started. In this case
 * a keeper is started together with the client, so that all servers are children of the keeper. The keeper itself is a child of the guest,
 * but wait ignores it, because it sends no signal when it ends (clone(2), "The child termination signal"). exec would change that to
 * SIGCHLD, so the keeper stays a copy of the client and does not call exec. Only __WALL and __WCLONE show it.
 *
 * The guest does not see the descriptor that leads to the keeper (hidden.c). Its forked processes and the programs that it starts by exec
 * inherit the descriptor; the keeper ends when the last of them has ended. */
#include <linux/prctl.h>

#include "run/client/code/server/hidden.h"
#include "run/client/code/server/spawn.h"

enum {
    AF_UNIX = 1,
    SOCK_SEQPACKET = 5,
    SOCK_CLOEXEC = O_CLOEXEC,
    SOL_SOCKET = 1,
    SCM_RIGHTS = 1,
    MSG_NOSIGNAL = 0x4000,
    MSG_CMSG_CLOEXEC = 0x40000000
};
enum { CHILD_ENDED = 17 /* SIGCHLD */, SIG_SETMASK = 2 };

static const char meant[] = "keep-servers";

/* A message of one byte with one descriptor, in the kernel's layout. */
typedef struct Parcel {
    struct {
        u64 size;
        i32 level, type, fd, pad;
    } control;
    struct iovec bytes;
    struct {
        void *name;
        u64 name_size;
        struct iovec *vector;
        u64 count;
        void *control;
        u64 control_size, flags;
    } header;
} Parcel;

static void parcel_init(Parcel *p, char *byte, int fd) {
    *p = (Parcel){.control = {sizeof(p->control) - sizeof(p->control.pad), SOL_SOCKET, SCM_RIGHTS, fd, 0},
                  .bytes = {byte, 1}};
    p->header.vector = &p->bytes;
    p->header.count = 1;
    p->header.control = &p->control;
    p->header.control_size = sizeof(p->control);
}

/* -------------------------------------------------------------------------------------------------------- in the keeper */

/* Receives a socket that a client has sent. Returns -1 for a message without a socket, -2 if no client is left. */
static int next_socket(void) {
    char byte;
    Parcel p;
    parcel_init(&p, &byte, -1);
    i64 n;
    do
        n = sys3(__NR_recvmsg, SPAWN_SOCKET, (u64)&p.header, MSG_CMSG_CLOEXEC);
    while (n == -EINTR);
    if (n <= 0)
        return -2;
    return p.header.control_size ? p.control.fd : -1;
}

/* ignored: the kernel forgets children that have ended, so that nobody has to wait for them. A server needs the
 * default, because it waits for its own children. */
static void ignore_children(bool ignored) {
    u64 action[4] = {ignored};
    sys_rt_sigaction(CHILD_ENDED, action, NULL);
}

/* A keeper has to live as long as its guest, even if somebody sends SIGTERM to all processes. */
static void block_signals(u64 *before) {
    u64 all = ~(u64)0;
    sys_rt_sigprocmask(SIG_SETMASK, &all, before);
}

static _Noreturn void keep(const char *server, const char *plugin, char **envp) {
    block_signals(NULL);
    ignore_children(true);
    for (int socket; (socket = next_socket()) != -2;) {
        if (socket >= 0 && sys_fork() == 0) {
            ignore_children(false);
            spawn_server(socket, server, plugin, envp);
        }
        if (socket >= 0)
            sys_close(socket);
    }
    sys_exit_group(0);
}

bool keeper_is_meant(int argc, char **argv) {
    return argc == KEEPER_ARGUMENTS && !strcmp(argv[1], meant);
}

void keeper_main(char **argv, char **envp) {
    keep(argv[2], argv[3], envp);
}

/* --------------------------------------------------------------------------------------------------------- in the client */

/* t is NULL before there is a thread. */
static int *place(Thread *t) {
    return t && t->process.own_files ? &t->server.keeper : &the.server.keeper;
}

int *keeper_descriptor(Thread *t) {
    return *place(t) ? place(t) : NULL;
}

void keeper_copy(Thread *child, const Thread *parent) {
    child->server.keeper = parent->process.own_files ? parent->server.keeper : the.server.keeper;
}

void keeper_after_fork(Thread *t) {
    if (t->process.own_files)
        the.server.keeper = t->server.keeper;
}

static bool is_needed(void) {
    return the.opt.tier != TIER_QUICK && *the.opt.server_path;
}

bool keeper_adopts_orphans(void) {
    i32 is_reaper = 0;
    return sys_getpid() == 1 || (!sys_prctl(PR_GET_CHILD_SUBREAPER, (u64)&is_reaper, 0, 0, 0) && is_reaper);
}

static bool start_beside(int socket) {
    const char *room[] = {NULL, client_file(the.opt.client_path), meant, the.opt.server_path, the.opt.plugin, NULL};
    const char **list = room + 1, *program = client_command(&the.opt, &list);
    return spawn_beside(socket, program, (char *const *)list);
}

/* Starts the keeper as a child whose end sends no signal. Signals are blocked, because the client's handlers must not
 * run in it. */
static bool start_unseen(int socket) {
    u64 mask;
    block_signals(&mask);
    i64 child = sys_fork_quietly(0);
    if (child == 0) {
        spawn_detach(socket);
        keep(the.opt.server_path, the.opt.plugin, the.envp);
    }
    sys_rt_sigprocmask(SIG_SETMASK, &mask, NULL);
    return child > 0;
}

/* The descriptor is never 0, because 0 means that there is no keeper. */
void keeper_prepare(Thread *t) {
    int pair[2];
    if (!is_needed() || *place(t) || sys_socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return;
    bool ok = keeper_adopts_orphans() ? start_unseen(pair[1]) : start_beside(pair[1]);
    sys_close(pair[1]);
    int fd = hidden_place(pair[0]);
    if (ok && fd)
        *place(t) = fd;
    else
        sys_close(fd);
}

static bool send_socket(Thread *t, int socket) {
    char byte = 0;
    Parcel p;
    if (!*place(t))
        return false;
    parcel_init(&p, &byte, socket);
    i64 sent;
    do
        sent = sys3(__NR_sendmsg, (u64)*place(t), (u64)&p.header, MSG_NOSIGNAL);
    while (sent == -EINTR);
    if (sent == 1)
        return true;
    sys_close(*place(t));
    *place(t) = 0;
    return false;
}

/* A guest that adopts orphans may have killed all other processes and with them its keeper: then another one is
 * started. */
bool keeper_start_server(Thread *t, int socket) {
    if (send_socket(t, socket))
        return true;
    if (!keeper_adopts_orphans())
        return false;
    keeper_prepare(t);
    return send_socket(t, socket);
}

u32 keeper_hand_on(Thread *t, bool stays) {
    if (!*place(t) || sys_fcntl(*place(t), F_SETFD, stays ? 0 : FD_CLOEXEC))
        return 0;
    return (u32)*place(t);
}

void keeper_begin(u32 option) {
    if (option && !sys_fcntl((int)option, F_SETFD, FD_CLOEXEC))
        the.server.keeper = (int)option;
    if (keeper_adopts_orphans())
        keeper_prepare(NULL);
}
