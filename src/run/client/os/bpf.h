/* bpf.h: programs for the classic packet filter, as filters of system calls have them. */
#ifndef RUN_CLIENT_BPF_H
#define RUN_CLIENT_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "base/base.h"

/* Would the kernel take it for a filter of system calls? Then it ends, and reads nothing that it has not written. */
bool bpf_is_valid(const struct sock_filter *program, u32 count);
/* What such a program returns. */
u32 bpf_run(const struct sock_filter *program, const struct seccomp_data *data);

#endif
