/* daemon.h: the server that stays (lathe serve): where its socket is, how it is identified, how it begins and ends.
 *
 * Each user has a directory for it. The name of a socket there is the identity of the code that its server makes, so that server and client
 * of different builds never meet. A file `lock` has one byte for each identity. The server holds a lock on its byte as long as it lives, so it
 * can be found and is never started twice, even if its socket is gone. */
#ifndef CLI_DAEMON_H
#define CLI_DAEMON_H

#include <limits.h>
#include <sys/types.h>
#include <sys/un.h>

#include "cli/start/identity.h"
#include "cli/start/plugin_file.h"

enum { DAEMON_IDLE_S = 300, DAEMON_CLIENTS = 512 };

typedef struct Daemon {
    char server[PATH_MAX]; /* the program */
    const char *host;      /* the machine that does the work, by ssh; NULL: this one */
    const char *plugin;    /* FILE,OPTIONS of the plugin that it loads for its clients; NULL: none */
    char build[IDENTITY_SIZE];
    char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char socket[sizeof(((struct sockaddr_un *)0)->sun_path)];
    u64 idle_s, clients;
} Daemon;

/* Finds out where the daemon for this server (and host, and plugin, which may be empty and has to outlive d) is, or would be. make: makes its directory if there is none.
 * Returns NULL, or a sentence that says why the directory cannot be used. */
const char *daemon_locate(Daemon *d, const char *server, const char *host, const PluginFile *plugin, bool make);

/* The daemon's process id; 0: there is none. */
pid_t daemon_process(const Daemon *d);

/* Starts it in the background. lazy: LLVM is loaded when the first client comes. Returns false after a message, or
 * without one if another process has started it at the same time. */
bool daemon_start(const Daemon *d, bool lazy);

/* Turns this process into the daemon. If that fails, prints a message and returns the exit status. */
int daemon_become(const Daemon *d, bool lazy);

/* Ends it and waits for its end. Returns false if it does not end. */
bool daemon_stop(const Daemon *d);

/* True if this can be the name of a host for ssh, and is not an option of ssh. */
bool daemon_is_host(const char *host);

#endif
