/* expression.c: see expression.h. A machine with a stack: DWARF 5, 2.5.1. Expressions are bounded in their steps, and nothing that they can say does harm. */
#include "run/client/tool/unwind/expression.h"

#include "run/client/memory/peek.h"

enum { DEPTH = 32, STEPS = 256 };

typedef struct Machine {
    Cursor text;
    const u8 *begin;
    const Caller *caller;
    u64 stack[DEPTH];
    u32 depth;
    bool bad;
} Machine;

static void push(Machine *m, u64 value) {
    if (m->depth == DEPTH)
        m->bad = true;
    else
        m->stack[m->depth++] = value;
}

static u64 pop(Machine *m) {
    if (m->depth)
        return m->stack[--m->depth];
    m->bad = true;
    return 0;
}

static u64 pick(Machine *m, u32 index) {
    if (index < m->depth)
        return m->stack[m->depth - 1 - index];
    m->bad = true;
    return 0;
}

static u64 register_no(Machine *m, u64 number) {
    m->bad |= number >= CALLER_REGISTERS;
    return m->bad ? 0 : m->caller->reg[number];
}

static u64 word_at(Machine *m, u64 address) {
    u64 word = 0;
    m->bad |= !copy_guarded(&word, (const void *)address, sizeof(word));
    return word;
}

static void jump(Machine *m, i64 distance) {
    i64 to = m->text.at - m->begin + distance;
    if (to < 0 || to > m->text.end - m->begin)
        m->bad = true;
    else
        m->text.at = m->begin + to;
}

enum {
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08, /* and the signed one, then those of 2, 4 and 8 bytes */
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS,
    OP_DUP,
    OP_DROP,
    OP_OVER,
    OP_PICK,
    OP_SWAP,
    OP_AND = 0x1a,
    OP_MINUS = 0x1c,
    OP_MUL = 0x1e,
    OP_NEG,
    OP_NOT,
    OP_OR,
    OP_PLUS,
    OP_PLUS_UCONST,
    OP_SHL,
    OP_SHR,
    OP_SHRA,
    OP_XOR,
    OP_BRA,
    OP_EQ,
    OP_GE,
    OP_GT,
    OP_LE,
    OP_LT,
    OP_NE,
    OP_SKIP,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_NOP = 0x96,
};

/* Operations on the two topmost values; false: `op` is none of these. */
static bool binary(u32 op, u64 a, u64 b, u64 *value) {
    i64 x = (i64)a, y = (i64)b;
    switch (op) {
    case OP_AND:
        return *value = a & b, true;
    case OP_MINUS:
        return *value = a - b, true;
    case OP_MUL:
        return *value = a * b, true;
    case OP_OR:
        return *value = a | b, true;
    case OP_PLUS:
        return *value = a + b, true;
    case OP_SHL:
        return *value = b < 64 ? a << b : 0, true;
    case OP_SHR:
        return *value = b < 64 ? a >> b : 0, true;
    case OP_SHRA:
        return *value = (u64)(x >> (b < 63 ? b : 63)), true;
    case OP_XOR:
        return *value = a ^ b, true;
    case OP_EQ:
        return *value = x == y, true;
    case OP_GE:
        return *value = x >= y, true;
    case OP_GT:
        return *value = x > y, true;
    case OP_LE:
        return *value = x <= y, true;
    case OP_LT:
        return *value = x < y, true;
    case OP_NE:
        return *value = x != y, true;
    default:
        return false;
    }
}

/* Operations that add a value which does not depend on others; false: likewise. */
static bool constant(Machine *m, u32 op) {
    if (op >= OP_LIT0 && op <= OP_LIT31)
        push(m, op - OP_LIT0);
    else if (op >= OP_BREG0 && op <= OP_BREG31)
        push(m, register_no(m, op - OP_BREG0) + (u64)cursor_sleb(&m->text));
    else if (op >= OP_CONST1U && op <= OP_CONST8S)
        push(m, op & 1 ? (u64)cursor_signed(&m->text, 1u << (op - OP_CONST1U) / 2)
                       : cursor_fixed(&m->text, 1u << (op - OP_CONST1U) / 2));
    else
        return false;
    return true;
}

static void swap(Machine *m) {
    u64 a = pop(m), b = pop(m);
    push(m, a);
    push(m, b);
}

static void other(Machine *m, u32 op) {
    u64 number;
    i64 distance;
    switch (op) {
    case OP_DEREF:
        push(m, word_at(m, pop(m)));
        return;
    case OP_CONSTU:
        push(m, cursor_uleb(&m->text));
        return;
    case OP_CONSTS:
        push(m, (u64)cursor_sleb(&m->text));
        return;
    case OP_DUP:
        push(m, pick(m, 0));
        return;
    case OP_DROP:
        pop(m);
        return;
    case OP_OVER:
        push(m, pick(m, 1));
        return;
    case OP_PICK:
        push(m, pick(m, cursor_byte(&m->text)));
        return;
    case OP_SWAP:
        swap(m);
        return;
    case OP_NEG:
        push(m, -pop(m));
        return;
    case OP_NOT:
        push(m, ~pop(m));
        return;
    case OP_PLUS_UCONST:
        push(m, pop(m) + cursor_uleb(&m->text));
        return;
    case OP_BREGX:
        number = register_no(m, cursor_uleb(&m->text));
        push(m, number + (u64)cursor_sleb(&m->text));
        return;
    case OP_BRA:
    case OP_SKIP:
        distance = cursor_signed(&m->text, 2);
        if (op == OP_SKIP || pop(m))
            jump(m, distance);
        return;
    case OP_NOP:
        return;
    default:
        m->bad = true;
    }
}

static void step(Machine *m) {
    u32 op = cursor_byte(&m->text);
    u64 value;
    if (constant(m, op))
        return;
    if (m->depth >= 2 && binary(op, m->stack[m->depth - 2], m->stack[m->depth - 1], &value)) {
        m->depth -= 2;
        push(m, value);
        return;
    }
    other(m, op);
}

bool expression_value(Cursor text, const Caller *c, const u64 *first, u64 *value) {
    Machine m = {.text = text, .begin = text.at, .caller = c};
    if (first)
        push(&m, *first);
    for (u32 i = 0; i < STEPS && !m.bad && !m.text.bad && m.text.at < m.text.end; i++)
        step(&m);
    bool ended = m.text.at == m.text.end;
    *value = pop(&m);
    return ended && !m.bad && !m.text.bad;
}
