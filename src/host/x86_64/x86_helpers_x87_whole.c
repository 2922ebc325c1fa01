/* x86_helpers_x87_whole.c: x87 instructions run with the whole of the guest's x87 unit loaded into the host's.
 *
 * Nothing is left to do by hand: stack faults, several results, unmasked exceptions and condition codes that stay as
 * they were all come out as they do on this CPU. It costs some hundred cycles, so it is for the rarer instructions.
 */
#include "host/x86_64/x86_helpers_x87.h"
#include "isa/x86_64/helpers/helpers.h"

/* ------------------------------------------------------------------------------------------------------- exceptions */

static u16 host_cw(void) {
    u16 cw;
    asm volatile("fnstcw %0" : "=m"(cw));
    return cw;
}

void fpu_raise(const LatheX86Cpu *cpu) {
    FpuEnv env;
    u16 cw = host_cw();
    fpu_get_env(cpu, &env);
    asm volatile("fldenv %0\n\tfwait\n\tfninit\n\tfldcw %1" : : "m"(env), "m"(cw));
}

/* ----------------------------------------------------------------------------------------------------- instructions */

#define X87_REGISTERS "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)"

/* FNSAVE leaves the host's unit as FNINIT does: empty, with another control word than it may have had. */
#define WHOLE(name)                                                                                                    \
    void lathe_x87_##name(LatheX86Cpu *cpu) {                                                                          \
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
void lathe_x87_load_bcd(LatheX86Cpu *cpu, long double bits) {
    FpuImage image;
    u16 cw = host_cw();
    fpu_get_image(cpu, &image);
    asm volatile("frstor %0\n\tfbld %1\n\tfnsave %0\n\tfldcw %2" : "+m"(image) : "m"(bits), "m"(cw) : X87_REGISTERS);
    fpu_put_image(cpu, &image);
}

/* The pop comes after the guest's memory has taken the value: FBSTP's own is undone. */
long double lathe_x87_store_bcd(LatheX86Cpu *cpu) {
    FpuImage image;
    long double bits;
    u16 cw = host_cw();
    u8 top = cpu->fpu_top, tag = cpu->fpu_tag;
    fpu_get_image(cpu, &image);
    asm volatile("frstor %0\n\tfbstp %1\n\tfnsave %0\n\tfldcw %2" : "+m"(image), "=m"(bits) : "m"(cw) : X87_REGISTERS);
    fpu_put_env(cpu, &image.env);
    cpu->fpu_top = top;
    cpu->fpu_tag = tag;
    return bits;
}
