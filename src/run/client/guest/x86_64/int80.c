/* int80.c: system calls of 32-bit x86 (int 0x80), which 64-bit programs can make, too. They have other numbers, and
 * only 32 bits of each argument count. If a 64-bit call has the same layout, that call is made; the others are refused. */
#include <linux/audit.h>

#include "run/client/os/calls.h"

enum { SYSTEM_CALL = 0x80 };

enum {
#define NUMBER(number, name) I386_##name = number,
#include "i386_numbers.def"
#undef NUMBER
};

static const char *const names[] = {
#define NUMBER(number, name) [number] = #name,
#include "i386_numbers.def"
#undef NUMBER
};

/* The numbers of the 64-bit calls. */
enum {
#define NUMBER(number, name) X86_##name = number,
#include "run/client/guest/x86_64/abi/shared_numbers.def"
#undef NUMBER
};

typedef struct Equal {
    bool known;
    u16 number; /* of the 64-bit call, if there is one that equals it; */
    u16 own;    /* else the Call */
} Equal;

static const Equal calls[ARRAY_LEN(names)] = {
#define ROW(name, call) [I386_##name] = {true, X86_##call, CALL_NONE},
#define OTHER(name, call) [I386_##name] = {true, 0, CALL_##call},
#include "i386_calls.def"
#undef ROW
#undef OTHER
};

static Call find(u64 number) {
    const Equal *e = number < ARRAY_LEN(calls) ? &calls[number] : NULL;
    if (!e || !e->known)
        return CALL_NONE;
    return e->own ? (Call)e->own : call_of(e->number);
}

static void explain(u64 number) {
    static u8 told[ARRAY_LEN(names)];
    if (number < ARRAY_LEN(names) && names[number] && !calls[number].known &&
        !__atomic_exchange_n(&told[number], 1, __ATOMIC_RELAXED))
        say("the 32-bit system call %s (int 0x80) is not supported: it fails with ENOSYS", names[number]);
}

bool guest_interrupt(Thread *t) {
    GuestCpu *cpu = &t->cpu;
    static const u8 registers[] = {LATHE_RBX, LATHE_RCX, LATHE_RDX, LATHE_RSI, LATHE_RDI, LATHE_RBP};
    if (cpu->trap_info != SYSTEM_CALL)
        return false;
    cpu->trap = LATHE_TRAP_NONE;
    u64 number = guest_number(cpu);
    GuestCall c = {.call = find(number), .arch = AUDIT_ARCH_I386, .number = number};
    for (u32 i = 0; i < ARRAY_LEN(registers); i++)
        c.a[i] = (u32)cpu->gp[registers[i]];
    explain(number);
    call_make(t, &c);
    return true;
}

/* ---------------------------------------------------------------------------------- calls whose arguments are others */

i64 guest_i386_lseek(Thread *t, const u64 a[6]) {
    return call_do(t, CALL_lseek, (const u64[6]){a[0], (u64)(i64)(i32)a[1], a[2]});
}

/* The result has to be an address of 32 bits. The offset counts pages. */
i64 guest_i386_mmap2(Thread *t, const u64 a[6]) {
    return call_do(t, call_of(X86_mmap), (const u64[6]){a[0], a[1], a[2], a[3] | MAP_32BIT, a[4], a[5] * PAGE});
}

i64 guest_i386_waitpid(Thread *t, const u64 a[6]) {
    return call_do(t, CALL_wait4, (const u64[6]){(u64)(i64)(i32)a[0], a[1], a[2], 0});
}
