/* guest.h: the riscv64 guest of these tests. qemu is its oracle. */
#ifndef ISA_RISCV64_GUEST_H
#define ISA_RISCV64_GUEST_H

#include "lathe/lift.h"

typedef LatheRiscv64Cpu GuestCpu;

#define GUEST_ARCH LATHE_ARCH_RISCV64
#define GUEST_ORACLE "qemu"
#define GUEST_QEMU "qemu-riscv64"
#define GUEST_QEMU_VARIABLE "QEMU_RISCV64"
#define GUEST_AGENT_VARIABLE "RISCV64_AGENT"

/* For LLVM's assembler. */
#define GUEST_TARGET RISCV
#define GUEST_TRIPLE "riscv64-unknown-linux-gnu"
#define GUEST_FEATURES "+m,+a,+f,+d,+c,+zicsr,+zifencei,+zihintpause,+zba,+zbb,+zbc,+zbkb,+zbkx,+zbs,+zicond,+zfh,+zfa"

#endif
