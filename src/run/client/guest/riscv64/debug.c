/* debug.c: the registers of a riscv64 guest, as gdb numbers them: x0 to x31, pc, f0 to f31, fflags, frm, fcsr. */
#include "run/client/core/debug_guest.h"

#include "isa/riscv64/helpers_host.h"
#include "run/client/core/guest.h"

enum { X = 0, PC = 32, F = 33, FFLAGS = 65, FRM, FCSR, COUNT };

static const char *const names[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
                                    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static const char *const float_names[] = {
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
    "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};
static const char *const control_names[] = {"fflags", "frm", "fcsr"};

size_t debug_guest_describe(char *text, size_t size) {
    size_t n = format_text(
        text, size,
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">"
        "<architecture>riscv:rv64</architecture><osabi>GNU/Linux</osabi><feature name=\"org.gnu.gdb.riscv.cpu\">");
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        n += format_text(text + n, size - n, "<reg name=\"%s\" bitsize=\"64\" type=\"%s\"/>", names[i],
                         i == REG_RA   ? "code_ptr"
                         : i == REG_SP ? "data_ptr"
                                       : "int");
    n += format_text(
        text + n, size - n,
        "<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\"/></feature><feature name=\"org.gnu.gdb.riscv.fpu\">"
        "<union id=\"riscv_double\"><field name=\"float\" type=\"ieee_single\"/><field name=\"double\" "
        "type=\"ieee_double\"/></union>");
    for (u32 i = 0; i < ARRAY_LEN(float_names); i++)
        n += format_text(text + n, size - n, "<reg name=\"%s\" bitsize=\"64\" type=\"riscv_double\"/>", float_names[i]);
    for (u32 i = 0; i < ARRAY_LEN(control_names); i++)
        n += format_text(text + n, size - n, "<reg name=\"%s\" bitsize=\"32\" type=\"int\"/>", control_names[i]);
    return n + format_text(text + n, size - n, "</feature></target>");
}

u32 debug_guest_register_bytes(u32 number) {
    return number < FFLAGS ? sizeof(u64) : number < COUNT ? sizeof(u32) : 0;
}

/* Exceptions that instructions have raised may still be in the host's registers, which can be read for this thread only. */
static u32 get_control(const GuestCpu *c, bool self, u32 number) {
    u32 flags = c->fflags | (self ? rv_host_flags() : 0);
    return number == FFLAGS ? flags : number == FRM ? c->frm : (u32)c->frm << 5 | flags;
}

bool debug_guest_get(Thread *t, bool self, u32 number, u8 *value) {
    const GuestCpu *c = &t->cpu;
    if (number >= FFLAGS) {
        u32 control = get_control(c, self, number);
        memcpy(value, &control, sizeof(control));
        return true;
    }
    u64 v = number < PC ? c->x[number] : number == PC ? c->pc : c->f[number - F];
    memcpy(value, &v, sizeof(v));
    return true;
}

/* The rounding mode and the exceptions cannot be set, because the host's registers have a part of them. */
bool debug_guest_set(Thread *t, bool self, u32 number, const u8 *value) {
    (void)self;
    u64 v;
    if (number >= FFLAGS || number == 0)
        return number == 0;
    memcpy(&v, value, sizeof(v));
    *(number < PC ? &t->cpu.x[number] : number == PC ? &t->cpu.pc : &t->cpu.f[number - F]) = v;
    return true;
}

/* ebreak, and c.ebreak in place of a compressed instruction. */
u32 debug_guest_breakpoint(u32 kind, u8 bytes[DEBUG_BREAK_MOST]) {
    static const u8 whole[] = {0x73, 0x00, 0x10, 0x00}, compressed[] = {0x02, 0x90};
    if (kind != sizeof(whole) && kind != sizeof(compressed))
        return 0;
    memcpy(bytes, kind == sizeof(whole) ? whole : compressed, kind);
    return kind;
}
