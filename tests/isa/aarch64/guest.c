/* guest.c: the aarch64 guest's registers as text, and its instructions' names. */
#include "emulator.h"
#include "isa/aarch64/encoding.h"
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

/* All of the guest's state is in *cpu. */
void guest_enter(GuestCpu *cpu) {
    (void)cpu;
}

void guest_leave(GuestCpu *cpu) {
    (void)cpu;
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
