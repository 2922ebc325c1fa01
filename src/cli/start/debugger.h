/* debugger.h: the connection of a debugger to a program under lathe run. */
#ifndef CLI_START_DEBUGGER_H
#define CLI_START_DEBUGGER_H

/* Waits at a TCP port of this machine (0: one that is free), or at a socket of this path, until a debugger is there. Returns the descriptor of its connection, or -1 after a message. */
int debugger_await(const char *where);
/* Makes a new process, and becomes gdb in this one. Returns, in the new process, the descriptor of its connection; or -1 after a message. */
int debugger_start(void);

#endif
