/* view_cases.h: aarch64 instructions for view.c: word, name, classes, registers read and written. */
#ifndef ISA_AARCH64_VIEW_CASES_H
#define ISA_AARCH64_VIEW_CASES_H

#define X(n) ((u32)1 << (n))
#define ALL 0xffffffff

// clang-format off
static const Case cases[] = {
    {0x8b020020, "add_reg", CLASS_INTEGER, X(1) | X(2), X(0)}, /* add x0, x1, x2 */
    {0xf1000c3f, "subs_imm", CLASS_INTEGER, X(1), 0}, /* cmp x1, #3 */
    {0xd503201f, "hint", 0, 0, 0}, /* nop */
    {0xb8625820, "ldr_w_reg", CLASS_INTEGER | CLASS_LOAD, X(1) | X(2), X(0)}, /* ldr w0, [x1, w2, uxtw #2] */
    {0xf81f0fe0, "str_x_pre", CLASS_INTEGER | CLASS_STORE, X(0) | X(31), X(31)}, /* str x0, [sp, #-16]! */
    {0xa9400440, "ldp_x", CLASS_INTEGER | CLASS_LOAD, X(2), X(0) | X(1)}, /* ldp x0, x1, [x2] */
    {0x1e622820, "fadd", CLASS_FLOAT, 0, 0}, /* fadd d0, d1, d2 */
    {0xfd400020, "ldr_d_imm", CLASS_FLOAT | CLASS_LOAD, X(1), 0}, /* ldr d0, [x1] */
    {0x3dc00020, "ldr_q_imm", CLASS_VECTOR | CLASS_LOAD, X(1), 0}, /* ldr q0, [x1] */
    {0x4ea28420, "add_v", CLASS_VECTOR, 0, 0}, /* add v0.4s, v1.4s, v2.4s */
    {0x9e780020, "fcvtzs", CLASS_FLOAT, 0, X(0)}, /* fcvtzs x0, d1 */
    {0xf8220020, "ldadd_x", CLASS_INTEGER | CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC, X(1) | X(2), X(0)}, /* ldadd x2, x0, [x1] */
    {0x885f7c20, "ldxr_w", CLASS_INTEGER | CLASS_LOAD | CLASS_ATOMIC, X(1), X(0)}, /* ldxr w0, [x1] */
    {0x88037c20, "stxr_w", CLASS_INTEGER | CLASS_STORE | CLASS_ATOMIC, X(0) | X(1), X(3)}, /* stxr w3, w0, [x1] */
    {0xd5033bbf, "dmb", CLASS_ATOMIC, 0, 0}, /* dmb ish */
    {0xd5033fdf, "isb", CLASS_ATOMIC, 0, 0}, /* isb */
    {0x54000040, "b_cond", CLASS_BRANCH, 0, 0}, /* b.eq 8 */
    {0xb4000040, "cbz", CLASS_BRANCH, X(0), 0}, /* cbz x0, 8 */
    {0x14000002, "b", CLASS_JUMP, 0, 0}, /* b 8 */
    {0x94000002, "bl", CLASS_CALL, 0, X(30)}, /* bl 8 */
    {0xd63f0020, "blr", CLASS_CALL, X(1), X(30)}, /* blr x1 */
    {0xd65f03c0, "ret", CLASS_RETURN, X(30), 0}, /* ret */
    {0xd61f0020, "br", CLASS_JUMP, X(1), 0}, /* br x1 */
    {0xd4000001, "svc", CLASS_SYSTEM, ALL, ALL}, /* svc #0 */
    {0xd53bd040, "mrs", CLASS_SYSTEM, 0, X(0)}, /* mrs x0, tpidr_el0 */
};
// clang-format on

#endif
