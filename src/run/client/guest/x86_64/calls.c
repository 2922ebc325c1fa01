/* calls.c: system calls that only x86-64 has. */
#include "run/client/os/calls.h"
#include "run/client/os/signal/waits.h"

#include <asm/prctl.h>

/* fs of the guest is the host's; gs is only recorded, because the host's gs is the client's. The other operations would
 * change the processor that the guest sees. */
i64 guest_arch_prctl(Thread *t, const u64 a[6]) {
    switch ((u32)a[0]) {
    case ARCH_SET_FS: {
        i64 error = syscall_repeated(t, __NR_arch_prctl, a);
        if (!error)
            t->cpu.fsbase = a[1];
        return error;
    }
    case ARCH_SET_GS: /* the host's gs belongs to the client */
        if (a[1] >> 47)
            return -EPERM;
        t->cpu.gsbase = a[1];
        return 0;
    case ARCH_GET_GS: {
        i64 error = sys_arch_prctl(ARCH_GET_GS, a[1]); /* lets the kernel check the address */
        if (!error)
            *(u64 *)a[1] = t->cpu.gsbase;
        return error;
    }
    case ARCH_GET_FS:
    case ARCH_GET_CPUID:
        return syscall_repeated(t, __NR_arch_prctl, a);
    case ARCH_GET_XCOMP_SUPP: /* tiles and later components, which are in the host's registers in quick code */
    case ARCH_GET_XCOMP_PERM:
    case ARCH_REQ_XCOMP_PERM:
        return guest_has_only_rows() ? -EINVAL : syscall_repeated(t, __NR_arch_prctl, a);
    case ARCH_SET_CPUID:
        return -ENODEV;
    default:
        return -EINVAL;
    }
}
