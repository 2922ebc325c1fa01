/* debug.c: the registers of an aarch64 guest, as gdb numbers them: x0 to x30, sp, pc, cpsr, v0 to v31, fpsr, fpcr, tpidr. */
#include "run/client/core/debug_guest.h"

#include "run/client/core/guest.h"

enum { X = 0, SP = 31, PC, CPSR, V, FPSR = V + 32, FPCR, TPIDR, COUNT };

static const char head[] =
    "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">"
    "<architecture>aarch64</architecture><osabi>GNU/Linux</osabi><feature name=\"org.gnu.gdb.aarch64.core\">";
static const char flags[] =
    "<reg name=\"sp\" bitsize=\"64\" type=\"data_ptr\"/><reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\"/>"
    "<flags id=\"cpsr_flags\" size=\"4\"><field name=\"V\" start=\"28\" end=\"28\"/><field name=\"C\" start=\"29\" "
    "end=\"29\"/>"
    "<field name=\"Z\" start=\"30\" end=\"30\"/><field name=\"N\" start=\"31\" end=\"31\"/></flags>"
    "<reg name=\"cpsr\" bitsize=\"32\" type=\"cpsr_flags\"/></feature>";
static const char vectors[] =
    "<feature name=\"org.gnu.gdb.aarch64.fpu\"><vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"
    "<vector id=\"v2u\" type=\"uint64\" count=\"2\"/><vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>"
    "<vector id=\"v4u\" type=\"uint32\" count=\"4\"/><vector id=\"v8u\" type=\"uint16\" count=\"8\"/>"
    "<vector id=\"v16u\" type=\"uint8\" count=\"16\"/><vector id=\"v1u\" type=\"uint128\" count=\"1\"/>"
    "<union id=\"vnd\"><field name=\"f\" type=\"v2d\"/><field name=\"u\" type=\"v2u\"/></union>"
    "<union id=\"vns\"><field name=\"f\" type=\"v4f\"/><field name=\"u\" type=\"v4u\"/></union>"
    "<union id=\"aarch64v\"><field name=\"d\" type=\"vnd\"/><field name=\"s\" type=\"vns\"/><field name=\"h\" "
    "type=\"v8u\"/>"
    "<field name=\"b\" type=\"v16u\"/><field name=\"q\" type=\"v1u\"/></union>";
static const char tail[] =
    "<reg name=\"fpsr\" bitsize=\"32\" type=\"int\"/><reg name=\"fpcr\" bitsize=\"32\" type=\"int\"/></feature>"
    "<feature name=\"org.gnu.gdb.aarch64.tls\"><reg name=\"tpidr\" bitsize=\"64\" "
    "type=\"data_ptr\"/></feature></target>";

size_t debug_guest_describe(char *text, size_t size) {
    size_t n = format_text(text, size, "%s", head);
    for (u32 i = 0; i < SP; i++)
        n += format_text(text + n, size - n, "<reg name=\"x%u\" bitsize=\"64\"/>", i);
    n += format_text(text + n, size - n, "%s%s", flags, vectors);
    for (u32 i = 0; i < 32; i++)
        n += format_text(text + n, size - n, "<reg name=\"v%u\" bitsize=\"128\" type=\"aarch64v\"/>", i);
    return n + format_text(text + n, size - n, "%s", tail);
}

/* The place of a register in the state; NULL: the register is not there in one piece. */
static void *place_of(GuestCpu *c, u32 number) {
    if (number < SP)
        return &c->x[number];
    if (number >= V && number < FPSR)
        return c->vec[number - V];
    return number == SP ? &c->sp : number == PC ? &c->pc : number == TPIDR ? &c->tpidr : NULL;
}

u32 debug_guest_register_bytes(u32 number) {
    if (number == CPSR || number == FPSR || number == FPCR)
        return sizeof(u32);
    return number >= V && number < FPSR ? 16 : number < COUNT ? sizeof(u64) : 0;
}

/* The value of cpsr, fpsr or fpcr. Exceptions of floating point that are still recorded in the host's registers only are missing. */
static u32 get_word(const GuestCpu *c, u32 number) {
    return number == CPSR ? guest_pstate(c) : number == FPSR ? c->fpsr : c->fpcr;
}

bool debug_guest_get(Thread *t, bool self, u32 number, u8 *value) {
    (void)self;
    const void *at = place_of(&t->cpu, number);
    u64 word = at ? 0 : get_word(&t->cpu, number);
    memcpy(value, at ? at : &word, debug_guest_register_bytes(number));
    return true;
}

bool debug_guest_set(Thread *t, bool self, u32 number, const u8 *value) {
    (void)self;
    GuestCpu *c = &t->cpu;
    void *at = place_of(c, number);
    u64 word = 0;
    memcpy(at ? at : &word, value, debug_guest_register_bytes(number));
    if (number == CPSR)
        guest_set_pstate(c, (u32)word);
    return at || number == CPSR;
}

/* brk #0 */
u32 debug_guest_breakpoint(u32 kind, u8 bytes[DEBUG_BREAK_MOST]) {
    static const u8 code[] = {0x00, 0x00, 0x20, 0xd4};
    if (kind != sizeof(code))
        return 0;
    memcpy(bytes, code, sizeof(code));
    return sizeof(code);
}
