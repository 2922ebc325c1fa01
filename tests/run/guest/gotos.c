/* gotos.c: an interpreter with computed gotos, one with a switch, and one of tail calls through a table. */
#include <stdint.h>
#include <stdio.h>

enum { PUSH, ADD, MUL, DUP, SWAP, DEC, JNZ, DROP, HALT };

/* sum = 0; for (n = 100000; n; n--) sum = sum * 3 + n */
static const int32_t program[] = {PUSH, 0,    PUSH, 100000, SWAP, PUSH, 3,   MUL,  SWAP, DUP, PUSH, 0,    ADD,
                                  SWAP, DROP, DEC,  SWAP,   PUSH, 1,    ADD, SWAP, DUP,  JNZ, 4,    DROP, HALT};

static uint64_t by_goto(const int32_t *code) {
    static const void *const labels[] = {&&push, &&add, &&mul, &&dup, &&swap, &&dec, &&jnz, &&drop, &&halt};
    uint64_t stack[16], *sp = stack, t;
    const int32_t *pc = code;
#define NEXT goto *labels[*pc++]
    NEXT;
push:
    *sp++ = (uint64_t)*pc++;
    NEXT;
add:
    sp--, sp[-1] += sp[0];
    NEXT;
mul:
    sp--, sp[-1] *= sp[0];
    NEXT;
dup:
    sp[0] = sp[-1], sp++;
    NEXT;
swap:
    t = sp[-1], sp[-1] = sp[-2], sp[-2] = t;
    NEXT;
dec:
    sp[-1]--;
    NEXT;
jnz:
    pc = *--sp ? code + *pc : pc + 1;
    NEXT;
drop:
    sp--;
    NEXT;
halt:
    return sp[-1];
#undef NEXT
}

static uint64_t by_switch(const int32_t *code) {
    uint64_t stack[16], *sp = stack, t;
    for (const int32_t *pc = code;;) {
        switch (*pc++) {
        case PUSH:
            *sp++ = (uint64_t)*pc++;
            break;
        case ADD:
            sp--, sp[-1] += sp[0];
            break;
        case MUL:
            sp--, sp[-1] *= sp[0];
            break;
        case DUP:
            sp[0] = sp[-1], sp++;
            break;
        case SWAP:
            t = sp[-1], sp[-1] = sp[-2], sp[-2] = t;
            break;
        case DEC:
            sp[-1]--;
            break;
        case JNZ:
            pc = *--sp ? code + *pc : pc + 1;
            break;
        case DROP:
            sp--;
            break;
        case HALT:
            return sp[-1];
        }
    }
}

typedef uint64_t Op(const int32_t *pc, uint64_t *sp, const int32_t *code);
static Op *const ops[];

#define GO(pc, sp) return ops[*(pc)]((pc) + 1, sp, code)
static uint64_t op_push(const int32_t *pc, uint64_t *sp, const int32_t *code) {
    *sp = (uint64_t)*pc;
    GO(pc + 1, sp + 1);
}
static uint64_t op_add(const int32_t *pc, uint64_t *sp, const int32_t *code) {
    sp[-2] += sp[-1];
    GO(pc, sp - 1);
}
static uint64_t op_mul(const int32_t *pc, uint64_t *sp, const int32_t *code) {
    sp[-2] *= sp[-1];
    GO(pc, sp - 1);
}
static uint64_t op_dup(const int32_t *pc, uint64_t *sp, const int32_t *code) {
    sp[0] = sp[-1];
    GO(pc, sp + 1);
}
static uint64_t op_swap(const int32_t *pc, uint64_t *sp, const int32_t *code) {
    uint64_t t = sp[-1];
    sp[-1] = sp[-2], sp[-2] = t;
    GO(pc, sp);
}
static uint64_t op_dec(const int32_t *pc, uint64_t *sp, const int32_t *code) {
    sp[-1]--;
    GO(pc, sp);
}
static uint64_t op_jnz(const int32_t *pc, uint64_t *sp, const int32_t *code) {
    pc = sp[-1] ? code + *pc : pc + 1;
    GO(pc, sp - 1);
}
static uint64_t op_drop(const int32_t *pc, uint64_t *sp, const int32_t *code) {
    GO(pc, sp - 1);
}
static uint64_t op_halt(const int32_t *pc, uint64_t *sp, const int32_t *code) {
    (void)pc, (void)code;
    return sp[-1];
}
static Op *const ops[] = {op_push, op_add, op_mul, op_dup, op_swap, op_dec, op_jnz, op_drop, op_halt};

/* Without optimisation the tail calls are calls: then as deep as the stack allows. */
static uint64_t by_table(int32_t rounds) {
    int32_t code[sizeof(program) / sizeof(*program)];
    for (size_t i = 0; i < sizeof(program) / sizeof(*program); i++)
        code[i] = program[i];
    code[3] = rounds;
    uint64_t stack[16];
    return ops[code[0]](code + 1, stack, code);
}

int main(void) {
    printf("%llu\n", (unsigned long long)by_goto(program));
    printf("%llu\n", (unsigned long long)by_switch(program));
#ifdef __OPTIMIZE__
    printf("%llu\n", (unsigned long long)by_table(100000));
#endif
    printf("%llu\n", (unsigned long long)by_table(1000));
    return 0;
}
