/* ends_subject.c: a function that LLVM has something to do with: its loops are unrolled, and there are many ways through it. */
#include "ends.h"

unsigned subject(const unsigned char *program, unsigned size, unsigned x) {
    unsigned y = 1;
    for (unsigned i = 0; i < size; i++)
        switch (program[i] % 6) {
        case 0:
            x += y * program[i];
            break;
        case 1:
            y ^= x >> (program[i] & 15);
            break;
        case 2:
            for (unsigned k = 0; k < (x & 7); k++)
                y += k * x ^ y >> 3;
            break;
        case 3:
            x = x % (program[i] | 1u) + y;
            break;
        case 4:
            x = x > y ? x - y : y - x;
            break;
        default:
            y = y * 31 + x;
        }
    return x ^ y;
}
