/* interpreters.c: interpreters of a program that is known: by a switch, by computed jumps, by calls, with and without loops in it. */
#include "gallery.h"

enum { HALT, ADD, SUB, MUL, XOR, LOAD, STORE, LOOP, SHIFT, AND };

typedef struct Op {
    uint8_t code, a, b, c;
} Op;

static Op straight[] = {{LOAD, 0, 0, 0},  {LOAD, 1, 1, 0},  {ADD, 2, 0, 1}, {MUL, 3, 2, 0},
                        {XOR, 2, 3, 1},   {SHIFT, 3, 2, 3}, {SUB, 0, 3, 2}, {AND, 1, 0, 3},
                        {STORE, 0, 2, 0}, {STORE, 1, 3, 0}, {HALT, 0, 0, 0}};
/* r7 counts: the body is run as often as the argument says. */
static Op looping[] = {{ADD, 0, 0, 7},  {XOR, 1, 1, 0},   {MUL, 2, 1, 0}, {ADD, 1, 1, 2},
                       {LOOP, 7, 0, 0}, {STORE, 1, 0, 0}, {HALT, 0, 0, 0}};

KERNEL int by_switch(const Op *program, int64_t *memory, int64_t n) {
    int64_t r[8] = {1, 2, 3, 4, 5, 6, 7, n};
    for (const Op *p = program;; p++)
        switch (p->code) {
        case ADD:
            r[p->a] = r[p->b] + r[p->c];
            break;
        case SUB:
            r[p->a] = r[p->b] - r[p->c];
            break;
        case MUL:
            r[p->a] = r[p->b] * r[p->c];
            break;
        case XOR:
            r[p->a] = r[p->b] ^ r[p->c];
            break;
        case AND:
            r[p->a] = r[p->b] & r[p->c];
            break;
        case SHIFT:
            r[p->a] = r[p->b] >> (p->c & 63);
            break;
        case LOAD:
            r[p->a] = memory[p->b];
            break;
        case STORE:
            memory[p->a] = r[p->b];
            break;
        case LOOP:
            if (--r[p->a])
                p = program - 1;
            break;
        default:
            return (int)r[0];
        }
}

KERNEL int threaded(const Op *program, int64_t *memory, int64_t n) {
    static const void *const labels[] = {&&halt, &&add, &&sub, &&mul, &&xor, &&load, &&store, &&loop, &&shift, &&and};
    int64_t r[8] = {1, 2, 3, 4, 5, 6, 7, n};
    const Op *p = program;
#define NEXT goto *labels[(++p)->code]
    goto *labels[p->code];
add:
    r[p->a] = r[p->b] + r[p->c];
    NEXT;
sub:
    r[p->a] = r[p->b] - r[p->c];
    NEXT;
mul:
    r[p->a] = r[p->b] * r[p->c];
    NEXT;
    xor : r[p->a] = r[p->b] ^ r[p->c];
    NEXT;
    and : r[p->a] = r[p->b] & r[p->c];
    NEXT;
shift:
    r[p->a] = r[p->b] >> (p->c & 63);
    NEXT;
load:
    r[p->a] = memory[p->b];
    NEXT;
store:
    memory[p->a] = r[p->b];
    NEXT;
loop:
    if (--r[p->a])
        p = program - 1;
    NEXT;
halt:
    return (int)r[0];
}

static void fix_straight(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT64);
    binopt_cfg_set_paramp(cfg, 0, straight, sizeof(straight), BINOPT_MEM_CONST);
}
static void fix_looping(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT64);
    binopt_cfg_set_paramp(cfg, 0, looping, sizeof(looping), BINOPT_MEM_CONST);
}
typedef int Interpret(const Op *, int64_t *, int64_t);
static uint64_t run_straight(void *k) {
    int64_t memory[4] = {12345, 678, 0, 0};
    uint64_t d = 0;
    for (int i = 0; i < 50; i++)
        d = mix(d, (uint64_t)((Interpret *)k)(straight, memory, i));
    return mix(d, (uint64_t)memory[0]);
}
static uint64_t run_looping(void *k) {
    int64_t memory[4] = {12345, 678, 0, 0};
    return mix((uint64_t)((Interpret *)k)(looping, memory, 200), (uint64_t)memory[1]);
}
/* Nothing is known but the memory: the interpreter stays as it is. */
static int64_t cells[4];
static void fix_cells(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT64);
    binopt_cfg_set_parami(cfg, 1, (size_t)cells);
}
static uint64_t run_cells(void *k) {
    cells[0] = 12345, cells[1] = 678;
    uint64_t d = (uint64_t)((Interpret *)k)(looping, cells, 100);
    for (int i = 0; i < 20; i++)
        d = mix(d, (uint64_t)((Interpret *)k)(straight, cells, i));
    return mix(d, (uint64_t)cells[0]);
}

typedef struct Machine {
    int64_t stack[16];
    int top, pc, running;
} Machine;
typedef struct Word {
    void (*run)(Machine *m, int64_t operand);
    int64_t operand;
} Word;
static void push(Machine *m, int64_t v) {
    m->stack[m->top++] = v;
}
static void plus(Machine *m, int64_t unused) {
    (void)unused;
    m->top--;
    m->stack[m->top - 1] += m->stack[m->top];
}
static void times(Machine *m, int64_t unused) {
    (void)unused;
    m->top--;
    m->stack[m->top - 1] *= m->stack[m->top];
}
static void duplicate(Machine *m, int64_t unused) {
    (void)unused;
    m->stack[m->top] = m->stack[m->top - 1];
    m->top++;
}
static void stop(Machine *m, int64_t unused) {
    (void)unused;
    m->running = 0;
}
static Word words[] = {{push, 3}, {plus, 0},      {duplicate, 0}, {times, 0}, {push, 7},
                       {plus, 0}, {duplicate, 0}, {plus, 0},      {stop, 0}};
KERNEL void by_calls(Machine *m, const Word *program) {
    for (m->pc = 0, m->running = 1; m->running;) {
        const Word *w = &program[m->pc++];
        w->run(m, w->operand);
    }
}
static void fix_by_calls(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 1, words, sizeof(words), BINOPT_MEM_CONST);
}
static uint64_t run_by_calls(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < 50; i++) {
        Machine m = {.stack = {i}, .top = 1};
        ((void (*)(Machine *, const Word *))k)(&m, words);
        d = mix(d, (uint64_t)m.stack[0]);
    }
    return d;
}

static char tape_program[] = "+++[>++++<-]>[-<+>]<[>+>+<<-]>>[<->-]";
KERNEL int tape(const char *program, uint8_t *cell) {
    int depth, steps = 0;
    for (const char *p = program; *p; p++, steps++)
        switch (*p) {
        case '>':
            cell++;
            break;
        case '<':
            cell--;
            break;
        case '+':
            ++*cell;
            break;
        case '-':
            --*cell;
            break;
        case '[':
            for (depth = !*cell; depth;) {
                p++;
                depth += (*p == '[') - (*p == ']');
            }
            break;
        case ']':
            for (depth = !!*cell; depth;) {
                p--;
                depth += (*p == ']') - (*p == '[');
            }
            break;
        }
    return steps;
}
static void fix_tape(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, tape_program, sizeof(tape_program), BINOPT_MEM_CONST);
}
static uint64_t run_tape(void *k) {
    uint8_t cells[8] = {5};
    uint64_t d = (uint64_t)((int (*)(const char *, uint8_t *))k)(tape_program, cells);
    return mix(d, cells[0] + 256u * cells[1]);
}

/* One program for each element: the loop over elements is around the interpreter. */
typedef struct Step {
    int kind;
    double by;
} Step;
static Step steps[] = {{0, 1.5}, {1, 2.0}, {2, 0.5}, {0, -3.0}, {1, 1.25}, {3, 0}};
KERNEL void pipeline(const Step *program, int count, double *v, int n) {
    for (int i = 0; i < n; i++) {
        double x = v[i];
        for (int s = 0; s < count; s++)
            switch (program[s].kind) {
            case 0:
                x += program[s].by;
                break;
            case 1:
                x *= program[s].by;
                break;
            case 2:
                x = x > program[s].by ? x : program[s].by;
                break;
            case 3:
                x = -x;
                break;
            }
        v[i] = x;
    }
}
static void fix_pipeline(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, steps, sizeof(steps), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, 6);
}
static uint64_t run_pipeline(void *k) {
    double v[64];
    for (int i = 0; i < 64; i++)
        v[i] = i;
    ((void (*)(const Step *, int, double *, int))k)(steps, 6, v, 64);
    return mix_double(mix_double(0, v[3]), v[60]);
}

const Kernel interpreters[] = {
    {"switch, straight", by_switch, fix_straight, run_straight},
    {"switch, loop", by_switch, fix_looping, run_looping},
    {"switch, any program", by_switch, fix_cells, run_cells},
    {"threaded, straight", threaded, fix_straight, run_straight},
    {"threaded, loop", threaded, fix_looping, run_looping},
    {"words", by_calls, fix_by_calls, run_by_calls},
    {"tape", tape, fix_tape, run_tape},
    {"pipeline", pipeline, fix_pipeline, run_pipeline},
    {0},
};
