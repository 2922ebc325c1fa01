/* guest.h: the x86-64 guest of these tests. The CPU is its oracle. */
#ifndef ISA_X86_64_GUEST_H
#define ISA_X86_64_GUEST_H

#include "lathe/lift.h"

typedef LatheX86Cpu GuestCpu;

#define GUEST_ARCH LATHE_ARCH_X86_64
#define GUEST_ORACLE "CPU"

/* For LLVM's assembler. */
#define GUEST_TARGET X86
#define GUEST_TRIPLE "x86_64-unknown-linux-gnu"
#define GUEST_FEATURES ""

#endif
