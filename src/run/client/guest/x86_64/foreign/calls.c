/* calls.c: system calls that only x86-64 has, on a host of another kind. */
#include "run/client/os/calls.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"

enum { SET_GS = 0x1001, SET_FS, GET_FS, GET_GS, GET_CPUID = 0x1011, SET_CPUID }; /* asm/prctl.h */

static i64 set_base(u64 *base, u64 to) {
    if (to >> 47)
        return -EPERM;
    *base = to;
    return 0;
}

static i64 get_base(u64 base, u64 to) {
    return guest_write(to, &base, sizeof(base)) == sizeof(base) ? 0 : -EFAULT;
}

/* Both segments are in the guest's state. */
i64 guest_arch_prctl(Thread *t, const u64 a[6]) {
    switch ((u32)a[0]) {
    case SET_FS:
        return set_base(&t->cpu.fsbase, a[1]);
    case SET_GS:
        return set_base(&t->cpu.gsbase, a[1]);
    case GET_FS:
        return get_base(t->cpu.fsbase, a[1]);
    case GET_GS:
        return get_base(t->cpu.gsbase, a[1]);
    case GET_CPUID:
        return 1; /* cpuid does not fault */
    case SET_CPUID:
        return -ENODEV;
    default:
        return -EINVAL;
    }
}
