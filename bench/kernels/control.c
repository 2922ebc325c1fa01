/* control.c: comparisons, conditions and switch statements. */
#include "kernels.h"

int KERNEL(max_int)(int a, int b) {
    return a > b ? a : b;
}

long KERNEL(max_long)(long a, long b) {
    return a > b ? a : b;
}

/* One comparison feeds a conditional move and a conditional jump. */
int KERNEL(max_flags)(int a, int b, int c) {
    int m = a < b ? b : a;
    if (a < b)
        m += c;
    return m * 3;
}

long KERNEL(clamp)(long v, long low, long high) {
    return v < low ? low : v > high ? high : v;
}

int KERNEL(sign_of)(int v) {
    return (v > 0) - (v < 0);
}

int KERNEL(switch_dense)(int op, int a, int b) {
    switch (op) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    case 3:
        return a & b;
    case 4:
        return a | b;
    case 5:
        return a ^ b;
    case 6:
        return a << (b & 31);
    case 7:
        return b ? a / b : 0;
    default:
        return -1;
    }
}

int KERNEL(switch_sparse)(int key) {
    switch (key) {
    case -7:
        return 3;
    case 12:
        return 9;
    case 100:
        return 81;
    case 4096:
        return 5;
    case 65537:
        return 77;
    default:
        return 0;
    }
}
