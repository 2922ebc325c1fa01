/* spawn.h: Lathe's own programs that run beside the guest: the server, and the keeper that starts servers. See spawn.c,
 * keeper.c. */
#ifndef RUN_CLIENT_SPAWN_H
#define RUN_CLIENT_SPAWN_H

#include "run/client/core/client.h"

enum { SPAWN_SOCKET = 3 }; /* the descriptor at which such a program finds its socket */

/* Called in a process of its own: closes all descriptors of the guest's, moves the socket to SPAWN_SOCKET, and raises the limits that the guest has set. */
void spawn_detach(int socket);
/* Calls spawn_detach and executes that program, with those variables of the environment that are for Lathe. */
_Noreturn void spawn_become(int socket, const char *path, char *const *argv, char **envp);
/* Starts a program in a process that is not a child of this one. Returns false if there can be no more processes. */
bool spawn_beside(int socket, const char *path, char *const *argv);
/* The server, as spawn_become does it, and as spawn_beside. plugin: what it is to load; empty: nothing. */
_Noreturn void spawn_server(int socket, const char *path, const char *plugin, char **envp);
bool spawn_server_beside(int socket);

/* ------------------------------------------------------------------------------------------------------------ keeper.c */

/* Called before the guest gives up rights: starts a keeper that has them, unless there is one or no server will be
 * needed. */
void keeper_prepare(Thread *t);
/* Makes the keeper start a server for that socket. Returns false if there is no keeper, or no longer one. */
bool keeper_start_server(Thread *t, int socket);
/* Called around exec: returns the value of the option that tells the new program the keeper's descriptor, or 0 if there
 * is none. stays: the descriptor stays open over exec. */
u32 keeper_hand_on(Thread *t, bool stays);
/* Called at the client's start, before it has memory that a keeper would copy: takes over the keeper that the option
 * names. */
void keeper_begin(u32 option);
/* Where the number of the keeper's descriptor is stored, for the files of this thread; NULL: there is no keeper. */
int *keeper_descriptor(Thread *t);
/* True if processes that lose their parent become children of the guest. */
bool keeper_adopts_orphans(void);
void keeper_copy(Thread *child, const Thread *parent); /* the child has descriptors of its own */
void keeper_after_fork(Thread *t);                     /* the child consists of this thread alone */
/* The whole life of a keeper: its command line and the environment. */
enum { KEEPER_ARGUMENTS = 4 };
_Noreturn void keeper_main(char **argv, char **envp);
bool keeper_is_meant(int argc, char **argv);

#endif
