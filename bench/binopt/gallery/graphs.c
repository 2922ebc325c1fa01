/* graphs.c: known graphs, and dynamic programming with known weights. */
#include <string.h>

#include "gallery.h"

enum { NODES = 16 };
typedef struct Graph {
    int nodes, start[NODES + 1], to[3 * NODES];
} Graph;
static Graph graph;
static void make_graph(void) {
    graph.nodes = NODES;
    for (int i = 0, k = 0; i < NODES; i++) {
        for (int j = 1; j <= 3; j++)
            graph.to[k++] = (i * j + 7 * j) % NODES;
        graph.start[i + 1] = k;
    }
}
KERNEL int breadth_first(const Graph *g, int from, int *distance) {
    int queue[NODES], head = 0, tail = 0, sum = 0;
    for (int i = 0; i < g->nodes; i++)
        distance[i] = -1;
    distance[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        int at = queue[head++];
        sum += distance[at];
        for (int k = g->start[at]; k < g->start[at + 1]; k++)
            if (distance[g->to[k]] < 0) {
                distance[g->to[k]] = distance[at] + 1;
                queue[tail++] = g->to[k];
            }
    }
    return sum;
}
static void fix_breadth_first(BinoptCfgRef cfg) {
    make_graph();
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, &graph, sizeof(graph), BINOPT_MEM_CONST);
}
static uint64_t run_breadth_first(void *k) {
    int distance[NODES];
    uint64_t d = 0;
    for (int i = 0; i < 5; i++)
        d = mix(d, (uint64_t)((int (*)(const Graph *, int, int *))k)(&graph, i, distance));
    return d;
}

KERNEL void all_paths(int *d, int n) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (d[i * n + k] + d[k * n + j] < d[i * n + j])
                    d[i * n + j] = d[i * n + k] + d[k * n + j];
}
static void fix_all_paths(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 1, 12);
}
static uint64_t run_all_paths(void *k) {
    int d[144];
    uint64_t r = 0;
    for (int i = 0; i < 144; i++)
        d[i] = i % 13 ? i * 31 % 97 + 1 : 0;
    ((void (*)(int *, int))k)(d, 12);
    for (int i = 0; i < 144; i += 5)
        r = mix(r, (uint64_t)d[i]);
    return r;
}

typedef struct Item {
    int weight, value;
} Item;
static Item items[6] = {{3, 4}, {4, 5}, {7, 10}, {8, 11}, {9, 13}, {2, 1}};
KERNEL int knapsack(const Item *item, int count, int *best, int capacity) {
    memset(best, 0, (size_t)(capacity + 1) * sizeof(int));
    for (int i = 0; i < count; i++)
        for (int c = capacity; c >= item[i].weight; c--)
            if (best[c - item[i].weight] + item[i].value > best[c])
                best[c] = best[c - item[i].weight] + item[i].value;
    return best[capacity];
}
static void fix_knapsack(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, items, sizeof(items), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, 6);
}
static uint64_t run_knapsack(void *k) {
    int best[128];
    return (uint64_t)((int (*)(const Item *, int, int *, int))k)(items, 6, best, 100);
}

static char known[] = "ACGTTGCA";
KERNEL int common(const char *a, int n, const char *b, int m) {
    int row[2][32] = {{0}};
    for (int j = 1; j <= m; j++)
        for (int i = 1; i <= n; i++) {
            int up = row[(j - 1) & 1][i], left = row[j & 1][i - 1];
            row[j & 1][i] = a[i - 1] == b[j - 1] ? row[(j - 1) & 1][i - 1] + 1 : up > left ? up : left;
        }
    return row[m & 1][n];
}
static void fix_common(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, known, sizeof(known), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, 8);
}
static uint64_t run_common(void *k) {
    return (uint64_t)((int (*)(const char *, int, const char *, int))k)(known, 8, "GATTACAGATTACACCGT", 18);
}

typedef struct Model {
    int states;
    double move[4][4], emit[4][4];
} Model;
static Model model = {
    3, {{-1, -2, -3}, {-2, -1, -2}, {-3, -1, -1}}, {{-1, -3, -2, -4}, {-2, -1, -4, -1}, {-4, -2, -1, -2}}};
KERNEL double viterbi(const Model *m, const uint8_t *seen, int n) {
    double p[2][4] = {{0, -1, -2, -3}};
    for (int t = 0; t < n; t++)
        for (int s = 0; s < m->states; s++) {
            double best = p[t & 1][0] + m->move[0][s];
            for (int from = 1; from < m->states; from++) {
                double other = p[t & 1][from] + m->move[from][s];
                best = other > best ? other : best;
            }
            p[~t & 1][s] = best + m->emit[s][seen[t]];
        }
    return p[n & 1][0];
}
static void fix_viterbi(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_DOUBLE, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, &model, sizeof(model), BINOPT_MEM_CONST);
}
static uint64_t run_viterbi(void *k) {
    uint8_t seen[60];
    for (int i = 0; i < 60; i++)
        seen[i] = (uint8_t)(i * i % 4);
    return mix_double(0, ((double (*)(const Model *, const uint8_t *, int))k)(&model, seen, 60));
}

static int find(int *parent, int i) {
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}
KERNEL int components(const Graph *g, int *parent) {
    int count = g->nodes;
    for (int i = 0; i < g->nodes; i++)
        parent[i] = i;
    for (int i = 0; i < g->nodes; i++)
        for (int k = g->start[i]; k < g->start[i + 1]; k++) {
            int a = find(parent, i), b = find(parent, g->to[k]);
            if (a != b) {
                parent[a] = b;
                count--;
            }
        }
    return count;
}
static void fix_components(BinoptCfgRef cfg) {
    make_graph();
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, &graph, sizeof(graph), BINOPT_MEM_CONST);
}
static uint64_t run_components(void *k) {
    int parent[NODES];
    return (uint64_t)((int (*)(const Graph *, int *))k)(&graph, parent);
}

KERNEL void life(const uint8_t *from, uint8_t *to, int width, int height, uint32_t born, uint32_t stays) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int around = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++)
                    if (i || j)
                        around += from[(y + j + height) % height * width + (x + i + width) % width];
            to[y * width + x] = (from[y * width + x] ? stays : born) >> around & 1;
        }
}
static void fix_life(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 6, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32,
                    BINOPT_TY_UINT32, BINOPT_TY_UINT32);
    binopt_cfg_set_parami(cfg, 2, 16);
    binopt_cfg_set_parami(cfg, 3, 12);
    binopt_cfg_set_parami(cfg, 4, 8);
    binopt_cfg_set_parami(cfg, 5, 12);
}
static uint64_t run_life(void *k) {
    uint8_t a[192], b[192];
    uint64_t d = 0;
    for (int i = 0; i < 192; i++)
        a[i] = i * 7 % 5 < 2;
    ((void (*)(const uint8_t *, uint8_t *, int, int, uint32_t, uint32_t))k)(a, b, 16, 12, 8, 12);
    for (int i = 0; i < 192; i++)
        d = mix(d, b[i]);
    return d;
}

const Kernel graphs[] = {
    {"breadth first", breadth_first, fix_breadth_first, run_breadth_first},
    {"all paths", all_paths, fix_all_paths, run_all_paths},
    {"knapsack", knapsack, fix_knapsack, run_knapsack},
    {"common subsequence", common, fix_common, run_common},
    {"viterbi", viterbi, fix_viterbi, run_viterbi},
    {"components", components, fix_components, run_components},
    {"game of life", life, fix_life, run_life},
    {0},
};
