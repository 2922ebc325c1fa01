/* helpers_x87_image.c: the x87 unit as the environment and the registers that instructions save and restore. */
#include "isa/x86_64/helpers/helpers_x87.h"

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

void fpu_get_env(const LatheX86Cpu *cpu, FpuEnv *env) {
    *env = (FpuEnv){.cw = cpu->fpu_cw,
                    .sw = (u16)(cpu->fpu_sw | cpu->fpu_top << 11),
                    .ip = (u32)cpu->fpu_ip,
                    .opcode = cpu->fpu_opcode,
                    .dp = (u32)cpu->fpu_dp,
                    .ones0 = 0xffff,
                    .ones1 = 0xffff,
                    .ones2 = 0xffff,
                    .ones3 = 0xffff};
    for (u32 i = 0; i < 8; i++)
        env->tw |= (u16)(tag_of(cpu, i) << 2 * i);
}

void fpu_get_image(const LatheX86Cpu *cpu, FpuImage *image) {
    fpu_get_env(cpu, &image->env);
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
