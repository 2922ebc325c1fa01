/* flags.c: does somebody read the flags that a call has left? Compiled C does not, but there are such conventions: SBCL's functions tell
 * by the carry how many values they return. Returns that keep the flags take longer, so they are for programs that make such a
 * call. */
#include "isa/x86_64/shape.h"
#include "run/client/code/quick/above.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/quick.h"

enum { LOOK_INSNS = 8, RCL = 2, RCR = 3, ADC = 2, SBB = 3 };

static bool exact; /* returns keep the flags */

/* In the two-byte map 0F, and neither VEX nor another. */
static bool is_0f(const u8 *text, const Shape *s) {
    u32 first = 0;
    while (first < s->opcode_at && (text[first] == 0x66 || text[first] == 0xf2 || text[first] == 0xf3 || text[first] == 0x64 ||
                                    (text[first] & 0xf0) == 0x40))
        first++;
    return first + 1 == s->opcode_at && text[first] == 0x0f;
}

static bool reads_flags(const u8 *text, const Shape *s) {
    u32 op = s->opcode, group = s->modrm_at ? text[s->modrm_at] >> 3 & 7 : 0;
    if (s->kind == SHAPE_JCC)
        return true;
    if (is_0f(text, s))
        return (op & 0xf0) == 0x40 || (op & 0xf0) == 0x90; /* cmovcc, setcc */
    if (op == 0x80 || op == 0x81 || op == 0x83)
        return group == ADC || group == SBB;
    if (op == 0xc0 || op == 0xc1 || (op & 0xfc) == 0xd0)
        return group == RCL || group == RCR;
    return (op >= 0x10 && op <= 0x15) || (op >= 0x18 && op <= 0x1d) || /* adc, sbb */
           op == 0x9c || op == 0x9f || op == 0xf5 ||                   /* pushf, lahf, cmc */
           op == 0xe0 || op == 0xe1;                                   /* loopne, loope */
}

/* The moves that stand between a call and what reads its flags. */
static bool leaves_flags(const u8 *text, const Shape *s) {
    u32 op = s->opcode;
    if (s->kind != SHAPE_PLAIN)
        return false;
    if (is_0f(text, s))
        return op == 0x1f || (op & 0xfe) == 0x10 || (op & 0xfe) == 0x28 || (op & 0xf6) == 0xb6; /* nop, movups, movaps, movzx, movsx */
    return (op & 0xfc) == 0x88 || op == 0x8d || (op & 0xf0) == 0xb0 || (op & 0xf0) == 0x50 || (op & 0xfe) == 0xc6 || op == 0x63 ||
           op == 0xc9 || op == 0x90; /* mov, lea, push, pop, movsxd, leave, nop */
}

bool flags_are_read(u64 pc) {
    u64 end = pc + quick_code_bytes(pc);
    Shape s;
    for (u32 i = 0; i < LOOK_INSNS && shape_of((const u8 *)pc, end - pc, &s); i++) {
        if (reads_flags((const u8 *)pc, &s))
            return true;
        if (!leaves_flags((const u8 *)pc, &s))
            return false;
        pc += s.length;
    }
    return false;
}

void quick_keep_flags(void) {
    if (exact)
        return;
    exact = true;
    tier_stop_locked(thread_self());
    for (Thread *t = the.threads; t; t = t->next)
        quick_set_returns(t);
}

bool quick_keeps_flags(void) {
    return exact;
}
