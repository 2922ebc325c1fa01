/* older_calls.h: numbers for older forms of some system calls, which some kernels have besides. Those of hosts that include this know nothing of them. */
#ifndef RUN_CLIENT_OLDER_CALLS_H
#define RUN_CLIENT_OLDER_CALLS_H

enum {
    HOST_OLDER = 480,
    __NR_open = HOST_OLDER,
    __NR_stat,
    __NR_access,
    __NR_readlink,
    __NR_dup2,
    __NR_signalfd,
    __NR_pause,
    __NR_select,
    __NR_epoll_wait,
    __NR_poll
};

#endif
