/* host.c: x86-64 as a host. */
#include "host/x86_64/parts.h"

/* LLVM drops everything that builds on avx512f with it. With AVX-512, code generation takes 17% longer (domain reassignment)
 * and lifted code gains nothing from it. */
#define WITHOUT_AVX512 ",-avx512f,-evex512"

/* Instructions in VEX form clear what they do not write; older forms leave it alone, and are as fast. */
#define LOW_VECTORS ",-avx"

/* Forms of guest instructions use LLVM's intrinsics up to here, and one that the target lacks would end the process at
 * instruction selection. */
#define LEAST_FEATURES ",+sse4.2,+crc32,+popcnt,+cx16"

static const HostAccess access = {
    .ints = {{"movzbl $1, ${0:k}", "movb ${1:b}, $0", "r"},
             {"movzwl $1, ${0:k}", "movw ${1:w}, $0", "r"},
             {"movl $1, ${0:k}", "movl ${1:k}, $0", "r"},
             {"movq $1, ${0:q}", "movq ${1:q}, $0", "r"}},
    .floats = {{"movss $1, $0", "movss $1, $0", "x"}, {"movsd $1, $0", "movsd $1, $0", "x"}},
    .look = "testb $$0, $0",
    .claim = "lock orb $$0, $0",
    .touch_memory = "*m",
    .touch_clobbers = ",~{flags},~{dirflag},~{fpsr}",
};

static const char *const blind[] = {"x86.sse.cvt", "x86.sse2.cvt", NULL};

static const HostTruncation truncations[] = {
    {"llvm.x86.sse.cvttss2si", 1, 32, 32},      {"llvm.x86.sse.cvttss2si64", 1, 32, 64},
    {"llvm.x86.sse2.cvttsd2si", 1, 64, 32},     {"llvm.x86.sse2.cvttsd2si64", 1, 64, 64},
    {"llvm.x86.sse2.cvttps2dq", 4, 32, 32},     {"llvm.x86.avx.cvtt.ps2dq.256", 8, 32, 32},
    {"llvm.x86.avx.cvtt.pd2dq.256", 4, 64, 32}, {NULL, 0, 0, 0},
};

static const HostEstimate estimates[] = {
    {"llvm.x86.sse.rcp.ss", false, true},
    {"llvm.x86.sse.rcp.ps", false, false},
    {"llvm.x86.sse.rsqrt.ss", true, true},
    {"llvm.x86.sse.rsqrt.ps", true, false},
    {NULL, false, false},
};

static const HostForeign foreign = {
    .short_extended = true,
    .features = "",
    .entry = "\t.section lathe_entries, \"ax\"\n\t.p2align 3\n\t.globl %s\n\t.hidden %s\n"
             "\t.8byte %s - .\n%s:\tleaq %s(%%rip), %%r11\n\tjmp lathe_raise_enter\n\t.text\n",
    .entry_for_memory = "\t.section lathe_entries, \"ax\"\n\t.p2align 3\n\t.globl %s\n\t.hidden %s\n"
                        "\t.8byte %s - .\n%s:\tleaq %s(%%rip), %%r11\n\tjmp lathe_raise_enter_for_memory\n\t.text\n",
    .entry_direct = "\t.section lathe_entries, \"ax\"\n\t.p2align 3\n\t.globl %s\n\t.hidden %s\n"
                    "\t.8byte %s - .\n%s:\tjmp %s\n\t.text\n",
    .linker = "gcc",
};

const Host host_x86_64 = {
    .id = LATHE_HOST_X86_64,
    .name = "x86_64",
    .triple = "x86_64-unknown-linux-gnu",
    .common_cpu = "x86-64-v2",
    .least_features = LEAST_FEATURES,
    .left_out = WITHOUT_AVX512,
    .low_features = LOW_VECTORS,
    .blind = blind,
    .makes_negative_nans = true,
    /* regcall passes and returns 11 integers and 16 vectors in registers, in the same order both ways. The last integer is for
     * the guest state and the pc. */
    .convention = {.cc = 92, .ints = 10, .vectors = 16},
    .access = &access,
    .native_fs = true,
    .x86_64 = &x86_64_forms_x86,
    .riscv64 = &x86_64_forms_riscv,
    .aarch64 = &x86_64_forms_aarch64,
    .read_stack_pointer = "movq %rsp, $0",
    .load_low = "movq $1, $0",
    .load_wide = "movabsq $1, $0",
    .stencil_cpu = "x86-64-v3", /* the client looks whether it has that */
    .stencil = &x86_64_stencil,
    .nops = 0x9090909090909090,
    .patchable = "prologue-short-redirect",
    .keeps_vectors = x86_64_keeps_vectors,
    .truncations = truncations,
    .estimates = estimates,
    .stack_call = &x86_64_stack_call,
    .raise = &x86_64_raise,
    .foreign = &foreign,
    .divide_fault = {"xorl %ecx, %ecx\n\tdivl %ecx", "~{ecx},~{eax},~{edx},~{flags},~{memory}"},
};
