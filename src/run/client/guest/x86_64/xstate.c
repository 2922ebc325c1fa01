/* xstate.c: see xstate.h.
 *
 * An area begins in the format of fxsave. In its last 48 bytes, which are free for software, the kernel says how much follows: the header
 * of xsave, the components that the host has, each where CPUID puts it, and a second magic number behind them. A handler that finds both
 * magic numbers may read and change all of it. Without the magic numbers, or without its bit in the header, a component has the values
 * it has after exec.
 *
 * Protection keys are a component, too, but are never changed: they would lock the client out of its own memory. */
#include "xstate.h"

#include "isa/x86_64/helpers/helpers_host.h"
#include "run/client/core/client.h"
#include "run/client/memory/space.h"
#include "x86_registers.h"

enum {
    FX_BYTES = 512,
    HEADER_BYTES = 64,
    SOFTWARE_AT = 464,
    MXCSR_INITIAL = 0x1f80,
    CW_INITIAL = 0x37f,
    MXCSR_MASK_INITIAL = 0xffbf
};
enum {
    MAGIC_FIRST = 0x46505853,
    MAGIC_SECOND = 0x46505845,
    MAGIC_BYTES = 4,
    STATUS_TOP = 0x3800,
    STATUS_TOP_SHIFT = 11
};

/* Numbers of components, and the bits of some. */
enum { AVX = 2, OPMASK = 5, ZMM_HIGH = 6, ZMM_16_31 = 7, COMPONENTS = 63 };
enum { X87 = 1 << 0, SSE = 1 << 1, PROTECTION_KEYS = 1 << 9, TILES = 3 << 17 };
#define UNKNOWN (~(u64)0)

typedef struct Software { /* struct _fpx_sw_bytes */
    u32 magic, extended_bytes;
    u64 features;
    u32 bytes, reserved[7];
} Software;

typedef struct Area {
    u16 cw, sw;
    u8 tag, reserved0;
    u16 opcode;
    u64 ip, dp;
    u32 mxcsr, mxcsr_mask;
    u8 st[8][16], xmm[16][16], reserved1[48];
    Software software;
    u64 in_use, layout, reserved2[6]; /* header of xsave */
} __attribute__((aligned(XSTATE_ALIGN))) Area;

_Static_assert(sizeof(Area) == FX_BYTES + HEADER_BYTES && offsetof(Area, software) == SOFTWARE_AT, "SDM 1, 13.4");

static const Area initial = {.cw = CW_INITIAL, .mxcsr = MXCSR_INITIAL};

/* ------------------------------------------------------------------------------------------------------------ the host */

/* Tiles are in frames only after the kernel has granted them to the guest. */
static u64 without_refused(u64 components) {
    u64 permitted = components & TILES ? host_permitted_components() : 0;
    return components & (permitted | ~(u64)TILES);
}

u64 xstate_features(void) {
    static u64 enabled = UNKNOWN;
    u64 now = __atomic_load_n(&enabled, __ATOMIC_RELAXED);
    if (now == UNKNOWN)
        __atomic_store_n(&enabled, now = host_kept_components(), __ATOMIC_RELAXED);
    return without_refused(now);
}

/* Where the components are in an area, and its size. */
typedef struct Layout {
    u64 components; /* the components that this layout is for */
    u32 bytes, offset[ZMM_16_31 + 1];
} Layout;

static void measure(Layout *l, u64 components) {
    u32 r[CPUID_WORDS];
    l->bytes = sizeof(Area);
    for (u32 i = AVX; i < COMPONENTS; i++) {
        if (!(components >> i & 1))
            continue;
        host_cpuid(0xd, i, r);
        u32 bytes = r[CPUID_EAX], offset = r[CPUID_EBX];
        l->bytes = offset + bytes > l->bytes ? offset + bytes : l->bytes;
        if (i <= ZMM_16_31)
            l->offset[i] = offset;
    }
}

/* Threads that compute the layout at the same time all get the same result. */
static const Layout *layout_of(u64 components) {
    static Layout layout;
    if (__atomic_load_n(&layout.components, __ATOMIC_ACQUIRE) != components) {
        measure(&layout, components);
        __atomic_store_n(&layout.components, components, __ATOMIC_RELEASE);
    }
    return &layout;
}

u32 xstate_size(void) {
    u64 components = xstate_features();
    return components ? layout_of(components)->bytes + MAGIC_BYTES : sizeof(Area);
}

/* ------------------------------------------------------------------------------------------- registers of LatheX86Cpu */

/* A component consists of `count` pieces of the guest's state. */
typedef struct Pieces {
    u8 component, count;
    u16 at, size, stride;
} Pieces;

static const Pieces pieces[] = {
    {AVX, 16, offsetof(LatheX86Cpu, vec) + 16, 16, 64},
    {OPMASK, 8, offsetof(LatheX86Cpu, k), 8, 8},
    {ZMM_HIGH, 16, offsetof(LatheX86Cpu, vec) + 32, 32, 64},
    {ZMM_16_31, 16, offsetof(LatheX86Cpu, vec) + 16 * 64, 64, 64},
};

/* The oldest CPUs do not tell which bits mxcsr has. */
static u32 mxcsr_mask(void) {
    u32 mask = x86_host_mxcsr_mask();
    return mask ? mask : MXCSR_MASK_INITIAL;
}

/* Where the host has an mxcsr of its own, that is the guest's even in C code of the client, because the client never computes with floating point. */
static void save_legacy(const LatheX86Cpu *c, Area *a) {
    *a = (Area){.cw = c->fpu_cw, .tag = c->fpu_tag, .opcode = c->fpu_opcode, .ip = c->fpu_ip, .dp = c->fpu_dp};
    a->sw = (u16)((c->fpu_sw & ~STATUS_TOP) | (c->fpu_top & 7) << STATUS_TOP_SHIFT);
    a->mxcsr = x86_host_get_mxcsr(c), a->mxcsr_mask = mxcsr_mask();
    for (u32 i = 0; i < 8; i++)
        memcpy(a->st[i], c->st[(c->fpu_top + i) & 7], 10);
    for (u32 i = 0; i < 16; i++)
        memcpy(a->xmm[i], c->vec[i], 16);
}

static void load_legacy(LatheX86Cpu *c, const Area *a) {
    c->fpu_cw = a->cw;
    c->fpu_sw = a->sw & (u16)~STATUS_TOP;
    c->fpu_top = a->sw >> STATUS_TOP_SHIFT & 7;
    c->fpu_tag = a->tag;
    c->fpu_opcode = a->opcode;
    c->fpu_ip = a->ip, c->fpu_dp = a->dp;
    c->mxcsr = a->mxcsr;
    x86_host_set_mxcsr(c, a->mxcsr);
    for (u32 i = 0; i < 8; i++)
        memcpy(c->st[(c->fpu_top + i) & 7], a->st[i], 10);
    for (u32 i = 0; i < 16; i++)
        memcpy(c->vec[i], a->xmm[i], 16);
}

static void save_cpu(const LatheX86Cpu *c, Area *a, u64 components) {
    save_legacy(c, a);
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        const Pieces *p = &pieces[i];
        if (!(components >> p->component & 1))
            continue;
        u8 *to = (u8 *)a + layout_of(components)->offset[p->component];
        for (u32 k = 0; k < p->count; k++)
            memcpy(to + k * p->size, (const u8 *)c + p->at + k * p->stride, p->size);
        a->in_use |= (u64)1 << p->component;
    }
}

/* in_area: the components that are in the area; the others get the values they have after exec. */
static void load_cpu(LatheX86Cpu *c, const Area *a, u64 in_area) {
    Area legacy = *a;
    if (!(in_area & X87))
        memcpy(&legacy, &initial, offsetof(Area, mxcsr)), memset(legacy.st, 0, sizeof(legacy.st));
    if (!(in_area & SSE))
        memset(legacy.xmm, 0, sizeof(legacy.xmm));
    load_legacy(c, &legacy);
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        const Pieces *p = &pieces[i];
        const u8 *from =
            in_area >> p->component & 1 ? (const u8 *)a + layout_of(xstate_features())->offset[p->component] : NULL;
        for (u32 k = 0; k < p->count; k++) {
            u8 *to = (u8 *)c + p->at + k * p->stride;
            from ? memcpy(to, from + k * p->size, p->size) : memset(to, 0, p->size);
        }
    }
}

/* -------------------------------------------------------------------------------------------------- the host's registers */

static void save_host(Area *a, u64 components) {
    memset(a, 0, sizeof(*a));
    if (components)
        host_save_components(a, components);
    else
        host_save_legacy(a);
}

static void load_components(const Area *a, u64 components) {
    host_load_components(a, components & ~(u64)PROTECTION_KEYS);
}

static void load_host(const Area *a, u64 in_area) {
    u64 components = xstate_features();
    if (!components) {
        host_load_legacy(a);
        return;
    }
    load_components(&initial, components & ~in_area);
    load_components(a, in_area);
}

/* --------------------------------------------------------------------------------------------------------------- areas */

void xstate_save(const LatheX86Cpu *cpu, void *area) {
    u64 components = xstate_features();
    u32 magic = MAGIC_SECOND;
    Area *a = area;
    if (cpu)
        save_cpu(cpu, a, components);
    else
        save_host(a, components);
    if (!components)
        return;
    u32 bytes = layout_of(components)->bytes;
    a->in_use |= X87 | SSE; /* always set, as the kernel does, whatever the CPU says */
    a->software = (Software){MAGIC_FIRST, bytes + MAGIC_BYTES, components, bytes, {0}};
    memcpy((u8 *)a + bytes, &magic, sizeof(magic));
}

/* True if an area, of which `bytes` could be read, has the format of xsave; in_area is then the components in it.
 * Otherwise it has the format of fxsave. */
static bool is_extended(const u8 *area, size_t bytes, u64 components, u64 *in_area) {
    Software s;
    u32 magic = 0;
    memcpy(&s, area + SOFTWARE_AT, sizeof(s));
    if (!components || s.magic != MAGIC_FIRST || s.bytes < sizeof(Area) || s.bytes > s.extended_bytes ||
        (u64)s.bytes + MAGIC_BYTES > bytes)
        return false;
    memcpy(&magic, area + s.bytes, sizeof(magic));
    *in_area = s.features & components;
    return magic == MAGIC_SECOND;
}

static bool is_valid(const Area *a, u64 components) {
    u64 wrong = a->layout | (a->in_use & ~components) | (a->mxcsr & ~mxcsr_mask());
    for (size_t i = 0; i < ARRAY_LEN(a->reserved2); i++)
        wrong |= a->reserved2[i];
    return !wrong;
}

bool xstate_load(LatheX86Cpu *cpu, u64 area) {
    u64 components = xstate_features(), in_area;
    u8 copy[xstate_size()] __attribute__((aligned(XSTATE_ALIGN)));
    Area *a = (Area *)copy;
    memset(copy, 0, sizeof(copy));
    size_t bytes = guest_read(area, copy, sizeof(copy));
    if (bytes < FX_BYTES)
        return false;
    if (!is_extended(copy, bytes, components, &in_area)) {
        memset(copy + FX_BYTES, 0, HEADER_BYTES);
        in_area = a->in_use = X87 | SSE;
    }
    if (!is_valid(a, components | X87 | SSE))
        return false;
    if (cpu)
        load_cpu(cpu, a, in_area & a->in_use);
    else
        load_host(a, in_area);
    return true;
}

u32 xstate_upper_halves(void) {
    u64 components = xstate_features();
    return components >> AVX & 1 ? layout_of(components)->offset[AVX] : 0;
}

bool xstate_put(LatheX86Cpu *cpu, void *area) {
    Area *a = area;
    u64 components = xstate_features();
    a->in_use |= components & (u64)1 << AVX;
    if (!is_valid(a, components | X87 | SSE))
        return false;
    if (cpu)
        load_cpu(cpu, a, a->in_use);
    else
        load_host(a, a->in_use);
    return true;
}

void xstate_move_to_host(const LatheX86Cpu *cpu) {
    u64 components = xstate_features();
    u8 area[xstate_size()] __attribute__((aligned(XSTATE_ALIGN)));
    memset(area, 0, sizeof(area));
    save_cpu(cpu, (Area *)area, components);
    ((Area *)area)->in_use |= X87 | SSE;
    load_host((Area *)area, ((Area *)area)->in_use);
}

void xstate_reset(LatheX86Cpu *cpu) {
    if (cpu)
        load_cpu(cpu, &initial, 0);
    else
        load_host(&initial, 0);
}
