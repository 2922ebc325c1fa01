/* xstate.c: see xstate.h.
 *
 * An area begins as fxsave writes it. In its last 48 bytes, which are free for software, the kernel says how much follows: xsave's
 * header and the components that the host has, each where CPUID puts it, and a second magic number behind them. A handler that finds
 * both numbers may read and change all of it; without them, and without the header's bit of a component, a component is
 * as after exec.
 *
 * Protection keys are a component, too, and stay what they are: they would lock the client out of its own memory. */
#include "xstate.h"

#include <asm/prctl.h>

#include "run/client/sys.h"

enum { FX_BYTES = 512, HEADER_BYTES = 64, SOFTWARE_AT = 464, MXCSR_INITIAL = 0x1f80, CW_INITIAL = 0x37f, MXCSR_MASK_INITIAL = 0xffbf };
enum { MAGIC_FIRST = 0x46505853, MAGIC_SECOND = 0x46505845, MAGIC_BYTES = 4 };

/* Bits of components. */
enum { X87 = 1 << 0, SSE = 1 << 1, PROTECTION_KEYS = 1 << 9, TILES = 3 << 17 };
enum { FIRST_EXTENDED = 2, COMPONENTS = 63 };
#define UNKNOWN (~(u64)0)

typedef struct Software { /* struct _fpx_sw_bytes */
    u32 magic, extended_bytes;
    u64 features;
    u32 bytes, reserved[7];
} Software;

typedef struct Area {
    u16 cw, sw, tag, opcode;
    u64 ip, dp;
    u32 mxcsr, mxcsr_mask;
    u8 registers[SOFTWARE_AT - 32];
    Software software;
    u64 in_use, layout, reserved[6]; /* xsave's header */
} __attribute__((aligned(XSTATE_ALIGN))) Area;

_Static_assert(sizeof(Area) == FX_BYTES + HEADER_BYTES && offsetof(Area, software) == SOFTWARE_AT, "SDM 1, 13.4");

/* ----------------------------------------------------------------------------------------------------------- the host */

static void ask(u32 leaf, u32 sub, u32 r[4]) {
    __asm__ volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(sub));
}

static u64 enabled_components(void) {
    enum { OSXSAVE = 1 << 27 };
    u32 r[4], low, high;
    ask(1, 0, r);
    if (!(r[2] & OSXSAVE))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (u64)high << 32 | low;
}

/* Tiles are in frames once the guest has been given them. */
static u64 without_refused(u64 components) {
    u64 permitted = 0;
    if (components & TILES)
        sys_arch_prctl(ARCH_GET_XCOMP_PERM, (u64)&permitted);
    return components & (permitted | ~(u64)TILES);
}

/* The components of areas; 0: the host has no xsave. */
static u64 features(void) {
    static u64 enabled = UNKNOWN;
    u64 now = __atomic_load_n(&enabled, __ATOMIC_RELAXED);
    if (now == UNKNOWN)
        __atomic_store_n(&enabled, now = enabled_components(), __ATOMIC_RELAXED);
    return without_refused(now);
}

static u32 measure(u64 components) {
    u32 bytes = sizeof(Area), r[4];
    for (u32 i = FIRST_EXTENDED; i < COMPONENTS; i++)
        if (components >> i & 1) {
            ask(0xd, i, r);
            bytes = r[0] + r[1] > bytes ? r[0] + r[1] : bytes;
        }
    return bytes;
}

/* Of xsave's part; threads that ask at the same time get the same answer. */
static u32 extended_bytes(u64 components) {
    static u64 measured;
    static u32 bytes;
    if (__atomic_load_n(&measured, __ATOMIC_ACQUIRE) != components) {
        bytes = measure(components);
        __atomic_store_n(&measured, components, __ATOMIC_RELEASE);
    }
    return bytes;
}

bool xstate_is_extended(void) {
    return features();
}

u32 xstate_size(void) {
    u64 components = features();
    return components ? extended_bytes(components) + MAGIC_BYTES : FX_BYTES;
}

/* ------------------------------------------------------------------------------------------------------------- saving */

static void save_extended(Area *a, u64 components) {
    u32 bytes = extended_bytes(components), magic = MAGIC_SECOND;
    memset(a, 0, sizeof(*a));
    __asm__ volatile("xsave64 %0" : "+m"(*a) : "a"((u32)components), "d"((u32)(components >> 32)) : "memory");
    a->in_use |= X87 | SSE; /* whatever the CPU says, as the kernel does it */
    a->software = (Software){MAGIC_FIRST, bytes + MAGIC_BYTES, components, bytes, {0}};
    memcpy((u8 *)a + bytes, &magic, sizeof(magic));
}

void xstate_save(void *area) {
    u64 components = features();
    if (components) {
        save_extended(area, components);
    } else {
        memset(area, 0, FX_BYTES);
        __asm__ volatile("fxsave64 %0" : "+m"(*(u8(*)[FX_BYTES])area));
    }
}

/* ------------------------------------------------------------------------------------------------------------ loading */

/* What is not in the area is as after exec. */
static void load_components(const Area *a, u64 components) {
    components &= ~(u64)PROTECTION_KEYS;
    __asm__ volatile("xrstor64 %0" : : "m"(*a), "a"((u32)components), "d"((u32)(components >> 32)) : "memory");
}

static bool is_valid_mxcsr(u32 mxcsr) {
    Area now;
    __asm__ volatile("fxsave64 %0" : "=m"(now));
    return !(mxcsr & ~(now.mxcsr_mask ? now.mxcsr_mask : MXCSR_MASK_INITIAL));
}

static bool is_valid_header(const Area *a, u64 components) {
    u64 any = a->layout | (a->in_use & ~components);
    for (size_t i = 0; i < ARRAY_LEN(a->reserved); i++)
        any |= a->reserved[i];
    return !any;
}

/* How many bytes of an area are xsave's; 0: it is fxsave's. */
static u32 bytes_of(const u8 *area, u64 components, u64 *in_area) {
    Software s;
    u32 magic = 0;
    memcpy(&s, area + SOFTWARE_AT, sizeof(s));
    if (!components || s.magic != MAGIC_FIRST || s.bytes < sizeof(Area) || s.bytes > extended_bytes(components) ||
        s.bytes > s.extended_bytes)
        return 0;
    memcpy(&magic, area + s.bytes, sizeof(magic));
    *in_area = s.features & components;
    return magic == MAGIC_SECOND ? s.bytes : 0;
}

static const Area initial = {.cw = CW_INITIAL, .mxcsr = MXCSR_INITIAL};

static bool load_extended(const u8 *area, u32 bytes, u64 in_area, u64 components) {
    u8 copy[extended_bytes(components)] __attribute__((aligned(XSTATE_ALIGN)));
    Area *a = (Area *)copy;
    memset(copy, 0, sizeof(copy));
    memcpy(copy, area, bytes);
    if (!is_valid_header(a, components) || !is_valid_mxcsr(a->mxcsr))
        return false;
    load_components(&initial, components & ~in_area);
    load_components(a, in_area);
    return true;
}

static bool load_plain(const u8 *area, u64 components) {
    Area copy = initial;
    memcpy(&copy, area, FX_BYTES);
    if (!is_valid_mxcsr(copy.mxcsr))
        return false;
    if (components)
        load_components(&initial, components & ~(u64)(X87 | SSE));
    __asm__ volatile("fxrstor64 %0" : : "m"(copy));
    return true;
}

bool xstate_load(const void *area) {
    u64 components = features(), in_area = 0;
    u32 bytes = bytes_of(area, components, &in_area);
    return bytes ? load_extended(area, bytes, in_area, components) : load_plain(area, components);
}

void xstate_reset(void) {
    load_plain((const u8 *)&initial, features());
}
