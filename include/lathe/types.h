/* lathe/types.h: what can be known without LLVM: the guest state that lifted code works on, why it stops, and statuses. */
#ifndef LATHE_TYPES_H
#define LATHE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATHE_API __attribute__((visibility("default")))
#define LATHE_ALIGN(n) __attribute__((aligned(n)))

/* ---------------------------------------------------------------------------------------------------- guest state */

typedef enum LatheArch { LATHE_ARCH_X86_64, LATHE_ARCH_RISCV64, LATHE_ARCH_AARCH64 } LatheArch;

/* The machine that code is generated for. Code for another one than the own can be emitted, not linked into this process. */
typedef enum LatheHost { LATHE_HOST_OWN, LATHE_HOST_X86_64, LATHE_HOST_AARCH64, LATHE_HOST_RISCV64 } LatheHost;

enum {
    LATHE_RAX,
    LATHE_RCX,
    LATHE_RDX,
    LATHE_RBX,
    LATHE_RSP,
    LATHE_RBP,
    LATHE_RSI,
    LATHE_RDI,
    LATHE_R8,
    LATHE_R9,
    LATHE_R10,
    LATHE_R11,
    LATHE_R12,
    LATHE_R13,
    LATHE_R14,
    LATHE_R15,
};

/* The section of objects with a row for each memory access that may fault, in code that `lathe run` asks for. */
#define LATHE_FAULTS "lathe_faults"

/* Why a lifted function stopped before the instruction at cpu->pc (LATHE_TRAP_NONE: it did not). */
typedef enum LatheTrap {
    LATHE_TRAP_NONE,
    LATHE_TRAP_UNSUPPORTED, /* the lifter has no meaning for it, or its bytes are no instruction: #UD */
    LATHE_TRAP_DIVIDE,      /* #DE */
    LATHE_TRAP_BREAK,       /* int3, ebreak: pc is as the CPU reports it: after int3, at ebreak */
    LATHE_TRAP_UNDEFINED,   /* illegal by intent: ud2, unimp, a reserved rounding mode */
    LATHE_TRAP_PRIVILEGED,  /* hlt, in, out, cli …: #GP in user mode */
    LATHE_TRAP_UNREADABLE,  /* guest code memory could not be read at pc */
    LATHE_TRAP_SYSCALL,     /* a system call, where no override is given: pc is after it */
    LATHE_TRAP_INTERRUPT,   /* a software interrupt (int n): pc is after it, number in trap_info */
    LATHE_TRAP_MISALIGNED, /* an access of a guest that wants it aligned: atomic ones, of riscv64; of 16 bytes, of x86-64, where the host
                               itself does not fault */
    LATHE_TRAP_FAULT,    /* a memory access; only in code that `lathe run` asks for */
    LATHE_TRAP_INSIDE,   /* none: quick code goes on in the middle of what a tool sees as a block; likewise */
    LATHE_TRAP_ROUNDING, /* a rounding mode that the host lacks is chosen: only code lifted with strict_fp has it */
} LatheTrap;

/* The state of an x86-64 guest. Flags hold 0 or 1. `st` are the physical x87 registers R0–R7 (ST(i) is
 * st[(fpu_top + i) & 7]); MM0–MM7 are their low 64 bits. On an x86-64 host the guest's mxcsr is the host's while lifted
 * code runs: load `mxcsr` before the call and store it afterwards if the guest may read or change it. */
typedef struct LatheX86Cpu {
    uint64_t pc;
    uint64_t gp[16];
    uint8_t cf, pf, af, zf, sf, of, df, id;
    uint64_t fsbase, gsbase;
    uint32_t trap, trap_info;
    uint32_t mxcsr;
    uint16_t fpu_cw, fpu_sw; /* fpu_sw without its TOP field */
    uint8_t fpu_top;         /* 0–7 */
    uint8_t fpu_tag;         /* bit i: st[i] is in use (fxsave's abridged form) */
    uint16_t fpu_opcode;
    uint32_t reserved0;
    uint64_t fpu_ip, fpu_dp;
    uint64_t scratch[2]; /* of lifted code, meaningless between instructions */
    uint64_t k[8];
    LATHE_ALIGN(16) uint8_t st[8][16];
    LATHE_ALIGN(64) uint8_t vec[32][64]; /* xmm, ymm, zmm 0–31 */
} LatheX86Cpu;

/* The state of a riscv64 guest. x[0] is no register: it is never read nor written. A float narrower than 64 bits is boxed:
 * ones above it. On an x86-64 host the guest's rounding mode and exception flags are the host's while lifted code runs:
 * lathe_riscv64_enter before the call, lathe_riscv64_leave afterwards. */
typedef struct LatheRiscv64Cpu {
    LATHE_ALIGN(64) uint64_t pc;
    uint64_t x[32];
    uint64_t f[32];
    uint64_t reserved_address,
        reserved_value; /* of the last lr: sc succeeds if memory there still has the value; address ~0: none */
    uint32_t trap, trap_info;
    uint8_t frm, fflags; /* fflags: those that the host does not have */
    uint8_t reserved0[2];
    uint32_t scratch; /* of lifted code, meaningless between instructions */
} LatheRiscv64Cpu;

/* The state of an aarch64 guest. Flags hold 0 or 1. On an x86-64 host, mxcsr has the modes of fpcr, and flags of fpsr besides those here, while code runs that was not lifted
 * with strict_fp. */
typedef struct LatheAarch64Cpu {
    LATHE_ALIGN(64) uint64_t pc;
    uint64_t x[31];
    uint64_t sp;
    uint8_t n, z, c, v;
    uint32_t fpcr, fpsr;
    uint32_t trap, trap_info;
    uint32_t scratch; /* of lifted code, meaningless between instructions */
    uint64_t tpidr;
    /* Of the last load exclusive: a store succeeds if memory there still has the value; address ~0: none. `high` is the second one's of a pair. */
    uint64_t reserved_address, reserved_value, reserved_high;
    LATHE_ALIGN(16) uint8_t vec[32][16];
} LatheAarch64Cpu;

/* ---------------------------------------------------------------------------------------------------------- status */

typedef enum LatheStatus {
    LATHE_OK = 0,
    LATHE_ERR_ARCH = -1,        /* no such architecture */
    LATHE_ERR_MEMORY = -2,      /* guest memory is not readable at that address */
    LATHE_ERR_DECODE = -3,      /* the bytes are no instruction */
    LATHE_ERR_UNSUPPORTED = -4, /* an instruction without a meaning here */
    LATHE_ERR_LIMIT = -5,       /* more code than LatheConfig.max_insns */
    LATHE_ERR_ARGUMENT = -6,    /* the call makes no sense (for example: nothing was decoded) */
    LATHE_ERR_COMPILE = -7,     /* LLVM could not compile the module */
    LATHE_ERR_LINK = -8,        /* an undefined symbol, or an object of another kind */
    LATHE_ERR_NOMEM = -9,
} LatheStatus;

/* ---------------------------------------------------------------------------------------------------------- guest memory */

typedef struct LatheRange {
    uint64_t start, end;
} LatheRange;

/* Reads up to `size` bytes of guest code or constant data at `addr` into `buf`; returns how many. 0: unmapped, or data that may
 * change: jump tables are read through this, too, and become part of the lifted code. */
typedef size_t LatheReadMemory(void *user, uint64_t addr, void *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
