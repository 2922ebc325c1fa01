/* calls.c: system calls that only riscv64 Linux has, about the CPU. */
#include "run/client/os/calls.h"

#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"
#include "run/client/memory/watch.h"

/* Documentation/arch/riscv/hwprobe.rst */
enum {
    KEY_BASE = 3,
    BASE_IMA = 1,
    KEY_EXTENSIONS = 4,
    EXT_FD = 1 << 0,
    EXT_C = 1 << 1,
    EXT_ZBA = 1 << 3,
    EXT_ZBB = 1 << 4,
    EXT_ZBS = 1 << 5,
    EXT_ZBC = 1 << 7,
    EXT_ZBKB = 1 << 8,
    EXT_ZBKC = 1 << 9,
    EXT_ZBKX = 1 << 10,
    KEY_MISALIGNED = 5,
    MISALIGNED_FAST = 3,
};
#define EXT_ZFH ((u64)1 << 27)
#define EXT_ZFHMIN ((u64)1 << 28)
#define EXT_ZFA ((u64)1 << 32)
#define EXT_ZICOND ((u64)1 << 35)

typedef struct Probe {
    i64 key;
    u64 value;
} Probe;

static void answer(Probe *p) {
    switch (p->key) {
    case 0:
    case 1:
    case 2:
        p->value = 0;
        break; /* vendor, architecture, implementation */
    case KEY_BASE:
        p->value = BASE_IMA;
        break;
    case KEY_EXTENSIONS:
        p->value = EXT_FD | EXT_C | EXT_ZBA | EXT_ZBB | EXT_ZBS | EXT_ZBC | EXT_ZBKB | EXT_ZBKC | EXT_ZBKX | EXT_ZFH |
                   EXT_ZFHMIN | EXT_ZFA | EXT_ZICOND;
        break;
    case KEY_MISALIGNED:
        p->value = MISALIGNED_FAST;
        break;
    default:
        p->key = -1, p->value = 0;
        break;
    }
}

i64 guest_riscv_hwprobe(Thread *t, const u64 a[6]) {
    (void)t;
    if (a[4])
        return -EINVAL;
    for (u64 i = 0; i < a[1]; i++) {
        u64 at = a[0] + i * sizeof(Probe);
        Probe p;
        if (guest_read(at, &p, sizeof(p)) != sizeof(p))
            return -EFAULT;
        answer(&p);
        if (guest_write(at, &p, sizeof(p)) != sizeof(p))
            return -EFAULT;
    }
    return 0;
}

/* The guest has written code: forgets the translations of what was there before. */
i64 guest_riscv_flush_icache(Thread *t, const u64 a[6]) {
    (void)t;
    enum { LOCAL = 1 };
    if (a[2] & ~(u64)LOCAL)
        return -EINVAL;
    if (a[0] < a[1])
        code_forget(a[0], a[1]);
    return 0;
}

bool guest_interrupt(Thread *t) {
    (void)t;
    return false;
}
