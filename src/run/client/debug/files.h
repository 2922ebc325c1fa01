/* files.h: files that a debugger asks for (vFile): the guest's program and libraries, from where the guest has them. */
#ifndef RUN_CLIENT_DEBUG_FILES_H
#define RUN_CLIENT_DEBUG_FILES_H

#include "run/client/debug/wire.h"

/* The request is what follows "vFile:". */
void files_answer(Packet *request, Packet *answer);
/* The debugger has gone: closes what it has left open. */
void files_close(void);

#endif
