/* recursion.c: functions that call themselves. */
#include <stdlib.h>

#include "gallery.h"

typedef struct Rule {
    int least, step;
} Rule;
static Rule rule = {2, 1};

KERNEL int fibonacci(int n, const Rule *r) {
    return n < r->least ? n : fibonacci(n - r->step, r) + fibonacci(n - 2 * r->step, r);
}
static void fix_fibonacci(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 1, &rule, sizeof(rule), BINOPT_MEM_CONST);
}
static uint64_t run_fibonacci(void *k) {
    return (uint64_t)((int (*)(int, const Rule *))k)(15, &rule);
}

KERNEL unsigned ackermann(unsigned m, unsigned n) {
    if (!m)
        return n + 1;
    return n ? ackermann(m - 1, ackermann(m, n - 1)) : ackermann(m - 1, 1);
}
static void fix_ackermann(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_UINT32, BINOPT_TY_UINT32, BINOPT_TY_UINT32);
    binopt_cfg_set_parami(cfg, 0, 2);
}
static uint64_t run_ackermann(void *k) {
    return ((unsigned (*)(unsigned, unsigned))k)(2, 30);
}

typedef struct Tree {
    struct Tree *left, *right;
    int value;
} Tree;
typedef void Visit(void *user, int value);
static Tree nodes[255];
static Tree *tree(void) {
    for (int i = 0; i < 255; i++)
        nodes[i] = (Tree){i < 127 ? &nodes[2 * i + 1] : NULL, i < 127 ? &nodes[2 * i + 2] : NULL, i * 7 % 64};
    return nodes;
}
static void add_to(void *user, int value) {
    *(int *)user += value;
}
KERNEL void walk(const Tree *t, Visit *visit, void *user) {
    if (!t)
        return;
    walk(t->left, visit, user);
    visit(user, t->value);
    walk(t->right, visit, user);
}
static void fix_walk(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 1, (size_t)add_to);
}
static uint64_t run_walk(void *k) {
    int sum = 0;
    if (!nodes[0].left)
        tree();
    ((void (*)(const Tree *, Visit *, void *))k)(nodes, add_to, &sum);
    return (uint64_t)sum;
}

KERNEL int queens(int n, int row, unsigned columns, unsigned up, unsigned down) {
    if (row == n)
        return 1;
    int found = 0;
    for (int i = 0; i < n; i++) {
        unsigned column = 1u << i, rising = 1u << (row + i), falling = 1u << (row - i + n);
        if (!(columns & column) && !(up & rising) && !(down & falling))
            found += queens(n, row + 1, columns | column, up | rising, down | falling);
    }
    return found;
}
static void fix_queens(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 5, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_UINT32, BINOPT_TY_UINT32,
                    BINOPT_TY_UINT32);
    binopt_cfg_set_parami(cfg, 0, 6);
}
static uint64_t run_queens(void *k) {
    return (uint64_t)((int (*)(int, int, unsigned, unsigned, unsigned))k)(6, 0, 0, 0, 0);
}

typedef void Emit(uint64_t *d, const int *v, int n);
static void emit(uint64_t *d, const int *v, int n) {
    *d = mix(*d, (uint64_t)(v[0] * 100 + v[n - 1]));
}
KERNEL void permute(int *v, int n, int at, Emit *each, uint64_t *d) {
    if (at == n) {
        each(d, v, n);
        return;
    }
    for (int i = at; i < n; i++) {
        int t = v[at];
        v[at] = v[i], v[i] = t;
        permute(v, n, at + 1, each, d);
        t = v[at];
        v[at] = v[i], v[i] = t;
    }
}
static void fix_permute(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 5, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_PTR,
                    BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 1, 6);
    binopt_cfg_set_parami(cfg, 3, (size_t)emit);
}
static uint64_t run_permute(void *k) {
    int v[6] = {1, 2, 3, 4, 5, 6};
    uint64_t d = 0;
    ((void (*)(int *, int, int, Emit *, uint64_t *))k)(v, 6, 0, emit, &d);
    return d;
}

static int weights[12] = {3, 34, 4, 12, 5, 2, 17, 9, 21, 8, 6, 13};
KERNEL int subsets(const int *w, int count, int at, int left) {
    if (!left)
        return 1;
    if (at == count || left < 0)
        return 0;
    return subsets(w, count, at + 1, left - w[at]) + subsets(w, count, at + 1, left);
}
static void fix_subsets(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, weights, sizeof(weights), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, 12);
}
static uint64_t run_subsets(void *k) {
    return (uint64_t)((int (*)(const int *, int, int, int))k)(weights, 12, 0, 50);
}

typedef struct Node {
    char op;
    double value;
    const struct Node *a, *b;
} Node;
static Node x = {'x', 0, 0, 0}, two = {'#', 2, 0, 0}, five = {'#', 5, 0, 0}, square = {'*', 0, &x, &x},
            product = {'*', 0, &two, &x}, sum = {'+', 0, &square, &product}, formula = {'-', 0, &sum, &five};
KERNEL double evaluate(const Node *n, double value) {
    switch (n->op) {
    case 'x':
        return value;
    case '#':
        return n->value;
    case '+':
        return evaluate(n->a, value) + evaluate(n->b, value);
    case '-':
        return evaluate(n->a, value) - evaluate(n->b, value);
    default:
        return evaluate(n->a, value) * evaluate(n->b, value);
    }
}
static void fix_evaluate(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_DOUBLE, BINOPT_TY_PTR, BINOPT_TY_DOUBLE);
    binopt_cfg_set_paramp(cfg, 0, &formula, sizeof(formula), BINOPT_MEM_NESTED_CONST);
}
static uint64_t run_evaluate(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < 100; i++)
        d = mix_double(d, ((double (*)(const Node *, double))k)(&formula, i * 0.5));
    return d;
}

KERNEL void hanoi(int n, int from, int to, int over, int *moves) {
    if (!n)
        return;
    hanoi(n - 1, from, over, to, moves);
    moves[from * 3 + to]++;
    hanoi(n - 1, over, to, from, moves);
}
static int moves[9];
static void fix_hanoi(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 5, BINOPT_TY_VOID, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_INT32,
                    BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 4, (size_t)moves);
}
static uint64_t run_hanoi(void *k) {
    for (int i = 0; i < 9; i++)
        moves[i] = 0;
    ((void (*)(int, int, int, int, int *))k)(9, 0, 1, 2, moves);
    return (uint64_t)(moves[1] + 3 * moves[2] + 5 * moves[7]);
}

const Kernel recursion[] = {
    {"fibonacci", fibonacci, fix_fibonacci, run_fibonacci},
    {"ackermann", ackermann, fix_ackermann, run_ackermann},
    {"tree walk", walk, fix_walk, run_walk},
    {"queens", queens, fix_queens, run_queens},
    {"permutations", permute, fix_permute, run_permute},
    {"subset sums", subsets, fix_subsets, run_subsets},
    {"expression tree", evaluate, fix_evaluate, run_evaluate},
    {"hanoi", hanoi, fix_hanoi, run_hanoi},
    {0},
};
