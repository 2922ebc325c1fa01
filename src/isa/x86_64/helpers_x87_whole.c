/* helpers_x87_whole.c: x87 instructions run with the whole of the guest's x87 unit loaded into the host's.
 *
 * Nothing is left to do by hand: stack faults, several results, unmasked exceptions and condition codes that stay as
 * they were all come out as they do on this CPU. It costs some hundred cycles, so it is for the rarer instructions.
 */
#include "isa/x86_64/helpers.h"
#include "isa/x86_64/helpers_x87.h"

#ifdef __x86_64__

/* ---------------------------------------------------------------------------------------------------- memory images */

enum { TAG_VALID, TAG_ZERO, TAG_SPECIAL, TAG_EMPTY };

static u16 tag_of(const LatheX86Cpu *cpu, u32 physical) {
    if (!(cpu->fpu_tag >> physical & 1))
        return TAG_EMPTY;
    u64 significand;
    u16 exponent;
    memcpy(&significand, cpu->st[physical], 8);
    memcpy(&exponent, cpu->st[physical] + 8, 2);
    exponent &= 0x7fff;
    if (!exponent && !significand)
        return TAG_ZERO;
    return !exponent || exponent == 0x7fff || !(significand >> 63) ? TAG_SPECIAL : TAG_VALID;
}

static void get_env(const LatheX86Cpu *cpu, FpuEnv *env) {
    *env = (FpuEnv){.cw = cpu->fpu_cw, .sw = (u16)(cpu->fpu_sw | cpu->fpu_top << 11), .ip = (u32)cpu->fpu_ip,
                    .opcode = cpu->fpu_opcode, .dp = (u32)cpu->fpu_dp,
                    .ones0 = 0xffff, .ones1 = 0xffff, .ones2 = 0xffff, .ones3 = 0xffff};
    for (u32 i = 0; i < 8; i++)
        env->tw |= (u16)(tag_of(cpu, i) << 2 * i);
}

void fpu_get_image(const LatheX86Cpu *cpu, FpuImage *image) {
    get_env(cpu, &image->env);
    for (u32 i = 0; i < 8; i++)
        memcpy(image->st[i], cpu->st[(cpu->fpu_top + i) & 7], 10);
}

/* The tags say only which registers are in use: what their values are is seen from these. */
void fpu_put_env(LatheX86Cpu *cpu, const FpuEnv *env) {
    cpu->fpu_sw = (u16)(env->sw & ~FPU_TOP);
    cpu->fpu_top = env->sw >> 11 & 7;
    cpu->fpu_tag = 0;
    for (u32 i = 0; i < 8; i++)
        if ((env->tw >> 2 * i & 3) != TAG_EMPTY)
            cpu->fpu_tag |= (u8)(1 << i);
    fpu_set_cw(cpu, env->cw);
}

void fpu_put_image(LatheX86Cpu *cpu, const FpuImage *image) {
    fpu_put_env(cpu, &image->env);
    for (u32 i = 0; i < 8; i++)
        memcpy(cpu->st[(cpu->fpu_top + i) & 7], image->st[i], 10);
}

/* ------------------------------------------------------------------------------------------------------- exceptions */

static u16 host_cw(void) {
    u16 cw;
    asm volatile("fnstcw %0" : "=m"(cw));
    return cw;
}

void fpu_raise(const LatheX86Cpu *cpu) {
    FpuEnv env;
    u16 cw = host_cw();
    get_env(cpu, &env);
    asm volatile("fldenv %0\n\tfwait\n\tfninit\n\tfldcw %1" : : "m"(env), "m"(cw));
}

/* ----------------------------------------------------------------------------------------------------- instructions */

#define X87_REGISTERS "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)"

/* FNSAVE leaves the host's unit as FNINIT does: empty, with another control word than it may have had. */
#define WHOLE(name)                                                                                                    \
    static void lathe_x87_##name(LatheX86Cpu *cpu) {                                                                   \
        FpuImage image;                                                                                                \
        u16 cw = host_cw();                                                                                            \
        fpu_get_image(cpu, &image);                                                                                    \
        asm volatile("frstor %0\n\tf" #name "\n\tfnsave %0\n\tfldcw %1" : "+m"(image) : "m"(cw) : X87_REGISTERS);      \
        fpu_put_image(cpu, &image);                                                                                    \
    }

WHOLE(scale)
WHOLE(xtract)
WHOLE(prem)
WHOLE(prem1)
WHOLE(sin)
WHOLE(cos)
WHOLE(sincos)
WHOLE(ptan)
WHOLE(patan)
WHOLE(2xm1)
WHOLE(yl2x)
WHOLE(yl2xp1)

/* Ten bytes of binary-coded decimal come and go as an F80 with these bits. */
static void lathe_x87_load_bcd(LatheX86Cpu *cpu, long double bits) {
    FpuImage image;
    u16 cw = host_cw();
    fpu_get_image(cpu, &image);
    asm volatile("frstor %0\n\tfbld %1\n\tfnsave %0\n\tfldcw %2" : "+m"(image) : "m"(bits), "m"(cw) : X87_REGISTERS);
    fpu_put_image(cpu, &image);
}

/* The pop comes after the guest's memory has taken the value: FBSTP's own is undone. */
static long double lathe_x87_store_bcd(LatheX86Cpu *cpu) {
    FpuImage image;
    long double bits;
    u16 cw = host_cw();
    u8 top = cpu->fpu_top, tag = cpu->fpu_tag;
    fpu_get_image(cpu, &image);
    asm volatile("frstor %0\n\tfbstp %1\n\tfnsave %0\n\tfldcw %2"
                 : "+m"(image), "=m"(bits)
                 : "m"(cw)
                 : X87_REGISTERS);
    fpu_put_env(cpu, &image.env);
    cpu->fpu_top = top;
    cpu->fpu_tag = tag;
    return bits;
}

#endif

/* -------------------------------------------------------------------------------------------------------- the table */

/* clang-format off */
#define HELPER(name) {"lathe_x87_" #name, (void *)lathe_x87_##name}

const Helper x86_x87_whole_helpers[] = {
#ifdef __x86_64__
    HELPER(scale), HELPER(xtract), HELPER(prem), HELPER(prem1), HELPER(sin), HELPER(cos), HELPER(sincos), HELPER(ptan),
    HELPER(patan), HELPER(2xm1), HELPER(yl2x), HELPER(yl2xp1), HELPER(load_bcd), HELPER(store_bcd),
#endif
    {NULL, NULL},
};
/* clang-format on */
