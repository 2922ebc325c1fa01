/* processor.h: the CPU that guests see on hosts of another kind: one of level x86-64-v2, with nothing beyond. */
#ifndef ISA_X86_64_PLAIN_PROCESSOR_H
#define ISA_X86_64_PLAIN_PROCESSOR_H

enum {
    PLAIN_FEATURES = 0x078bfbff,          /* leaf 1, edx: fpu to sse2 */
    PLAIN_MORE_FEATURES = 0x00982201,     /* leaf 1, ecx: sse3, ssse3, cx16, sse4.1, sse4.2, popcnt */
    PLAIN_LATER_FEATURES = 1,             /* leaf 0x80000001, ecx: lahf */
    PLAIN_LATER_64_FEATURES = 0x20100800, /* and edx: syscall, nx, long mode */
};

/* Leaf 0: ebx, edx, ecx. The GNU C library finds no feature at all on a CPU of a vendor that it does not know. */
#define PLAIN_VENDOR "AuthenticAMD"
/* Leaves 0x80000005 and 0x80000006, as this vendor has them: 32 KiB of data and of code in lines of 64 bytes, 1 MiB of level 2, 8 MiB of level 3. */
enum { PLAIN_LEVEL_1 = 0x20080140, PLAIN_LEVEL_2 = 0x04006140, PLAIN_LEVEL_3 = 0x00409140 };

/* All of them as /proc/cpuinfo names them. */
#define PLAIN_FLAGS                                                                                                    \
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 syscall nx lm " \
    "pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm"

#endif
