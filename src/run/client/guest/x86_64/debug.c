/* debug.c: the registers of an x86-64 guest, as gdb numbers them: the general ones, segments, x87, xmm0 to xmm15 and mxcsr, orig_rax, the bases of fs and gs, and the upper
 * halves of ymm0 to ymm15.
 *
 * Vector and floating-point registers are in the host's registers, so they are known for the thread that talks with the debugger only. */
#include "run/client/core/debug_guest.h"

#include "guest_flags.h"
#include "run/client/core/guest.h"
#include "x86_registers.h"
#include "xstate.h"

enum { GENERAL, RIP = 16, EFLAGS, CS, SS, DS, ES, FS, GS, ST, FCTRL = ST + 8, FOP = FCTRL + 7 };
enum { XMM = FOP + 1, MXCSR = XMM + 16, ORIG_RAX, FS_BASE, GS_BASE, YMMH, COUNT = YMMH + 16 };
enum { USER_CS = 0x33, USER_SS = 0x2b };
enum { ST_BYTES = 10, VECTOR_BYTES = 16 };

static const u8 order[] = {LATHE_RAX, LATHE_RBX, LATHE_RCX, LATHE_RDX, LATHE_RSI, LATHE_RDI, LATHE_RBP, LATHE_RSP,
                           LATHE_R8,  LATHE_R9,  LATHE_R10, LATHE_R11, LATHE_R12, LATHE_R13, LATHE_R14, LATHE_R15};
static const char *const names[] = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8",
                                    "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
static const char *const words[] = {"cs", "ss", "ds", "es", "fs", "gs"};
static const char *const x87_words[] = {"fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop"};

/* ------------------------------------------------------------------------------------------------------------- description */

static const char head[] = "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">"
                           "<architecture>i386:x86-64</architecture><osabi>GNU/Linux</osabi>"
                           "<feature name=\"org.gnu.gdb.i386.core\">";
static const char flags[] =
    "<flags id=\"i386_eflags\" size=\"4\"><field name=\"CF\" start=\"0\" end=\"0\"/><field name=\"\" start=\"1\" "
    "end=\"1\"/>"
    "<field name=\"PF\" start=\"2\" end=\"2\"/><field name=\"AF\" start=\"4\" end=\"4\"/><field name=\"ZF\" "
    "start=\"6\" end=\"6\"/>"
    "<field name=\"SF\" start=\"7\" end=\"7\"/><field name=\"IF\" start=\"9\" end=\"9\"/><field name=\"DF\" "
    "start=\"10\" end=\"10\"/>"
    "<field name=\"OF\" start=\"11\" end=\"11\"/></flags><reg name=\"eflags\" bitsize=\"32\" type=\"i386_eflags\"/>";
static const char vectors[] =
    "</feature><feature name=\"org.gnu.gdb.i386.sse\"><vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>"
    "<vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/><vector id=\"v16i8\" type=\"int8\" count=\"16\"/>"
    "<vector id=\"v8i16\" type=\"int16\" count=\"8\"/><vector id=\"v4i32\" type=\"int32\" count=\"4\"/>"
    "<vector id=\"v2i64\" type=\"int64\" count=\"2\"/><union id=\"vec128\"><field name=\"v4_float\" type=\"v4f\"/>"
    "<field name=\"v2_double\" type=\"v2d\"/><field name=\"v16_int8\" type=\"v16i8\"/><field name=\"v8_int16\" "
    "type=\"v8i16\"/>"
    "<field name=\"v4_int32\" type=\"v4i32\"/><field name=\"v2_int64\" type=\"v2i64\"/><field name=\"uint128\" "
    "type=\"uint128\"/></union>";
static const char system_registers[] =
    "<reg name=\"mxcsr\" bitsize=\"32\" type=\"int\" group=\"vector\"/></feature><feature "
    "name=\"org.gnu.gdb.i386.linux\">"
    "<reg name=\"orig_rax\" bitsize=\"64\" type=\"int\"/></feature><feature name=\"org.gnu.gdb.i386.segments\">"
    "<reg name=\"fs_base\" bitsize=\"64\" type=\"int\"/><reg name=\"gs_base\" bitsize=\"64\" type=\"int\"/></feature>"
    "<feature name=\"org.gnu.gdb.i386.avx\">";

size_t debug_guest_describe(char *text, size_t size) {
    size_t n = format_text(text, size, "%s", head);
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        n += format_text(text + n, size - n, "<reg name=\"%s\" bitsize=\"64\" type=\"%s\"/>", names[i],
                         i == RIP           ? "code_ptr"
                         : i == 6 || i == 7 ? "data_ptr"
                                            : "int64");
    n += format_text(text + n, size - n, "%s", flags);
    for (u32 i = 0; i < ARRAY_LEN(words); i++)
        n += format_text(text + n, size - n, "<reg name=\"%s\" bitsize=\"32\" type=\"int32\"/>", words[i]);
    for (u32 i = 0; i < 8; i++)
        n += format_text(text + n, size - n, "<reg name=\"st%u\" bitsize=\"80\" type=\"i387_ext\"/>", i);
    for (u32 i = 0; i < ARRAY_LEN(x87_words); i++)
        n += format_text(text + n, size - n, "<reg name=\"%s\" bitsize=\"32\" type=\"int\" group=\"float\"/>",
                         x87_words[i]);
    n += format_text(text + n, size - n, "%s", vectors);
    for (u32 i = 0; i < 16; i++)
        n += format_text(text + n, size - n, "<reg name=\"xmm%u\" bitsize=\"128\" type=\"vec128\"/>", i);
    n += format_text(text + n, size - n, "%s", system_registers);
    for (u32 i = 0; i < 16; i++)
        n += format_text(text + n, size - n, "<reg name=\"ymm%uh\" bitsize=\"128\" type=\"uint128\"/>", i);
    return n + format_text(text + n, size - n, "</feature></target>");
}

u32 debug_guest_register_bytes(u32 number) {
    if (number <= RIP || (number >= ORIG_RAX && number <= GS_BASE))
        return sizeof(u64);
    if (number < ST || (number >= FCTRL && number <= FOP) || number == MXCSR)
        return sizeof(u32);
    return number < FCTRL ? ST_BYTES : number < COUNT ? VECTOR_BYTES : 0;
}

/* ------------------------------------------------------------------------------------------------------------------ values */

/* The offset of a register in an area as xsave writes it (SDM 1, 13.4); 0: the register is not there in one piece. */
static u32 place_in_area(u32 number) {
    enum { MXCSR_AT = 24, ST_AT = 32, XMM_AT = 160 };
    if (number >= ST && number < FCTRL)
        return ST_AT + 16 * (number - ST);
    if (number >= XMM && number < MXCSR)
        return XMM_AT + 16 * (number - XMM);
    if (number == MXCSR)
        return MXCSR_AT;
    u32 upper = xstate_upper_halves();
    return upper && number >= YMMH && number < COUNT ? upper + 16 * (number - YMMH) : 0;
}

/* The words of x87, from those at the beginning of the area: cw, sw, the short tag, opcode, the addresses. */
static u32 x87_word(const u8 *area, u32 number) {
    u16 w[12];
    memcpy(w, area, sizeof(w));
    u32 tags = 0;
    for (u32 i = 0; i < 8; i++)
        tags |= w[2] >> i & 1 ? 0 : 3u << 2 * i;
    const u32 values[] = {w[0], w[1], tags, 0, w[4] | (u32)w[5] << 16, 0, w[8] | (u32)w[9] << 16, w[3]};
    return values[number - FCTRL];
}

static bool get_from_area(const Thread *t, u32 number, u8 *value) {
    u8 area[xstate_size()] __attribute__((aligned(XSTATE_ALIGN)));
    u32 at = place_in_area(number);
    xstate_save(t->tier.optimised ? &t->cpu : NULL, area);
    if (number >= FCTRL && number <= FOP) {
        u32 word = x87_word(area, number);
        memcpy(value, &word, sizeof(word));
    } else if (at) {
        memcpy(value, area + at, debug_guest_register_bytes(number));
    }
    return at || number <= FOP;
}

static bool set_in_area(Thread *t, u32 number, const u8 *value) {
    u8 area[xstate_size()] __attribute__((aligned(XSTATE_ALIGN)));
    u32 at = place_in_area(number);
    if (!at)
        return false;
    xstate_save(t->tier.optimised ? &t->cpu : NULL, area);
    memcpy(area + at, value, debug_guest_register_bytes(number));
    return xstate_put(t->tier.optimised ? &t->cpu : NULL, area);
}

static u64 fs_base(const Thread *t, bool self) {
    return self && !t->tier.optimised ? host_fs_base() : t->cpu.fsbase;
}

/* The flags of this thread are in its `cpu`; others have them where they left quick code. */
static u64 plain_value(const Thread *t, bool self, u32 number) {
    switch (number) {
    case RIP:
        return t->cpu.pc;
    case EFLAGS:
        return self ? frame_flags(&t->cpu) : t->quick.flags & UINT32_MAX;
    case CS:
        return USER_CS;
    case SS:
        return USER_SS;
    case ORIG_RAX:
        return ~(u64)0; /* no system call is to be made again */
    case FS_BASE:
        return fs_base(t, self);
    case GS_BASE:
        return t->cpu.gsbase;
    default:
        return number < RIP ? t->cpu.gp[order[number]] : 0;
    }
}

static bool is_in_area(u32 number) {
    return number >= ST && number != ORIG_RAX && number != FS_BASE && number != GS_BASE;
}

bool debug_guest_get(Thread *t, bool self, u32 number, u8 *value) {
    if (is_in_area(number))
        return (self || t->tier.optimised) && get_from_area(t, number, value);
    if (number == FS_BASE && !self)
        return false;
    u64 v = plain_value(t, self, number);
    memcpy(value, &v, debug_guest_register_bytes(number));
    return true;
}

/* Segment registers cannot be changed. */
bool debug_guest_set(Thread *t, bool self, u32 number, const u8 *value) {
    u64 v = 0;
    if (is_in_area(number))
        return (self || t->tier.optimised) && set_in_area(t, number, value);
    memcpy(&v, value, debug_guest_register_bytes(number));
    if (number < RIP)
        t->cpu.gp[order[number]] = v;
    else if (number == RIP)
        t->cpu.pc = v;
    else if (number == EFLAGS)
        frame_set_flags(&t->cpu, t->quick.flags = v);
    return true;
}

u32 debug_guest_breakpoint(u32 kind, u8 bytes[DEBUG_BREAK_MOST]) {
    (void)kind;
    bytes[0] = 0xcc;
    return 1;
}
