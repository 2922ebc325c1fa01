/* guest.c: the aarch64 guest's registers as text, and its instructions' names. */
#include <fenv.h>

#include "emulator.h"
#include "isa/aarch64/aarch64.h"
#include "isa/aarch64/encoding.h"
#include "isa/aarch64/helpers_host.h"
#include "oracle.h"
#include "state_text.h"

// clang-format off
const Field guest_fields[] = {
    FIELD("pc", pc), FIELD("sp", sp),
    FIELD("x0", x[0]),   FIELD("x1", x[1]),   FIELD("x2", x[2]),   FIELD("x3", x[3]),   FIELD("x4", x[4]),   FIELD("x5", x[5]),
    FIELD("x6", x[6]),   FIELD("x7", x[7]),   FIELD("x8", x[8]),   FIELD("x9", x[9]),   FIELD("x10", x[10]), FIELD("x11", x[11]),
    FIELD("x12", x[12]), FIELD("x13", x[13]), FIELD("x14", x[14]), FIELD("x15", x[15]), FIELD("x16", x[16]), FIELD("x17", x[17]),
    FIELD("x18", x[18]), FIELD("x19", x[19]), FIELD("x20", x[20]), FIELD("x21", x[21]), FIELD("x22", x[22]), FIELD("x23", x[23]),
    FIELD("x24", x[24]), FIELD("x25", x[25]), FIELD("x26", x[26]), FIELD("x27", x[27]), FIELD("x28", x[28]), FIELD("x29", x[29]),
    FIELD("x30", x[30]),
    FIELD_LIMITED("n", n, 1, false), FIELD_LIMITED("z", z, 1, false), FIELD_LIMITED("c", c, 1, false), FIELD_LIMITED("v", v, 1, false),
    FIELD("fpcr", fpcr), FIELD("fpsr", fpsr), FIELD("tpidr", tpidr),
};
// clang-format on
const size_t guest_field_count = ARRAY_LEN(guest_fields);

/* v0=…, as vectors of other guests are written: hexadecimal digits, or a list; what is not given is zero. */
bool guest_assign(Parse *p) {
    unsigned no;
    if (!parse_numbered(p->name, "v", 32, &no))
        return parse_fail(p, "there is no state called '%s'", p->name);
    u8 *at = p->s->cpu.vec[no];
    return parse_is_open(p) ? parse_open(p, at, 16) : parse_wide(p, at, 16);
}

void guest_changes(Out *o, const GuestCpu *from, const GuestCpu *to, const GuestCpu *ignore) {
    for (unsigned i = 0; i < 32; i++)
        if (out_differing(from->vec[i], to->vec[i], ignore->vec[i], 16))
            out_number(o, "v", i, to->vec[i], 16, 2);
}

void guest_default(GuestCpu *c) {
    for (unsigned i = 0; i < 31; i++)
        c->x[i] = guest_mix(i);
    c->sp = STATE_MEMORY + 0x800;
    c->tpidr = STATE_MEMORY + 0x400;
    for (unsigned i = 0; i < 32; i++) {
        u64 low = guest_mix(0x100 + i), high = guest_mix(0x200 + i);
        memcpy(c->vec[i], &low, 8);
        memcpy(c->vec[i] + 8, &high, 8);
    }
    c->reserved_address = ~(u64)0;
}

const char *guest_directive(const char *insns) {
    (void)insns;
    return "";
}

void guest_open(const Case *c, const State *initial, State *ignore) {
    (void)c, (void)initial;
    oracle_limits(ignore);
}

static bool is_fast(const Case *c) {
    LatheSupport row = {0};
    u32 word = 0;
    bool fast = false;
    for (size_t i = 0; i + 4 <= c->size; i += 4) {
        memcpy(&word, c->code + i, 4);
        u32 no = a64_find_row(word);
        bool known = no && isa_aarch64.support(NULL, no - 1, &row);
        fast |= known && row.deviation && !strncmp(row.deviation, "fast floating point", 19);
    }
    return fast;
}

static bool is_nan(u64 bits, u32 width) {
    u64 infinity = width == 64 ? (u64)0x7ff << 52 : (u64)0xff << 23;
    return (bits & ~((u64)1 << (width - 1))) > infinity;
}

/* With all modes as they are at first, the flags and which NaN a result is may be others. */
bool guest_settle_fast(const Case *c, const State *initial, const State *want, State *got) {
    if (!is_fast(c))
        return true;
    got->cpu.fpsr = want->cpu.fpsr;
    for (u32 width = 32; width <= 64; width += 32)
        for (u32 at = 0; at < sizeof(want->cpu.vec); at += width / 8) {
            u64 bits = 0;
            memcpy(&bits, (const u8 *)want->cpu.vec + at, width / 8);
            if (is_nan(bits, width))
                memcpy((u8 *)got->cpu.vec + at, &bits, width / 8);
        }
    return !initial->cpu.fpcr;
}

const char *guest_mnemonic(const Case *c, size_t index) {
    u32 word = 0;
    if (4 * index + 4 > c->size)
        return NULL;
    memcpy(&word, c->code + 4 * index, 4);
    return a64_names[a64_find_row(word)];
}

size_t guest_check_row(const Case *c, size_t index, const LatheSupport *row) {
    (void)c, (void)index, (void)row;
    return 0;
}

/* Code that is not exact has modes and flags in the host's environment. */
static fenv_t host;

void guest_enter(GuestCpu *cpu) {
    fegetenv(&host);
    a64_host_begin(cpu->fpcr);
}

void guest_leave(GuestCpu *cpu) {
    cpu->fpsr |= a64_host_flags();
    fesetenv(&host);
}

u64 guest_segment_base(const GuestCpu *cpu, u8 seg) {
    (void)cpu, (void)seg;
    return 0;
}

void guest_reserve(GuestCpu *cpu, u64 address) {
    cpu->reserved_address = address;
}

/* With SVE the kernel's frame would be another. */
const char *const guest_cpus[] = {"max,sve=off,sme=off", "max,sve=off", "max"};
const size_t guest_cpu_count = ARRAY_LEN(guest_cpus);

/* A reservation does not show, and signals end it. */
void guest_take(GuestCpu *cpu, const GuestCpu *after) {
    GuestCpu before = *cpu;
    *cpu = *after;
    cpu->reserved_address = before.reserved_address;
    cpu->reserved_value = before.reserved_value;
    cpu->reserved_high = before.reserved_high;
}

void oracle_limits(State *ignore) {
    memset(&ignore->cpu.reserved_address, 0xff, sizeof(ignore->cpu.reserved_address));
    memset(&ignore->cpu.reserved_value, 0xff, sizeof(ignore->cpu.reserved_value));
    memset(&ignore->cpu.reserved_high, 0xff, sizeof(ignore->cpu.reserved_high));
}
