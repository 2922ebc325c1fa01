/* x86_registers.h: the guest's registers as far as they are the host's own: all of them while quick code runs. */
#ifndef X86_REGISTERS_H
#define X86_REGISTERS_H

#include <asm/prctl.h>

#include "host_cpu.h"
#include "host_thread.h"

/* Components of xsave that the kernel has granted to the guest; it grants some only when they are asked for. */
static inline u64 host_permitted_components(void) {
    u64 permitted = 0;
    sys_arch_prctl(ARCH_GET_XCOMP_PERM, (u64)&permitted);
    return permitted;
}

static inline u64 host_fs_base(void) {
    u64 base = 0;
    sys_arch_prctl(ARCH_GET_FS, (u64)&base);
    return base;
}

#endif
