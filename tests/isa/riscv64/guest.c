/* guest.c: the riscv64 guest's registers as text, and its instructions' names. */
#include "emulator.h"
#include "isa/riscv64/encoding.h"
#include "oracle.h"
#include "state_text.h"

// clang-format off
const Field guest_fields[] = {
    FIELD("pc", pc),
    FIELD("ra", x[1]),   FIELD("sp", x[2]),   FIELD("gp", x[3]),    FIELD("tp", x[4]),    FIELD("t0", x[5]),
    FIELD("t1", x[6]),   FIELD("t2", x[7]),   FIELD("s0", x[8]),    FIELD("s1", x[9]),    FIELD("a0", x[10]),
    FIELD("a1", x[11]),  FIELD("a2", x[12]),  FIELD("a3", x[13]),   FIELD("a4", x[14]),   FIELD("a5", x[15]),
    FIELD("a6", x[16]),  FIELD("a7", x[17]),  FIELD("s2", x[18]),   FIELD("s3", x[19]),   FIELD("s4", x[20]),
    FIELD("s5", x[21]),  FIELD("s6", x[22]),  FIELD("s7", x[23]),   FIELD("s8", x[24]),   FIELD("s9", x[25]),
    FIELD("s10", x[26]), FIELD("s11", x[27]), FIELD("t3", x[28]),   FIELD("t4", x[29]),   FIELD("t5", x[30]),
    FIELD("t6", x[31]),
    FIELD_LIMITED("frm", frm, 7, false), FIELD_LIMITED("fflags", fflags, 31, true),
};

/* In the order of their numbers. */
static const char *const f_names[32] = {
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",
    "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
};
// clang-format on
const size_t guest_field_count = ARRAY_LEN(guest_fields);

/* A float given as a list is boxed: ones above it. */
static bool assign_float(Parse *p, u64 *at) {
    size_t used;
    u8 bytes[8];
    if (parse_is_open(p))
        return parse_open(p, at, 8);
    memset(bytes, 0xff, 8);
    if (!parse_list(p, bytes, 8, &used) && (*p->error || !parse_wide(p, bytes, 8)))
        return false;
    memcpy(at, bytes, 8);
    return true;
}

bool guest_assign(Parse *p) {
    for (size_t i = 0; i < ARRAY_LEN(f_names); i++)
        if (!strcmp(p->name, f_names[i]))
            return assign_float(p, &p->s->cpu.f[i]);
    return parse_fail(p, "there is no state called '%s'", p->name);
}

void guest_changes(Out *o, const GuestCpu *from, const GuestCpu *to, const GuestCpu *ignore) {
    for (size_t i = 0; i < ARRAY_LEN(f_names); i++)
        if (out_differing(&from->f[i], &to->f[i], &ignore->f[i], 8))
            out(o, " %s=%016llx", f_names[i], (unsigned long long)to->f[i]);
}

void guest_default(GuestCpu *c) {
    for (unsigned i = 1; i < 32; i++)
        c->x[i] = guest_mix(i);
    c->x[2] = STATE_MEMORY + 0x800;
    for (unsigned i = 0; i < 32; i++)
        c->f[i] = guest_mix(0x100 + i);
    c->reserved_address = ~(u64)0;
}

/* Otherwise the assembler would make short instructions of the others. */
const char *guest_directive(const char *insns) {
    return strstr(insns, "c.") ? ".option rvc" : ".option norvc";
}

void guest_open(const Case *c, const State *initial, State *ignore) {
    (void)c, (void)initial;
    oracle_limits(ignore);
}

bool guest_settle_fast(const Case *c, const State *initial, const State *want, State *got) {
    return (void)c, (void)initial, (void)want, (void)got, true;
}

const char *guest_mnemonic(const Case *c, size_t index) {
    for (size_t at = 0; at + 2 <= c->size; index--) {
        u32 word = 0;
        memcpy(&word, c->code + at, c->size - at < 4 ? 2 : 4);
        u32 row = rv_find_row(word);
        if (!index)
            return rv_names[row];
        at += rv_is_short(word) ? 2 : 4;
    }
    return NULL;
}

size_t guest_check_row(const Case *c, size_t index, const LatheSupport *row) {
    (void)c, (void)index, (void)row;
    return 0;
}

static u32 host;

void guest_enter(GuestCpu *cpu) {
    host = lathe_riscv64_enter(cpu);
}

void guest_leave(GuestCpu *cpu) {
    lathe_riscv64_leave(cpu, host);
}

u64 guest_segment_base(const GuestCpu *cpu, u8 seg) {
    (void)cpu, (void)seg;
    return 0;
}

void guest_reserve(GuestCpu *cpu, u64 address) {
    cpu->reserved_address = address;
}

const char *const guest_cpus[] = {"rv64,zbkb=true,zbkx=true,zfh=true,zfa=true,zicond=true",
                                  "rv64,zbkb=true,zbkx=true,Zfh=true", "rv64,Zfh=true", "rv64"};
const size_t guest_cpu_count = ARRAY_LEN(guest_cpus);

/* A reservation does not show, and signals end it. */
void guest_take(GuestCpu *cpu, const GuestCpu *after) {
    u64 address = cpu->reserved_address, value = cpu->reserved_value;
    *cpu = *after;
    cpu->reserved_address = address;
    cpu->reserved_value = value;
}

void oracle_limits(State *ignore) {
    memset(&ignore->cpu.reserved_address, 0xff, sizeof(ignore->cpu.reserved_address));
    memset(&ignore->cpu.reserved_value, 0xff, sizeof(ignore->cpu.reserved_value));
}
