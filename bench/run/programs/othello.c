/* othello.c: a search of the game of Othello by negamax with alpha-beta, on boards of two 64-bit words. */
#include <stdio.h>

#include "work.h"

typedef uint64_t Board;

static const int shifts[8] = {1, -1, 8, -8, 9, -9, 7, -7};
static const Board masks[8] = {
    0xfefefefefefefefe, 0x7f7f7f7f7f7f7f7f, ~0ull, ~0ull, 0xfefefefefefefefe, 0x7f7f7f7f7f7f7f7f,
    0x7f7f7f7f7f7f7f7f, 0xfefefefefefefefe};

static Board shift(Board b, int direction) {
    int s = shifts[direction];
    return (s > 0 ? b << s : b >> -s) & masks[direction];
}

static Board moves(Board own, Board other) {
    Board found = 0, empty = ~(own | other);
    for (int d = 0; d < 8; d++) {
        Board line = shift(own, d) & other;
        for (int i = 0; i < 5; i++)
            line |= shift(line, d) & other;
        found |= shift(line, d) & empty;
    }
    return found;
}

static Board flipped(Board own, Board other, Board move) {
    Board all = 0;
    for (int d = 0; d < 8; d++) {
        Board line = 0, at = shift(move, d);
        for (; at & other; at = shift(at, d))
            line |= at;
        if (at & own)
            all |= line;
    }
    return all;
}

static int count(Board b) {
    int n = 0;
    for (; b; b &= b - 1)
        n++;
    return n;
}

static long visited;

static int evaluate(Board own, Board other) {
    const Board corners = 0x8100000000000081ull;
    return count(moves(own, other)) - count(moves(other, own)) + 10 * (count(own & corners) - count(other & corners)) +
           count(own) - count(other);
}

static int search(Board own, Board other, int depth, int alpha, int beta, int passed) {
    visited++;
    if (depth == 0)
        return evaluate(own, other);
    Board left = moves(own, other);
    if (!left)
        return passed ? 100 * (count(own) - count(other)) : -search(other, own, depth - 1, -beta, -alpha, 1);
    for (; left; left &= left - 1) {
        Board move = left & -left, flips = flipped(own, other, move);
        int value = -search(other & ~flips, own | flips | move, depth - 1, -beta, -alpha, 0);
        if (value > alpha)
            alpha = value;
        if (alpha >= beta)
            break;
    }
    return alpha;
}

int main(int argc, char **argv) {
    int value =
        search(0x0000000810000000ull, 0x0000001008000000ull, (int)work_amount(argc, argv, 12), -10000, 10000, 0);
    printf("%d %ld\n", value, visited);
    return 0;
}
