/* host_start.h: the relocation of a pointer into the client itself. */
#ifndef RUN_CLIENT_HOST_START_H
#define RUN_CLIENT_HOST_START_H

#include <elf.h>

#define HOST_RELATIVE R_RISCV_RELATIVE

#endif
