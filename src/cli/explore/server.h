/* server.h: the page by HTTP, for browsers of this machine. */
#ifndef CLI_EXPLORE_SERVER_H
#define CLI_EXPLORE_SERVER_H

#include "cli/explore/explorer.h"

/* Serves the page until SIGINT, SIGTERM or SIGHUP comes, and then ends the process. port 0: any that is free. Returns false if it could not be served, and a message was printed. */
bool server_run(const Explorer *x, const Look *first, u16 port);

#endif
