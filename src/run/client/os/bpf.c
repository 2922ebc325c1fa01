/* bpf.c: see bpf.h. An instruction has a code, two distances for jumps, and a constant k; the machine has the registers A and X and 16
 * words of memory. Jumps go forward only. */
#include "run/client/os/bpf.h"

enum { DATA_BYTES = sizeof(struct seccomp_data), REGISTER_BITS = 32 };

/* ------------------------------------------------------------------------------------------------------------- checking */

/* True if the kernel would accept this instruction; `left` others follow it. */
static bool is_allowed(const struct sock_filter *f, u32 left) {
    switch (f->code) {
    case BPF_LD | BPF_W | BPF_ABS:
        return f->k < DATA_BYTES && f->k % sizeof(u32) == 0;
    case BPF_LD | BPF_W | BPF_LEN:
    case BPF_LDX | BPF_W | BPF_LEN:
    case BPF_LD | BPF_IMM:
    case BPF_LDX | BPF_IMM:
    case BPF_MISC | BPF_TAX:
    case BPF_MISC | BPF_TXA:
    case BPF_RET | BPF_K:
    case BPF_RET | BPF_A:
    case BPF_ALU | BPF_ADD | BPF_K:
    case BPF_ALU | BPF_SUB | BPF_K:
    case BPF_ALU | BPF_MUL | BPF_K:
    case BPF_ALU | BPF_AND | BPF_K:
    case BPF_ALU | BPF_OR | BPF_K:
    case BPF_ALU | BPF_XOR | BPF_K:
    case BPF_ALU | BPF_ADD | BPF_X:
    case BPF_ALU | BPF_SUB | BPF_X:
    case BPF_ALU | BPF_MUL | BPF_X:
    case BPF_ALU | BPF_AND | BPF_X:
    case BPF_ALU | BPF_OR | BPF_X:
    case BPF_ALU | BPF_XOR | BPF_X:
    case BPF_ALU | BPF_DIV | BPF_X:
    case BPF_ALU | BPF_LSH | BPF_X:
    case BPF_ALU | BPF_RSH | BPF_X:
    case BPF_ALU | BPF_NEG:
        return true;
    case BPF_ALU | BPF_DIV | BPF_K:
        return f->k;
    case BPF_ALU | BPF_LSH | BPF_K:
    case BPF_ALU | BPF_RSH | BPF_K:
        return f->k < REGISTER_BITS;
    case BPF_LD | BPF_MEM:
    case BPF_LDX | BPF_MEM:
    case BPF_ST:
    case BPF_STX:
        return f->k < BPF_MEMWORDS;
    case BPF_JMP | BPF_JA:
        return f->k < left;
    case BPF_JMP | BPF_JEQ | BPF_K:
    case BPF_JMP | BPF_JGT | BPF_K:
    case BPF_JMP | BPF_JGE | BPF_K:
    case BPF_JMP | BPF_JSET | BPF_K:
    case BPF_JMP | BPF_JEQ | BPF_X:
    case BPF_JMP | BPF_JGT | BPF_X:
    case BPF_JMP | BPF_JGE | BPF_X:
    case BPF_JMP | BPF_JSET | BPF_X:
        return f->jt < left && f->jf < left;
    default:
        return false;
    }
}

/* True if every path writes a word of memory before it reads the word. `written` has, for each instruction, the words
 * that every jump to it seen so far has written; after a jump or a return only those count. */
static bool reads_what_it_wrote(const struct sock_filter *program, u32 count) {
    u16 written[BPF_MAXINSNS], now = 0;
    memset(written, 0xff, sizeof(written));
    for (u32 i = 0; i < count; i++) {
        const struct sock_filter *f = &program[i];
        u32 kind = BPF_CLASS(f->code);
        now &= written[i];
        if (kind == BPF_ST || kind == BPF_STX)
            now |= (u16)(1u << f->k);
        if ((kind == BPF_LD || kind == BPF_LDX) && BPF_MODE(f->code) == BPF_MEM && !(now >> f->k & 1))
            return false;
        if (kind == BPF_JMP && BPF_OP(f->code) == BPF_JA)
            written[i + 1 + f->k] &= now;
        else if (kind == BPF_JMP)
            written[i + 1 + f->jt] &= now, written[i + 1 + f->jf] &= now;
        if (kind == BPF_JMP)
            now = 0xffff;
    }
    return true;
}

bool bpf_is_valid(const struct sock_filter *program, u32 count) {
    if (!count || count > BPF_MAXINSNS)
        return false;
    for (u32 i = 0; i < count; i++)
        if (!is_allowed(&program[i], count - 1 - i))
            return false;
    return BPF_CLASS(program[count - 1].code) == BPF_RET && reads_what_it_wrote(program, count);
}

/* -------------------------------------------------------------------------------------------------------------- running */

static u32 load(const struct sock_filter *f, const struct seccomp_data *data, const u32 memory[BPF_MEMWORDS]) {
    u32 value = f->k;
    if (BPF_MODE(f->code) == BPF_ABS)
        memcpy(&value, (const u8 *)data + f->k, sizeof(value));
    else if (BPF_MODE(f->code) == BPF_MEM)
        value = memory[f->k];
    else if (BPF_MODE(f->code) == BPF_LEN)
        value = DATA_BYTES;
    return value;
}

static u32 compute(u32 operation, u32 a, u32 b) {
    switch (operation) {
    case BPF_ADD:
        return a + b;
    case BPF_SUB:
        return a - b;
    case BPF_MUL:
        return a * b;
    case BPF_DIV:
        return a / b;
    case BPF_AND:
        return a & b;
    case BPF_OR:
        return a | b;
    case BPF_XOR:
        return a ^ b;
    case BPF_LSH:
        return a << b % REGISTER_BITS;
    case BPF_RSH:
        return a >> b % REGISTER_BITS;
    default:
        return -a; /* BPF_NEG */
    }
}

static bool holds(u32 operation, u32 a, u32 b) {
    switch (operation) {
    case BPF_JEQ:
        return a == b;
    case BPF_JGT:
        return a > b;
    case BPF_JGE:
        return a >= b;
    default:
        return a & b; /* BPF_JSET */
    }
}

u32 bpf_run(const struct sock_filter *f, const struct seccomp_data *data) {
    u32 a = 0, x = 0, memory[BPF_MEMWORDS];
    for (;; f++) {
        u32 operation = BPF_OP(f->code), b = BPF_SRC(f->code) == BPF_X ? x : f->k;
        switch (BPF_CLASS(f->code)) {
        case BPF_LD:
            a = load(f, data, memory);
            break;
        case BPF_LDX:
            x = load(f, data, memory);
            break;
        case BPF_ST:
            memory[f->k] = a;
            break;
        case BPF_STX:
            memory[f->k] = x;
            break;
        case BPF_ALU:
            if (operation == BPF_DIV && !b)
                return 0;
            a = compute(operation, a, b);
            break;
        case BPF_JMP:
            f += operation == BPF_JA ? f->k : holds(operation, a, b) ? f->jt : f->jf;
            break;
        case BPF_RET:
            return BPF_RVAL(f->code) == BPF_A ? a : f->k;
        case BPF_MISC:
            if (BPF_MISCOP(f->code) == BPF_TAX)
                x = a;
            else
                a = x;
            break;
        }
    }
}
