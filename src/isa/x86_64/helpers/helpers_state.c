/* helpers_state.c: x87 environments, and the memory images of FXSAVE and XSAVE, for lifted code.
 *
 * Guest memory is read before any state changes.
 */
#include "isa/x86_64/helpers/helpers.h"
#include "isa/x86_64/helpers/helpers_host.h"
#include "isa/x86_64/helpers/helpers_x87.h"

/* ---------------------------------------------------------------------------------------------- environments, FSAVE */

/* With 16-bit operand size the environment is seven words (SDM 1, figure 8-12). */
typedef struct ShortEnv {
    u16 cw, sw, tw, ip, cs, dp, ds;
} ShortEnv;

static void read_env(FpuEnv *env, const void *area, bool short_form) {
    ShortEnv s;
    if (!short_form) {
        memcpy(env, area, sizeof(*env));
        return;
    }
    memcpy(&s, area, sizeof(s));
    *env = (FpuEnv){.cw = s.cw, .sw = s.sw, .tw = s.tw, .ip = s.ip, .cs = s.cs, .dp = s.dp, .ds = s.ds};
}

static void write_env(void *area, const FpuEnv *env, bool short_form) {
    ShortEnv s = {env->cw, env->sw, env->tw, (u16)env->ip, env->cs, (u16)env->dp, env->ds};
    if (short_form)
        memcpy(area, &s, sizeof(s));
    else
        memcpy(area, env, sizeof(*env));
}

static size_t env_bytes(bool short_form) {
    return short_form ? sizeof(ShortEnv) : sizeof(FpuEnv);
}

static void put_pointers(LatheX86Cpu *cpu, const FpuEnv *env) {
    cpu->fpu_ip = env->ip;
    cpu->fpu_dp = env->dp;
    cpu->fpu_opcode = env->opcode & 0x7ff;
}

void lathe_x87_fldenv(LatheX86Cpu *cpu, const void *area, u32 short_form) {
    FpuEnv env;
    fpu_wait(cpu);
    read_env(&env, area, short_form);
    fpu_put_env(cpu, &env);
    put_pointers(cpu, &env);
}

/* SDM 2A, FSTENV: all exceptions are masked afterwards. */
void lathe_x87_fnstenv(LatheX86Cpu *cpu, void *area, u32 short_form) {
    FpuImage image;
    fpu_get_image(cpu, &image);
    write_env(area, &image.env, short_form);
    fpu_set_cw(cpu, cpu->fpu_cw | FPU_EXCEPTIONS);
}

void lathe_x87_frstor(LatheX86Cpu *cpu, const u8 *area, u32 short_form) {
    FpuImage image;
    fpu_wait(cpu);
    read_env(&image.env, area, short_form);
    memcpy(image.st, area + env_bytes(short_form), sizeof(image.st));
    fpu_put_image(cpu, &image);
    put_pointers(cpu, &image.env);
}

static void fninit(LatheX86Cpu *cpu) {
    cpu->fpu_cw = FPU_CW_INITIAL;
    cpu->fpu_sw = 0;
    cpu->fpu_top = cpu->fpu_tag = 0;
    cpu->fpu_opcode = 0;
    cpu->fpu_ip = cpu->fpu_dp = 0;
}

void lathe_x87_fnsave(LatheX86Cpu *cpu, u8 *area, u32 short_form) {
    FpuImage image;
    fpu_get_image(cpu, &image);
    write_env(area, &image.env, short_form);
    memcpy(area + env_bytes(short_form), image.st, sizeof(image.st));
    fninit(cpu);
}

/* ----------------------------------------------------------------------------------------------------------- FXSAVE */

/* The first 160 bytes of an FXSAVE or XSAVE area. */
typedef struct Legacy {
    u16 cw, sw;
    u8 tag, reserved0;
    u16 opcode;
    u64 ip, dp; /* not wide: 32 bits and a selector each */
    u32 mxcsr, mxcsr_mask;
    u8 st[8][16]; /* from ST(0) on */
} Legacy;

_Static_assert(sizeof(Legacy) == 160, "the legacy area ends where the xmm registers begin");

enum { MXCSR_BITS = 0xffff, MXCSR_INITIAL = 0x1f80 };

static void save_x87(const LatheX86Cpu *cpu, u8 *area, bool wide) {
    Legacy a = {.cw = cpu->fpu_cw,
                .sw = (u16)(cpu->fpu_sw | cpu->fpu_top << 11),
                .tag = cpu->fpu_tag,
                .opcode = cpu->fpu_opcode,
                .ip = wide ? cpu->fpu_ip : (u32)cpu->fpu_ip,
                .dp = wide ? cpu->fpu_dp : (u32)cpu->fpu_dp};
    for (u32 i = 0; i < 8; i++)
        memcpy(a.st[i], cpu->st[(cpu->fpu_top + i) & 7], 10);
    memcpy(area, &a, offsetof(Legacy, mxcsr));
    memcpy(area + offsetof(Legacy, st), a.st, sizeof(a.st));
}

static void restore_x87(LatheX86Cpu *cpu, const u8 *area, bool wide) {
    Legacy a;
    memcpy(&a, area, sizeof(a));
    cpu->fpu_top = a.sw >> 11 & 7;
    cpu->fpu_sw = (u16)(a.sw & ~FPU_TOP);
    cpu->fpu_tag = a.tag;
    cpu->fpu_opcode = a.opcode & 0x7ff;
    cpu->fpu_ip = wide ? a.ip : (u32)a.ip;
    cpu->fpu_dp = wide ? a.dp : (u32)a.dp;
    for (u32 i = 0; i < 8; i++)
        memcpy(cpu->st[(cpu->fpu_top + i) & 7], a.st[i], 10);
    fpu_set_cw(cpu, a.cw);
}

static void save_mxcsr(u8 *area, u32 mxcsr) {
    u32 both[] = {mxcsr, x86_host_mxcsr_mask()};
    memcpy(area + offsetof(Legacy, mxcsr), both, sizeof(both));
}

/* Lifted code moves the xmm registers, and has mxcsr in the state. */
void lathe_x87_fxsave(LatheX86Cpu *cpu, u8 *area, u32 wide) {
    save_x87(cpu, area, wide);
    save_mxcsr(area, cpu->mxcsr);
}

void lathe_x87_fxrstor(LatheX86Cpu *cpu, const u8 *area, u32 wide) {
    restore_x87(cpu, area, wide);
}

/* ------------------------------------------------------------------------------------------------ XSAVE: components */

/* Numbers of the state components that a guest has; the host may have more, which stay in their initial state. */
enum { X87, SSE, AVX, OPMASK = 5, ZMM_HIGH, ZMM_16_31, COMPONENTS };
enum { XSAVE_HEADER = 512, XSAVE_EXTENDED = 576, FXSAVE_XMM = 160 };
#define COMPACTED ((u64)1 << 63)
#define BIT(component) ((u64)1 << (component))

/* Sizes in the extended region; 3 and 4 are the bounds registers of older CPUs. */
static const u16 component_bytes[COMPONENTS] = {0, 0, 256, 64, 64, 64, 512, 1024};

typedef struct Header {
    u64 in_use, layout, reserved[6];
} Header;

/* A component is `count` pieces of the guest state. */
typedef struct Pieces {
    u8 *first;
    u32 count, size, stride;
} Pieces;

static Pieces pieces_of(LatheX86Cpu *cpu, u32 component) {
    switch (component) {
    case SSE:
        return (Pieces){cpu->vec[0], 16, 16, 64};
    case AVX:
        return (Pieces){cpu->vec[0] + 16, 16, 16, 64};
    case OPMASK:
        return (Pieces){(u8 *)cpu->k, 8, 8, 8};
    case ZMM_HIGH:
        return (Pieces){cpu->vec[0] + 32, 16, 32, 64};
    case ZMM_16_31:
        return (Pieces){cpu->vec[16], 16, 64, 64};
    }
    return (Pieces){0};
}

static bool is_component_zero(LatheX86Cpu *cpu, u32 component) {
    Pieces p = pieces_of(cpu, component);
    for (u32 i = 0; i < p.count; i++)
        for (u32 j = 0; j < p.size; j++)
            if (p.first[i * p.stride + j])
                return false;
    return true;
}

/* What a CPU counts as in use is its own affair where all is zero; x87 and SSE are taken to be always. */
static u64 components_in_use(LatheX86Cpu *cpu) {
    u64 in_use = BIT(X87) | BIT(SSE);
    for (u32 c = AVX; c < COMPONENTS; c++)
        if (!is_component_zero(cpu, c))
            in_use |= BIT(c);
    return in_use;
}

/* Where a component is: by CPUID, or packed behind the lower ones of a compacted layout (SDM 1, 13.4.3). */
static u32 component_offset(u32 component, u64 layout) {
    u32 offset = XSAVE_EXTENDED;
    if (component == SSE)
        return FXSAVE_XMM;
    if (!(layout & COMPACTED))
        return x86_host_component_offset(component);
    for (u32 i = AVX; i < component; i++)
        if (layout >> i & 1)
            offset += component_bytes[i];
    return offset;
}

static void save_component(LatheX86Cpu *cpu, u32 component, u8 *area, u64 layout) {
    Pieces p = pieces_of(cpu, component);
    u8 *to = p.count ? area + component_offset(component, layout) : NULL;
    for (u32 i = 0; i < p.count; i++)
        memcpy(to + i * p.size, p.first + i * p.stride, p.size);
}

static void restore_component(LatheX86Cpu *cpu, u32 component, const u8 *area, u64 layout) {
    Pieces p = pieces_of(cpu, component);
    const u8 *from = p.count ? area + component_offset(component, layout) : NULL;
    for (u32 i = 0; i < p.count; i++)
        memcpy(p.first + i * p.stride, from + i * p.size, p.size);
}

static void clear_component(LatheX86Cpu *cpu, u32 component) {
    Pieces p = pieces_of(cpu, component);
    for (u32 i = 0; i < p.count; i++)
        memset(p.first + i * p.stride, 0, p.size);
}

/* ---------------------------------------------------------------------------------------------- XSAVE: instructions */

static void check(bool ok) {
    if (!ok)
        x86_host_protection_fault();
}

/* Lifted code has left the address in the state. */
static u8 *area_of(const LatheX86Cpu *cpu) {
    check(!(cpu->scratch[0] & 63));
    return (u8 *)(uintptr_t)cpu->scratch[0];
}

static u64 requested_components(const LatheX86Cpu *cpu) {
    return x86_host_components() & ((u64)(u32)cpu->gp[LATHE_RDX] << 32 | (u32)cpu->gp[LATHE_RAX]);
}

static void save_components(LatheX86Cpu *cpu, u8 *area, u64 which, u64 layout, bool wide) {
    if (which & BIT(X87))
        save_x87(cpu, area, wide);
    for (u32 c = SSE; c < COMPONENTS; c++)
        if (which & BIT(c))
            save_component(cpu, c, area, layout);
}

/* The instructions that keep the layout of CPUID keep what they do not save, too. */
static void save_standard(LatheX86Cpu *cpu, bool wide, bool only_in_use) {
    u8 *area = area_of(cpu);
    u64 requested = requested_components(cpu), in_use = components_in_use(cpu), header_in_use;
    memcpy(&header_in_use, area + XSAVE_HEADER, 8);
    header_in_use = (header_in_use & ~requested) | (in_use & requested);
    save_components(cpu, area, only_in_use ? requested & in_use : requested, 0, wide);
    if (requested & (BIT(SSE) | BIT(AVX)))
        save_mxcsr(area, x86_host_get_mxcsr(cpu));
    memcpy(area + XSAVE_HEADER, &header_in_use, 8);
}

static void save_compacted(LatheX86Cpu *cpu, bool wide) {
    u8 *area = area_of(cpu);
    u64 requested = requested_components(cpu), saved = requested & components_in_use(cpu);
    u64 header[2] = {saved, requested | COMPACTED};
    save_components(cpu, area, saved, header[1], wide);
    if (saved & BIT(SSE))
        save_mxcsr(area, x86_host_get_mxcsr(cpu));
    memcpy(area + XSAVE_HEADER, header, sizeof(header));
}

/* SDM 1, 13.8: mxcsr comes from the area whenever SSE or (standard layout) AVX is asked for, in use or not. */
static void restore_mxcsr(LatheX86Cpu *cpu, const u8 *area, u64 requested, const Header *h) {
    u32 mxcsr = MXCSR_INITIAL;
    u64 owners = h->layout & COMPACTED ? BIT(SSE) : BIT(SSE) | BIT(AVX);
    if (!(requested & owners))
        return;
    if (!(h->layout & COMPACTED) || h->in_use & BIT(SSE))
        memcpy(&mxcsr, area + offsetof(Legacy, mxcsr), 4);
    check(!(mxcsr & ~x86_host_mxcsr_mask()));
    x86_host_set_mxcsr(cpu, mxcsr);
}

static void check_header(const Header *h, u64 enabled) {
    bool compacted = h->layout & COMPACTED;
    check(!(h->in_use & ~enabled));
    check(compacted ? !(h->in_use & ~h->layout) && !(h->layout & ~(enabled | COMPACTED)) : !h->layout);
    for (size_t i = 0; i < ARRAY_LEN(h->reserved); i++)
        check((!compacted && i) || !h->reserved[i]);
}

static void restore(LatheX86Cpu *cpu, bool wide) {
    const u8 *area = area_of(cpu);
    u64 requested = requested_components(cpu);
    Header h;
    memcpy(&h, area + XSAVE_HEADER, sizeof(h));
    check_header(&h, x86_host_components());
    restore_mxcsr(cpu, area, requested, &h);
    if (requested & h.in_use & BIT(X87)) {
        restore_x87(cpu, area, wide);
    } else if (requested & BIT(X87)) {
        fninit(cpu);
        memset(cpu->st, 0, sizeof(cpu->st));
    }
    for (u32 c = SSE; c < COMPONENTS; c++) {
        if (requested & h.in_use & BIT(c))
            restore_component(cpu, c, area, h.layout);
        else if (requested & BIT(c))
            clear_component(cpu, c);
    }
}

void lathe_x86_xsave(LatheX86Cpu *cpu) {
    save_standard(cpu, false, false);
}

void lathe_x86_xsave64(LatheX86Cpu *cpu) {
    save_standard(cpu, true, false);
}

void lathe_x86_xsaveopt(LatheX86Cpu *cpu) {
    save_standard(cpu, false, true);
}

void lathe_x86_xsaveopt64(LatheX86Cpu *cpu) {
    save_standard(cpu, true, true);
}

void lathe_x86_xsavec(LatheX86Cpu *cpu) {
    save_compacted(cpu, false);
}

void lathe_x86_xsavec64(LatheX86Cpu *cpu) {
    save_compacted(cpu, true);
}

void lathe_x86_xrstor(LatheX86Cpu *cpu) {
    restore(cpu, false);
}

void lathe_x86_xrstor64(LatheX86Cpu *cpu) {
    restore(cpu, true);
}

/* -------------------------------------------------------------------------------------------------------- the table */

const Helper x86_state_helpers[] = {
    {"lathe_x87_fldenv", (void *)lathe_x87_fldenv},
    {"lathe_x87_fnstenv", (void *)lathe_x87_fnstenv},
    {"lathe_x87_frstor", (void *)lathe_x87_frstor},
    {"lathe_x87_fnsave", (void *)lathe_x87_fnsave},
    {"lathe_x87_fxsave", (void *)lathe_x87_fxsave},
    {"lathe_x87_fxrstor", (void *)lathe_x87_fxrstor},
    {"lathe_x86_xsave", (void *)lathe_x86_xsave},
    {"lathe_x86_xsave64", (void *)lathe_x86_xsave64},
    {"lathe_x86_xsaveopt", (void *)lathe_x86_xsaveopt},
    {"lathe_x86_xsaveopt64", (void *)lathe_x86_xsaveopt64},
    {"lathe_x86_xsavec", (void *)lathe_x86_xsavec},
    {"lathe_x86_xsavec64", (void *)lathe_x86_xsavec64},
    {"lathe_x86_xrstor", (void *)lathe_x86_xrstor},
    {"lathe_x86_xrstor64", (void *)lathe_x86_xrstor64},
    {NULL, NULL},
};
