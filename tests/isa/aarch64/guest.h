/* guest.h: the aarch64 guest of these tests. qemu is its oracle. */
#ifndef ISA_AARCH64_GUEST_H
#define ISA_AARCH64_GUEST_H

#include "lathe/lift.h"

typedef LatheAarch64Cpu GuestCpu;

#define GUEST_ARCH LATHE_ARCH_AARCH64
#define GUEST_ORACLE "qemu"
#define GUEST_QEMU "qemu-aarch64"
#define GUEST_QEMU_VARIABLE "QEMU_AARCH64"
#define GUEST_AGENT_VARIABLE "AARCH64_AGENT"

/* For LLVM's assembler. */
#define GUEST_TARGET AArch64
#define GUEST_TRIPLE "aarch64-unknown-linux-gnu"
#define GUEST_FEATURES                                                                                                 \
    "+v8.7a,+lse,+rcpc,+rcpc-immo,+crc,+flagm,+altnzcv,+jsconv,+fptoint,+pauth,+bti,+rand,+neon,+fullfp16,+fp16fml,"   \
    "+aes,+sha2,+sha3,+sm4,+dotprod,+i8mm,+bf16,+complxnum,+rdm,+ccdp,+ccpp,+sb,+ssbs,+hbc,+mops"

#endif
