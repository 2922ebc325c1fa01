/* switches.c: functions with jump tables in every form that compilers give them. Compiled many times over, without a
 * library, and never run as a program: see tables.c, which takes every function whose name begins with "switch_". */

#define EXPORT __attribute__((visibility("default"), used))
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa)) /* or gcc keeps registers over calls that the convention gives away */
#endif

typedef unsigned char Byte;

/* Ten pieces of code that no compiler turns into a table of values. */
#define TEN_CASES(k)                                                                                                   \
    case (k):                                                                                                          \
        r = x + 3 * y;                                                                                                 \
        break;                                                                                                         \
    case (k) + 1:                                                                                                      \
        r = x ^ y;                                                                                                     \
        break;                                                                                                         \
    case (k) + 2:                                                                                                      \
        r = x - 7 * y;                                                                                                 \
        break;                                                                                                         \
    case (k) + 3:                                                                                                      \
        r = (x & y) + 11;                                                                                              \
        break;                                                                                                         \
    case (k) + 4:                                                                                                      \
        r = x << 3 | y;                                                                                                \
        break;                                                                                                         \
    case (k) + 5:                                                                                                      \
        r = y - x;                                                                                                     \
        break;                                                                                                         \
    case (k) + 6:                                                                                                      \
        r = ~x * 5;                                                                                                    \
        break;                                                                                                         \
    case (k) + 7:                                                                                                      \
        r = (x >> 2) + (y << 1);                                                                                       \
        break;                                                                                                         \
    case (k) + 8:                                                                                                      \
        r = x * y;                                                                                                     \
        break;                                                                                                         \
    case (k) + 9:                                                                                                      \
        r = (x | 64) - y;                                                                                              \
        break;

#define SWITCH_OVER(name, type, first)                                                                                 \
    EXPORT long switch_##name(long x, long y) {                                                                        \
        long r = 1;                                                                                                    \
        switch ((type)x) {                                                                                             \
            TEN_CASES(first)                                                                                           \
        default:                                                                                                       \
            r = y + 1000;                                                                                              \
        }                                                                                                              \
        return r;                                                                                                      \
    }

SWITCH_OVER(schar, signed char, 2)
SWITCH_OVER(uchar, unsigned char, 65)
SWITCH_OVER(short, short, -3)
SWITCH_OVER(ushort, unsigned short, 4)
SWITCH_OVER(int, int, 0)
SWITCH_OVER(unsigned, unsigned, 1)
SWITCH_OVER(long, long, 5)
SWITCH_OVER(ulong, unsigned long, 0)
SWITCH_OVER(negative, int, -12)
SWITCH_OVER(ends_at_minus_1, int, -10)
SWITCH_OVER(far, long, 1000000)

EXPORT long switch_holes(long x, long y) {
    long r;
    switch ((int)x) {
    case 1:
        r = x + y;
        break;
    case 3:
        r = x - y;
        break;
    case 4:
        r = x * y;
        break;
    case 8:
        r = x ^ y;
        break;
    case 9:
        r = y << 2;
        break;
    case 13:
        r = y >> 2;
        break;
    case 14:
        r = ~y;
        break;
    case 17:
        r = x & y;
        break;
    default:
        r = -1;
    }
    return r;
}

EXPORT long switch_fall_through(long x, long y) {
    long r = y;
    switch ((unsigned)x) {
    case 0:
        r += 3; /* fall through */
    case 1:
        r ^= 0x55; /* fall through */
    case 2:
        r *= 7; /* fall through */
    case 3:
        r -= y; /* fall through */
    case 4:
        r <<= 2; /* fall through */
    case 5:
        r += y * 3; /* fall through */
    case 6:
        r = ~r;
        break;
    case 7:
        r = -r;
        break;
    }
    return r;
}

/* Several values per piece of code, and one piece that is a switch itself. */
EXPORT long switch_nested(long x, long y) {
    long r = 5;
    switch (x & 31) {
        TEN_CASES(0)
    case 10:
    case 11:
    case 14:
        switch (y & 31) { TEN_CASES(3) }
        r++;
        break;
    case 12:
        r = x * 9 - y;
        break;
    case 13:
        r = x % 5 + y;
        break;
    }
    return r;
}

EXPORT long switch_twice(long x, long y) {
    long r = 0;
    switch ((int)x) {
        TEN_CASES(0)
    default:
        return -3;
    }
    y = r + 1;
    switch ((int)(x * 3 & 15)) {
        TEN_CASES(2)
    default:
        r += 17;
    }
    return r;
}

/* Compilers test for the ranges by branches and use a table for each. */
EXPORT long switch_ranges(long x, long y) {
    long r = 0;
    switch ((int)x) {
        TEN_CASES(0)
        TEN_CASES(100)
        TEN_CASES(200)
    case 5000:
        r = 1;
        break;
    case 9000:
        r = 2;
        break;
    }
    return r;
}

EXPORT long switch_many(long x, long y) {
    long r = 0;
    switch ((unsigned)x) {
        TEN_CASES(0)
        TEN_CASES(10)
        TEN_CASES(20)
        TEN_CASES(30)
        TEN_CASES(40)
    case 50:
        r = x / 3 + y;
        break;
    case 299:
        r = x / 7 - y;
        break;
    }
    return r;
}

struct Node {
    int kind;
    long value;
};

EXPORT long switch_memory(long x, long y) {
    volatile struct Node node = {(int)x, y};
    long r;
    switch (node.kind) {
        TEN_CASES(0)
    default:
        r = node.value;
    }
    return r + node.kind;
}

/* A table of bytes between the value and the switch. */
static const Byte kinds[64] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 7, 6, 5, 4,
                               3, 2, 1, 0, 0, 2, 4, 6, 8, 9, 7, 5, 3, 1, 1};

EXPORT long switch_lookup(long x, long y) {
    long r = 0;
    if ((unsigned long)x >= sizeof(kinds))
        return -9;
    switch (kinds[x]) {
        TEN_CASES(0)
    default:
        r = 3;
    }
    return r;
}

NOINLINE long mix(long a, long b) {
    return (a ^ b << 3) + b;
}

/* In loops the table's address is often computed before, and kept over calls. */
EXPORT long switch_loop(long x, long y) {
    long sum = y;
    for (int i = 0; i < 12; i++, x += 5) {
        long r;
        switch (x & 15) {
            TEN_CASES(1)
        default:
            r = i;
        }
        sum = sum * 3 + r;
    }
    return sum;
}

EXPORT long switch_loop_calls(long x, long y) {
    long sum = y;
    for (unsigned i = 0; i < 10; i++) {
        switch ((unsigned)x + i) {
        case 0:
            sum = mix(sum, 4);
            break;
        case 1:
            sum += x;
            break;
        case 2:
            sum = mix(x, sum) + mix(sum, i);
            break;
        case 3:
            sum ^= 77;
            break;
        case 4:
            sum = mix(sum, sum);
            break;
        case 5:
            sum -= i;
            break;
        case 6:
            sum *= 3;
            continue;
        case 7:
            return sum;
        case 8:
            sum = mix(i, x);
            break;
        }
        sum++;
    }
    return sum;
}

/* Small programs: 0 ends, 1 adds, 2 multiplies, 3 jumps if odd, 4 exchanges, 5 negates, 6 calls, 7 skips. */
static const Byte programs[8][16] = {
    {1, 5, 2, 3, 4, 1, 9, 0},    {4, 5, 6, 3, 2, 1, 1, 2, 7, 0}, {7, 0, 1, 1, 2, 2, 3, 1, 5, 0}, {6, 6, 6, 5, 4, 0},
    {3, 3, 1, 1, 2, 7, 7, 0, 0}, {2, 9, 9, 9, 1, 1, 0},          {5, 4, 5, 4, 1, 200, 0},        {0},
};

EXPORT long switch_interpreter(long x, long y) {
    const Byte *pc = programs[x & 7];
    long acc = x, other = y;
    for (;;) {
        switch (*pc++) {
        case 0:
            return acc + other;
        case 1:
            acc += *pc++;
            break;
        case 2:
            acc *= *pc++;
            break;
        case 3:
            pc += acc & 1 ? *pc : 1;
            break;
        case 4:
            acc ^= other, other ^= acc, acc ^= other;
            break;
        case 5:
            acc = -acc;
            break;
        case 6:
            acc = mix(acc, other);
            break;
        case 7:
            pc++;
            break;
        default:
            other++;
        }
    }
}

EXPORT long switch_computed_goto(long x, long y) {
    static void *const labels[8] = {&&end, &&add, &&mul, &&odd, &&swap, &&neg, &&call, &&skip};
    const Byte *pc = programs[x & 7];
    long acc = x, other = y;
#define NEXT goto *labels[*pc++ & 7]
    NEXT;
end:
    return acc + other;
add:
    acc += *pc++;
    NEXT;
mul:
    acc *= *pc++;
    NEXT;
odd:
    pc += acc & 1 ? *pc : 1;
    NEXT;
swap:
    acc ^= other, other ^= acc, acc ^= other;
    NEXT;
neg:
    acc = -acc;
    NEXT;
call:
    acc = mix(acc, other);
    NEXT;
skip:
    pc++;
    NEXT;
}
