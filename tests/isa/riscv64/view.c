/* view.c: what a tool sees of some riscv64 instructions (isa/view.h), by hand. isa-effects compares accesses, registers and control with lifted
 * code; classes and names are here only. Prints the time that a view takes. */
#include "isa/riscv64/riscv64.h"

#include <stdio.h>
#include <time.h>

typedef struct Case {
    u32 word;
    const char *name;
    u16 classes;
    u32 reads, writes;
} Case;

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

static u64 cpu_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
}

static bool check(const Case *c) {
    InsnView v = {0};
    bool known = rv_view((const u8 *)&c->word, sizeof(c->word), 0x1000, &v);
    if (known && !strcmp(rv_opcode_name(v.opcode), c->name) && v.classes == c->classes && v.reads == c->reads &&
        v.writes == c->writes && v.kills == (c->writes == ALL ? 0 : c->writes))
        return true;
    printf("%08x: %s, classes %#x, reads %#x, writes %#x instead of %s, %#x, %#x, %#x\n", c->word,
           rv_opcode_name(v.opcode), v.classes, v.reads, v.writes, c->name, c->classes, c->reads, c->writes);
    return false;
}

int main(void) {
    enum { ROUNDS = 20000 };
    size_t failures = 0;
    InsnView v;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        failures += !check(&cases[i]);
    u64 start = cpu_ns();
    for (size_t i = 0; i < ROUNDS * ARRAY_LEN(cases); i++)
        failures += !rv_view((const u8 *)&cases[i % ARRAY_LEN(cases)].word, 4, i, &v);
    printf("%.1f ns each\n", (double)(cpu_ns() - start) / (ROUNDS * ARRAY_LEN(cases)));
    printf("%zu failures\n", failures);
    return failures != 0;
}
