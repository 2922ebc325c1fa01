/* view_cases.h: riscv64 instructions for view.c: word, name, classes, registers read and written. */
#ifndef ISA_RISCV64_VIEW_CASES_H
#define ISA_RISCV64_VIEW_CASES_H

#define X(n) ((u32)1 << (n))
#define ALL 0xfffffffe

// clang-format off
static const Case cases[] = {
    {0x00c58533, "add",         CLASS_INTEGER,                             X(11) | X(12), X(10)},
    {0x852e,     "c.mv",        CLASS_INTEGER,                             X(11),         X(10)},
    {0x00000013, "addi",        0,                                         0,             0},     /* nop */
    {0x00052503, "lw",          CLASS_INTEGER | CLASS_LOAD,                X(10),         X(10)},
    {0xe42e,     "c.sdsp",      CLASS_INTEGER | CLASS_STORE,               X(2) | X(11),  0},
    {0x02c5f553, "fadd.d",      CLASS_FLOAT,                               0,             0},
    {0x00053507, "fld",         CLASS_FLOAT | CLASS_LOAD,                  X(10),         0},
    {0xd2050553, "fcvt.d.w",    CLASS_FLOAT,                               X(10),         0},
    {0x00c5a52f, "amoadd.w",    CLASS_INTEGER | CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC, X(11) | X(12), X(10)},
    {0x1005a52f, "lr.w",        CLASS_INTEGER | CLASS_LOAD | CLASS_ATOMIC, X(11),         X(10)},
    {0x18c5a52f, "sc.w",        CLASS_INTEGER | CLASS_STORE | CLASS_ATOMIC, X(11) | X(12), X(10)},
    {0x0ff0000f, "fence",       CLASS_ATOMIC,                              0,             0},
    {0x0000100f, "fence.i",     CLASS_ATOMIC,                              0,             0},
    {0x00b50463, "beq",         CLASS_BRANCH,                              X(10) | X(11), 0},
    {0x0080006f, "jal",         CLASS_JUMP,                                0,             0},
    {0x008000ef, "jal",         CLASS_CALL,                                0,             X(1)},
    {0x8082,     "c.jr",        CLASS_RETURN,                              X(1),          0},
    {0x8502,     "c.jr",        CLASS_JUMP,                                X(10),         0},
    {0x00000073, "ecall",       CLASS_SYSTEM,                              ALL,           ALL},
    {0x00100073, "ebreak",      CLASS_SYSTEM,                              ALL,           ALL},
    {0x00302573, "csrrs",       CLASS_SYSTEM,                              0,             X(10)},
};
// clang-format on

#endif
