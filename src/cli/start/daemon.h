/* daemon.h: the server that stays (lathe serve): where its socket is, who it is, how it begins and ends.
 *
 * Each user has a directory for it. There, the name of a socket is the identity of the code that comes from it, so that
 * server and client of different builds never meet. A file `lock` has one byte for each identity; the server holds a
 * lock on its byte for as long as it lives, and so is found and never doubled, whatever became of its socket. */
#ifndef CLI_DAEMON_H
#define CLI_DAEMON_H

#include <limits.h>
#include <sys/types.h>
#include <sys/un.h>

#include "cli/start/identity.h"

enum { DAEMON_IDLE_S = 300, DAEMON_CLIENTS = 32 };

typedef struct Daemon {
    char server[PATH_MAX]; /* the program */
    const char *host;      /* where it has the work done by ssh; NULL: here */
    char build[IDENTITY_SIZE];
    char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char socket[sizeof(((struct sockaddr_un *)0)->sun_path)];
    u64 idle_s, clients;
} Daemon;

/* Find out where the daemon for this server (and host) is, or would be; `make` its directory if there is none. NULL, or
 * a sentence why that cannot be used. */
const char *daemon_locate(Daemon *d, const char *server, const char *host, bool make);

/* Its process; 0: there is none. */
pid_t daemon_process(const Daemon *d);

/* Start it in the background; `lazy`: LLVM is loaded when the first client comes. False: there has been a message, unless
 * another one was faster. */
bool daemon_start(const Daemon *d, bool lazy);

/* This process becomes it; returns the exit status after a message if it cannot. */
int daemon_become(const Daemon *d, bool lazy);

/* End it and wait for that; false: it does not end. */
bool daemon_stop(const Daemon *d);

/* Can this be a host for ssh, and not one of its options? */
bool daemon_is_host(const char *host);

#endif
