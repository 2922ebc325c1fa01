/* hwcap.h: what Linux tells programs that this CPU has: the tables of instructions.
 *
 * Documentation/arch/arm64/elf_hwcaps.rst, by the numbers of the bits. Without CPUID, because the registers of identification are zero, and without PACA and PACG, because
 * pointers are not signed. M(number, name) is what is made of each. */
#ifndef ISA_AARCH64_HWCAP_H
#define ISA_AARCH64_HWCAP_H

// clang-format off
#define A64_HWCAP(M)                                                                                                  \
    M(0, "fp") M(1, "asimd") M(3, "aes") M(4, "pmull") M(5, "sha1") M(6, "sha2") M(7, "crc32") M(8, "atomics")        \
    M(9, "fphp") M(10, "asimdhp") M(12, "asimdrdm") M(13, "jscvt") M(14, "fcma") M(15, "lrcpc") M(16, "dcpop")        \
    M(17, "sha3") M(18, "sm3") M(19, "sm4") M(20, "asimddp") M(21, "sha512") M(23, "asimdfhm") M(24, "dit")           \
    M(26, "ilrcpc") M(27, "flagm") M(28, "ssbs") M(29, "sb")
#define A64_HWCAP2(M) M(0, "dcpodp") M(7, "flagm2") M(8, "frint") M(13, "i8mm") M(14, "bf16") M(15, "dgh")
// clang-format on

#endif
