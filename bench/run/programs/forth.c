/* forth.c: threaded code: computed gotos, one indirect jump for each operation. */
#include <stdio.h>

#include "work.h"

enum { PUSH, ADD, XOR, SHIFT, DUP, OVER, SWAP, DEC, JNZ, CALL, RET, HALT };

/* hash = 1; for (n = argument; n; n--) hash = mix(hash, n) */
static int64_t code[] = {PUSH, 1,     PUSH, 0,   /* 4: */ CALL, 11, DEC, DUP, JNZ,   4,  HALT, /* 11: hash n */
                         SWAP, OVER,  ADD,  DUP, SHIFT,         13, XOR, DUP, SHIFT, -7, XOR,
                         DUP,  SHIFT, 17,   XOR, SWAP,          RET};

static int64_t run(void) {
    static const void *const labels[] = {&&push, &&add, &&xor, &&shift, &&dup, &&over,
                                         &&swap, &&dec, &&jnz, &&call,  &&ret, &&halt};
    int64_t stack[32], *sp = stack, t;
    const int64_t *pc = code, *returns[16], **rp = returns;
#define NEXT goto *labels[*pc++]
    NEXT;
push:
    *sp++ = *pc++;
    NEXT;
add:
    sp--, sp[-1] = (int64_t)((uint64_t)sp[-1] + (uint64_t)sp[0]);
    NEXT;
    xor : sp--, sp[-1] ^= sp[0];
    NEXT;
shift:
    t = *pc++;
    sp[-1] = t < 0 ? (int64_t)((uint64_t)sp[-1] >> -t) : (int64_t)((uint64_t)sp[-1] << t);
    NEXT;
dup:
    sp[0] = sp[-1], sp++;
    NEXT;
over:
    sp[0] = sp[-2], sp++;
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
call:
    *rp++ = pc + 1, pc = code + *pc;
    NEXT;
ret:
    pc = *--rp;
    NEXT;
halt:
    return sp[-2];
#undef NEXT
}

int main(int argc, char **argv) {
    code[3] = work_amount(argc, argv, 22000000);
    printf("%llx\n", (unsigned long long)run());
    return 0;
}
