/* core.c: the mixture of small benchmarks for embedded processors: a linked list sorted and searched, integer matrices, and a
 * state machine that recognises numbers. */
#include <stdio.h>
#include <string.h>

#include "work.h"

typedef struct Node {
    struct Node *next;
    int16_t key, data;
} Node;

static Node nodes[300];

static Node *merge_sort(Node *list, int (*before)(const Node *, const Node *)) {
    for (int width = 1;; width *= 2) {
        Node *p = list, *tail = NULL;
        int merges = 0;
        list = NULL;
        while (p) {
            Node *q = p;
            int p_left = 0, q_left = width;
            merges++;
            for (int i = 0; i < width && q; i++, p_left++)
                q = q->next;
            while (p_left > 0 || (q_left > 0 && q)) {
                int from_p = p_left > 0 && (!q_left || !q || before(p, q));
                Node *e = from_p ? p : q;
                if (from_p)
                    p = p->next, p_left--;
                else
                    q = q->next, q_left--;
                if (tail)
                    tail->next = e;
                else
                    list = e;
                tail = e;
            }
            p = q;
        }
        tail->next = NULL;
        if (merges <= 1)
            return list;
    }
}

static int by_key(const Node *a, const Node *b) {
    return a->key <= b->key;
}
static int by_data(const Node *a, const Node *b) {
    return a->data <= b->data;
}

static uint32_t lists(uint32_t seed) {
    for (int i = 0; i < 300; i++)
        nodes[i] = (Node){i < 299 ? &nodes[i + 1] : NULL, (int16_t)work_random(&seed), (int16_t)i};
    Node *list = merge_sort(merge_sort(nodes, by_key), by_data);
    uint32_t sum = 0;
    for (const Node *n = list; n; n = n->next)
        sum = sum * 31 + (uint32_t)n->key;
    return sum;
}

static uint32_t matrices(uint32_t seed) {
    enum { N = 24 };
    int16_t a[N][N], b[N][N];
    uint32_t sum = 0;
    for (int i = 0; i < N * N; i++)
        a[i / N][i % N] = (int16_t)(work_random(&seed) & 255), b[i / N][i % N] = (int16_t)i;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int32_t v = 0;
            for (int k = 0; k < N; k++)
                v += a[i][k] * b[k][j];
            sum = sum * 3 + (uint32_t)(v >> 3 & 0xfff);
        }
    return sum;
}

enum State { START, SIGN, INTEGER, POINT, FRACTION, EXPONENT, EXPONENT_SIGN, POWER, INVALID };

static enum State next(enum State s, char c) {
    int digit = c >= '0' && c <= '9', sign = c == '+' || c == '-';
    switch (s) {
    case START:
        return digit ? INTEGER : sign ? SIGN : c == '.' ? POINT : INVALID;
    case SIGN:
        return digit ? INTEGER : c == '.' ? POINT : INVALID;
    case INTEGER:
        return digit ? INTEGER : c == '.' ? FRACTION : c == 'e' ? EXPONENT : INVALID;
    case POINT:
        return digit ? FRACTION : INVALID;
    case FRACTION:
        return digit ? FRACTION : c == 'e' ? EXPONENT : INVALID;
    case EXPONENT:
        return digit ? POWER : sign ? EXPONENT_SIGN : INVALID;
    case EXPONENT_SIGN:
    case POWER:
        return digit ? POWER : INVALID;
    case INVALID:
        return INVALID;
    }
    return INVALID;
}

static uint32_t states(uint32_t seed) {
    static const char *const pieces[] = {"5012,", "+7.25,", "-110.7e10,", ".5,", "12e-3,", "T0.3e-1F,", "874,", "-.x,"};
    uint32_t counts[9] = {0}, sum = 0;
    for (int i = 0; i < 200; i++) {
        enum State s = START;
        for (const char *p = pieces[work_random(&seed) & 7]; *p != ','; p++)
            counts[s = next(s, *p)]++;
        sum = sum * 5 + (uint32_t)s;
    }
    for (int i = 0; i < 9; i++)
        sum = sum * 7 + counts[i];
    return sum;
}

int main(int argc, char **argv) {
    uint32_t sum = 1;
    for (long n = work_amount(argc, argv, 15000); n; n--)
        sum = sum * 31 + (lists(sum | 1) ^ matrices(sum | 1) ^ states(sum | 1));
    printf("%u\n", sum);
    return 0;
}
