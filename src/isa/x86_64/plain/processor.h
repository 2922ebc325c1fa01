/* processor.h: the CPU that guests see on hosts of another kind: one of level x86-64-v2, with nothing beyond. */
#ifndef ISA_X86_64_PLAIN_PROCESSOR_H
#define ISA_X86_64_PLAIN_PROCESSOR_H

enum {
    PLAIN_FEATURES = 0x078bfbff,         /* leaf 1, edx: fpu to sse2 */
    PLAIN_MORE_FEATURES = 0x00982201,    /* leaf 1, ecx: sse3, ssse3, cx16, sse4.1, sse4.2, popcnt */
    PLAIN_LATER_FEATURES = 1,            /* leaf 0x80000001, ecx: lahf */
    PLAIN_LATER_64_FEATURES = 0x20100800, /* and edx: syscall, nx, long mode */
};

/* Leaf 0: ebx, edx, ecx. */
#define PLAIN_VENDOR "LaththeLathe"
/* All of them as /proc/cpuinfo names them. */
#define PLAIN_FLAGS                                                                                                    \
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 syscall nx lm " \
    "pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm"

#endif
