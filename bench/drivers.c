/* drivers.c: see drivers.h. A driver calls its kernel over and over; results, or the array that it changes, make up the
 * digest, so that two versions of a kernel that do different things are found out. */
#include "drivers.h"

#include "kernels/kernels.h"

#define DECLARE(result, name, params, sig)                                                                             \
    typedef result Fn_##name params;                                                                                   \
    Fn_##name gcc_##name, clang_##name;
KERNELS(DECLARE)

enum { N = 4096, MATRIX = 48 };

static struct {
    int ints[N], rising[N], work[N];
    long longs[N];
    uint64_t words[N];
    unsigned char bytes[N];
    char text[2][N], copy[N];
    float floats[N], more_floats[N];
    double doubles[N], more_doubles[N];
    uint32_t crc[256];
    double m1[SIDE * SIDE], m2[SIDE * SIDE];
    int mi[3][MATRIX * MATRIX];
    double md[3][MATRIX * MATRIX];
} data;

static struct Stencil *flat;
static struct Sorted *sorted;

/* ----------------------------------------------------------------------------------------------------------- data */

static u64 next_random(u64 *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void fill_arrays(void) {
    u64 seed = 1;
    for (int i = 0; i < N; i++) {
        data.ints[i] = (int)next_random(&seed) % 1000;
        data.rising[i] = i * 3;
        data.longs[i] = (long)next_random(&seed);
        data.words[i] = next_random(&seed) << 31 ^ next_random(&seed);
        data.bytes[i] = (unsigned char)(next_random(&seed) >> 4 & 0x5f);
        data.text[0][i] = data.text[1][i] = (char)('a' + next_random(&seed) % 26);
        data.floats[i] = (float)(next_random(&seed) % 1000) / 64;
        data.more_floats[i] = (float)(next_random(&seed) % 1000) / 256;
        data.doubles[i] = (double)(next_random(&seed) % 100000) / 1024;
        data.more_doubles[i] = (double)(next_random(&seed) % 100000) / 4096;
    }
    data.text[0][N - 1] = data.text[1][N - 1] = 0;
}

static void fill_matrices(void) {
    u64 seed = 2;
    for (int i = 0; i < MATRIX * MATRIX; i++)
        for (int m = 0; m < 2; m++) {
            data.mi[m][i] = (int)(next_random(&seed) % 100);
            data.md[m][i] = (double)(next_random(&seed) % 1000) / 32;
        }
    for (int i = 0; i < SIDE * SIDE; i++)
        data.m1[i] = (double)(next_random(&seed) % 1000) / 32;
    for (u32 i = 0; i < 256; i++) {
        data.crc[i] = i;
        for (int k = 0; k < 8; k++)
            data.crc[i] = data.crc[i] >> 1 ^ (data.crc[i] & 1 ? 0xedb88320 : 0);
    }
}

static void make_stencils(void) {
    static const struct Offset around[] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    flat = mem_new(sizeof(*flat) + 4 * sizeof(struct Point));
    struct Group *group = mem_new(sizeof(*group) + sizeof(around));
    sorted = mem_new(sizeof(*sorted) + sizeof(group));
    flat->ps = group->ps = 4;
    group->f = 0.25;
    memcpy(group->p, around, sizeof(around));
    for (int i = 0; i < 4; i++)
        flat->p[i] = (struct Point){0.25, around[i].dx, around[i].dy};
    sorted->gs = 1;
    sorted->g[0] = group;
}

void drivers_init(void) {
    fill_arrays();
    fill_matrices();
    make_stencils();
}

static u64 bits_of(double v) {
    u64 bits;
    memcpy(&bits, &v, sizeof(bits));
    return bits;
}

static u64 digest(const void *bytes, size_t size) {
    u64 d = 0, word;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        memcpy(&word, (const u8 *)bytes + i, 8);
        d = d * 31 + word;
    }
    return d;
}

/* -------------------------------------------------------------------------------------------------------- drivers */

/* DRIVE(name, statement): the statement calls f in round i and adds to d. */
#define DRIVE(name, statement)                                                                                         \
    static u64 drive_##name(const void *kernel, u32 times) {                                                           \
        Fn_##name *f = (Fn_##name *)kernel;                                                                            \
        u64 d = 0;                                                                                                     \
        for (u32 i = 0; i < times; i++)                                                                                \
            statement;                                                                                                 \
        return d;                                                                                                      \
    }

/* For kernels that change an array of theirs: it begins as a copy of another. */
#define DRIVE_ON(name, array, from, call)                                                                              \
    static u64 drive_##name(const void *kernel, u32 times) {                                                           \
        Fn_##name *f = (Fn_##name *)kernel;                                                                            \
        memcpy(array, from, sizeof(array));                                                                            \
        for (u32 i = 0; i < times; i++)                                                                                \
            call;                                                                                                      \
        return digest(array, sizeof(array));                                                                           \
    }

static float float_work[N];
static double double_work[N];

DRIVE(max_int, d += (u32)f((int)(i * 7919) >> 3, (int)(i * 104729)))
DRIVE(max_long, d += (u64)f((long)i * 7919, (long)(1000000 - i * 3)))
DRIVE(max_flags, d += (u32)f(data.ints[i % N], data.ints[(i + 1) % N], (int)i))
DRIVE(clamp, d += (u64)f((long)i - 500, -100, (long)i % 300))
DRIVE(sign_of, d = d * 3 + (u64)f((int)i % 5 - 2))
DRIVE(switch_dense, d = d * 5 + (u64)f((int)i % 10 - 1, data.ints[i % N], data.ints[(i + 9) % N]))
DRIVE(switch_sparse, d = d * 3 + (u64)(f((int)i) + f(-7) + f(65537)))
DRIVE(gcd, d += (u64)f(data.words[i % N], data.words[(i + 1) % N]))
DRIVE(collatz, d += (u64)f(i + 1))
DRIVE(fibonacci, d += f((int)i % 90))
DRIVE(popcount_loop, d += (u64)f(data.words[i % N]))
DRIVE(popcount_array, d += (u64)f(data.words, N - i % 8))
DRIVE(is_prime, d += (u64)f(i))
DRIVE(sum_int, d += (u64)f(data.ints, N - i % 8))
DRIVE(dot_long, d += (u64)f(data.longs, data.longs + 8, N - 8 - i % 8))
DRIVE_ON(copy_bytes, data.copy, data.text[1], f(data.copy, data.text[0], N - 8))
DRIVE(string_length, d += (u64)f(data.text[0] + i % 8))
DRIVE(string_compare, d += (u64)f(data.text[0] + i % 8, data.text[1] + i % 8))
DRIVE(binary_search, d += (u64)f(data.rising, N, (int)(i * 2654435761u >> 18)))
DRIVE_ON(bubble_sort, data.work, data.ints, f(data.work, N / 4))
DRIVE(count_runs, d += (u64)f(data.bytes, N - i % 8))
DRIVE(crc32, d += f(data.crc, data.bytes, N - i % 8))
DRIVE(fnv, d += f(data.bytes, N - i % 8))
DRIVE(murmur, d += f(data.words, N - i % 8, i))
DRIVE_ON(matrix_int, data.mi[2], data.mi[0], f(data.mi[2], data.mi[0], data.mi[1], MATRIX))
DRIVE(sum_float, d += bits_of(f(data.floats, N - i % 8)))
DRIVE(dot_double, d += bits_of(f(data.doubles, data.more_doubles, N - i % 8)))
DRIVE_ON(saxpy, float_work, data.floats, f(float_work, data.more_floats, 0.25f, N - i % 8))
DRIVE_ON(daxpy, double_work, data.doubles, f(double_work, data.more_doubles, 0.25, N - i % 8))
DRIVE(polynomial, d += bits_of(f(data.doubles, 64, 0.5 + i % 3)))
DRIVE(newton_sqrt, d += bits_of(f(data.doubles[i % N])))
DRIVE(mandelbrot, d += (u64)f(-0.7 + i % 100 * 0.01, 0.3, 200))
DRIVE_ON(matrix_double, data.md[2], data.md[0], f(data.md[2], data.md[0], data.md[1], MATRIX))
DRIVE_ON(stencil_flat, data.m2, data.m1, f(flat, data.m1, data.m2, SIDE + 1 + (int)(i % (SIDE * (SIDE - 3)))))
DRIVE_ON(stencil_sorted, data.m2, data.m1, f(sorted, data.m1, data.m2, SIDE + 1 + (int)(i % (SIDE * (SIDE - 3)))))
DRIVE_ON(stencil_direct, data.m2, data.m1, f(data.m1, data.m2, SIDE + 1 + (int)(i % (SIDE * (SIDE - 3)))))
DRIVE_ON(sse_saxpy, float_work, data.floats, f(float_work, data.more_floats, 0.25f, N - i % 8))
DRIVE(sse_sum_bytes, d += (u64)f(data.bytes, N - i % 8))
DRIVE(sse_find_byte, d += (u64)f(data.text[0] + i % 8, N - 8, '!'))
DRIVE(sse_dot, d += bits_of(f(data.doubles, data.more_doubles, N - i % 8)))

/* ------------------------------------------------------------------------------------------------------ the table */

/* How often a driver calls its kernel for a timing; kernels of a few instructions would time the driver. */
enum {
    TIMES_gcd = 60000,
    TIMES_collatz = 60000,
    TIMES_fibonacci = 300000,
    TIMES_popcount_loop = 200000,
    TIMES_popcount_array = 2500,
    TIMES_is_prime = 200000,
    TIMES_sum_int = 5000,
    TIMES_dot_long = 5000,
    TIMES_copy_bytes = 10000,
    TIMES_string_length = 5000,
    TIMES_string_compare = 3500,
    TIMES_binary_search = 300000,
    TIMES_bubble_sort = 10,
    TIMES_count_runs = 4000,
    TIMES_crc32 = 1200,
    TIMES_fnv = 1500,
    TIMES_murmur = 1200,
    TIMES_matrix_int = 160,
    TIMES_sum_float = 2000,
    TIMES_dot_double = 2000,
    TIMES_saxpy = 6000,
    TIMES_daxpy = 4000,
    TIMES_polynomial = 100000,
    TIMES_newton_sqrt = 70000,
    TIMES_mandelbrot = 40000,
    TIMES_matrix_double = 120,
    TIMES_stencil_flat = 1200000,
    TIMES_stencil_sorted = 1200000,
    TIMES_stencil_direct = 0,
    TIMES_sse_saxpy = 20000,
    TIMES_sse_sum_bytes = 80000,
    TIMES_sse_find_byte = 30000,
    TIMES_sse_dot = 4000,
    TIMES_max_int = 0,
    TIMES_max_long = 0,
    TIMES_max_flags = 0,
    TIMES_clamp = 0,
    TIMES_sign_of = 0,
    TIMES_switch_dense = 0,
    TIMES_switch_sparse = 0,
};

#define ROW(result, name, params, sig)                                                                                 \
    {#name, sig, (void *)gcc_##name, (void *)clang_##name, drive_##name, TIMES_##name},
const Kernel kernels[] = {KERNELS(ROW)};
const size_t kernel_count = ARRAY_LEN(kernels);
