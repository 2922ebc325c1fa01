/* host_helpers.h: functions that LLVM calls on this host in code of any guest: rows of client_helpers. There are none. */
#ifndef RUN_CLIENT_HOST_HELPERS_H
#define RUN_CLIENT_HOST_HELPERS_H

#define HOST_HELPERS

#endif
