/* spawn.h: programs of Lathe's own that run beside the guest: the server, and the keeper that starts servers. See spawn.c, keeper.c. */
#ifndef RUN_CLIENT_SPAWN_H
#define RUN_CLIENT_SPAWN_H

#include "run/client/core/client.h"

enum { SPAWN_SOCKET = 3 }; /* the descriptor that such a program finds its socket at */

/* In a process of its own: nothing of the guest's is open any more, the socket is at SPAWN_SOCKET, and the guest's limits do not hold. */
void spawn_detach(int socket);
/* Likewise, and becomes that program. Of the environment it gets what is for Lathe. */
_Noreturn void spawn_become(int socket, const char *path, char *const *argv, char **envp);
/* Starts a program in a process that is no child of this one; false: there can be no more processes. */
bool spawn_beside(int socket, const char *path, char *const *argv);
/* The server, as spawn_become does it, and as spawn_beside. */
_Noreturn void spawn_server(int socket, const char *path, char **envp);
bool spawn_server_beside(int socket);

/* ------------------------------------------------------------------------------------------------------------ keeper.c */

/* Before the guest gives up rights: a keeper that has them is there from now on, if a server may still be needed. */
void keeper_prepare(Thread *t);
/* Let the keeper start a server with that socket; false: there is no keeper, or not any more. */
bool keeper_start_server(Thread *t, int socket);
/* For a program that exec starts: the option that names the keeper's descriptor, which stays open in it if `stays`; 0: there is none. */
u32 keeper_hand_on(Thread *t, bool stays);
/* At the client's start, before it has memory that a keeper would keep: that option's keeper is this client's. */
void keeper_begin(u32 option);
/* Where the number of its descriptor is, in the files of this thread; NULL: there is none. */
int *keeper_descriptor(Thread *t);
void keeper_copy(Thread *child, const Thread *parent); /* the child has files of its own */
void keeper_after_fork(Thread *t);                     /* the child is this thread alone */
/* The keeper's whole life: what its command line says, and the environment. */
enum { KEEPER_ARGUMENTS = 3 };
_Noreturn void keeper_main(char **argv, char **envp);
bool keeper_is_meant(int argc, char **argv);

#endif
