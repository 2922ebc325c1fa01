/* bpf.h: programs of the classic packet filter, which filters of system calls are written in. */
#ifndef RUN_CLIENT_BPF_H
#define RUN_CLIENT_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "base/base.h"

/* True if the kernel would accept the program as a filter of system calls. Such a program ends, and reads only memory
 * that it has written. */
bool bpf_is_valid(const struct sock_filter *program, u32 count);
/* Runs a valid program and returns its answer. */
u32 bpf_run(const struct sock_filter *program, const struct seccomp_data *data);

#endif
