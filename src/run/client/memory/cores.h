/* cores.h: what a core file has of the process's memory. */
#ifndef RUN_CLIENT_CORES_H
#define RUN_CLIENT_CORES_H

/* The process is about to die: leaves all memory that is not the guest's out of a core file. Such a file would be hundreds of MiB larger. */
void cores_hide_client(void);

#endif
