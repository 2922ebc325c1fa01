/* subjects.c: see subjects.h. What binopt has to cope with: loops, tables, pointers to functions, recursion, the C library, odd
 * stack frames. */
#include "subjects.h"

#include <immintrin.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

int subtract(int a, int b) {
    return a - b;
}

long sum_array(size_t len, const int *buf) {
    long sum = 0;
    for (size_t i = 0; i < len; i++)
        sum += buf[i];
    return sum;
}

double power(double x, unsigned n) {
    double r = 1;
    while (n) {
        if (n & 1)
            r *= x;
        x *= x;
        n >>= 1;
    }
    return r;
}

double polynomial(double x, const double *c, size_t n) {
    double r = 0, p = 1;
    for (size_t i = 0; i < n; i++) {
        r += c[i] * p;
        p *= x;
    }
    return r;
}

unsigned quotient(unsigned a, unsigned b) {
    return a / b;
}

int both_parts(int a, int b) {
    return a / b * 3 + a % b;
}

int divide(int a, int b) {
    return a / b;
}

unsigned long modulo(unsigned long a, unsigned long b) {
    return a % b;
}

double reduce(double (*op)(double, double), const double *v, size_t n) {
    double r = v[0];
    for (size_t i = 1; i < n; i++)
        r = op(r, v[i]);
    return r;
}

double add_two(double a, double b) {
    return a + b;
}

double larger(double a, double b) {
    return a > b ? a : b;
}

int jump_through(int (*f)(void)) {
    return f();
}

int forty_two(void) {
    return 42;
}

void stencil_flat(const Flat *s, const double *from, double *to, int index) {
    double v = 0;
    for (int i = 0; i < s->count; i++)
        v += s->point[i].f * from[index + s->point[i].dx + SIDE * s->point[i].dy];
    to[index] = v;
}

void stencil_sorted(const Sorted *s, const double *from, double *to, int index) {
    double v = 0;
    for (int i = 0; i < s->count; i++) {
        const Group *g = s->group[i];
        double sum = 0;
        for (int k = 0; k < g->count; k++)
            sum += from[index + g->at[k].dx + SIDE * g->at[k].dy];
        v += g->f * sum;
    }
    to[index] = v;
}

long list_sum(const Node *list, long scale) {
    long sum = 0;
    for (; list; list = list->next)
        sum += list->value * scale;
    return sum;
}

long span_sum(const Span *s, long start) {
    for (const int *p = s->begin; p != s->end; p++)
        start += *p;
    return start;
}

int day_name(int day, int c) {
    switch (day) {
    case 0:
        return 'S' + c;
    case 1:
        return 'M' - c;
    case 2:
        return c * c;
    case 3:
        return 'W' ^ c;
    case 4:
        return c << 3;
    case 5:
        return 'F';
    case 6:
        return c / 3;
    default:
        return -1;
    }
}

size_t text_length(const char *s, size_t add) {
    return strlen(s) + add;
}

int format_numbers(char *out, size_t size, int a, double b, int c) {
    return snprintf(out, size, "%d %.3f %d %d %d %s %d", a, b, c, a + c, a - c, a > c ? "more" : "less", a * c);
}

void fill(unsigned char *to, unsigned char byte, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] = byte;
}

long fib(int n, int limit) {
    return n < limit ? n : fib(n - 1, limit) + fib(n - 2, limit);
}

static APART int is_odd(unsigned n) {
    return n == 0 ? 0 : is_even(n - 1);
}

APART int is_even(unsigned n) {
    return n == 0 ? 1 : is_odd(n - 1);
}

long many_ints(int a, long b, short c, char d, unsigned e, long f, long g, int h, short i, long j) {
    return a + 2 * b + 3 * c + 4 * d + 5 * (long)e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

double many_floats(double a, float b, double c, float d, double e, float f, double g, float h, double i, float j,
                   long k) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + (double)k;
}

int8_t small(int8_t a, uint8_t b, int16_t c, uint16_t d) {
    return (int8_t)(a * 3 + b / 5 + c % 7 - (d >> 3));
}

float scale(float x, float by) {
    return x * by + 1;
}

double with_math(double x, int n) {
    double r = 0;
    for (int i = 0; i < n; i++)
        r += pow(x, i) + sin(r);
    return r;
}

static int ascending_order(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static int descending_order(const void *a, const void *b) {
    return *(const int *)b - *(const int *)a;
}

int sort_by(int *v, size_t n, int descending) {
    qsort(v, n, sizeof(*v), descending ? descending_order : ascending_order);
    return v[0];
}

long local_array(int n, int seed) {
    int v[64];
    for (int i = 0; i < 64; i++)
        v[i] = seed * i;
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[(i * 7) & 63];
    return sum;
}

long variable_array(int n, int seed) {
    int v[n];
    for (int i = 0; i < n; i++)
        v[i] = seed ^ i;
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[n - 1 - i] * i;
    return sum;
}

int jumps_back(int n) {
    jmp_buf env;
    volatile int count = 0;
    if (setjmp(env) < n) {
        count++;
        longjmp(env, count);
    }
    return count;
}

double extended(double a, double b) {
    long double x = a;
    return (double)(x * b + 1.0L);
}

APART long take_big(Big b, long x) {
    long sum = x;
    for (int i = 0; i < 9; i++)
        sum = 3 * sum + b.word[i];
    return sum;
}

long pass_big(long (*f)(Big, long), long x, long y) {
    Big b;
    for (int i = 0; i < 9; i++)
        b.word[i] = x * i + y;
    return f(b, x) + f(b, y);
}

APART long eight(long a, long b, long c, long d, long e, long f, long g, long h) {
    return a ^ (b << 1) ^ (c << 2) ^ (d << 3) ^ (e << 4) ^ (f << 5) ^ (g << 6) ^ (h << 7);
}

long callbacks(long (*f)(long, long, long, long, long, long, long, long), long n, long k) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += f(i, k, i + k, i - k, 5, 6, i * k, sum);
    return sum;
}

int checked(int n, int limit) {
    if (n > limit)
        abort();
    return n * 2;
}

long counter(long *cell, long by, int times) {
    for (int i = 0; i < times; i++)
        __atomic_fetch_add(cell, by, __ATOMIC_SEQ_CST);
    return *cell;
}

static APART long third(long a, long b) {
    return a * b + (a >> 2);
}

static APART long second(long a, long b, long c) {
    return third(a, c) - third(b, a) + c;
}

long helper_chain(long a, long b, long c) {
    return second(a, b, c) + second(c, b, a) * b;
}

const char *pick(int which) {
    static const char *const names[] = {"zero", "one", "two", "three"};
    return which >= 0 && which < 4 ? names[which] : "many";
}

int search(const int *table, int n, int key) {
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Pointers that are a known distance apart, and others that only look so. */
long between(const int *p, size_t n, const int *other) {
    long r = 0;
    const int *end = p + n, *from = other + 2;
    for (const int *q = p; q != end; q++)
        r = r * 3 + *q;
    for (const int *q = end; q != p; q--)
        r += q[-1] * (q - p);
    while (from != other)
        r ^= *--from;
    return r + (end - p) * 1000 + (p == other) + (other < from + n) + (p + 1 > end - n);
}

/* The same instruction loads other pointers each time. */
long list_apart(const int *const *p, size_t n) {
    const int *before = p[0];
    long r = 0;
    for (size_t i = 0; i < n; i++) {
        const int *now = p[i];
        r += now == before ? 1 : *now - *before + (now != before + 1);
        before = now;
    }
    return r;
}

/* Upper halves of vectors that are kept while the lower ones are computed with. */
double lanes(double x, double low, double high, double *out) {
    __m128d v = _mm_set_pd(high, low), w = _mm_set_pd(low, x), sum;
    v = _mm_mul_sd(v, w);
    _mm_storeu_pd(out, v);
    sum = _mm_add_sd(_mm_set_pd(low, high), v);
    _mm_storeu_pd(out + 2, sum);
    return low * x + high * (low + x) + _mm_cvtsd_f64(_mm_mul_sd(_mm_set_sd(low), w)) * (high + x);
}

/* Halves with their signs, zeros, and again as wholes. */
long wrapping(unsigned a, unsigned b, unsigned c) {
    unsigned d = a + b, e = d - c;
    long r = (long)(int)d * 3 + (long)(int)(d + 1) * 5 + (long)(int)(e + b) * 7;
    return r + (long)(a + c) * 11 + (long)(e + 2) * 13 + ((long)(int)e << 3) + (int)(a - b);
}

/* A number that wraps and is no index. */
long wrapped_double(unsigned x, int by) {
    return (int)(x + x) + (long)by;
}

/* A product that wraps and is a factor of one that is asked whether it fits; none of them is an index. */
long wrapped_factor(const unsigned *x, unsigned y) {
    long product = (long)(int)(*x * y) * (int)y;
    return product == (int)product ? product : product >> 32;
}

/* A number that wraps when something known is added to it, and is no index. */
long wrapped_sum(unsigned x, unsigned by) {
    return (long)(int)(x + by) * 3;
}

/* Indices of 32 bits. */
long neighbours(const long *v, int i, int by) {
    long r = 0;
    for (int k = 0; k < by; k++)
        r += v[i - by] * v[i + k] - v[i + by] + v[i] * k + v[i + k - by];
    return r;
}

long nothing_known(long a, long b) {
    return a * b - (a ^ b);
}

unsigned hash(const unsigned char *p, size_t n, unsigned seed) {
    while (n--)
        seed = (seed ^ *p++) * 16777619u;
    return seed;
}

void swap_halves(char *p, size_t n) {
    char copy[256];
    memcpy(copy, p, n / 2);
    memmove(p, p + n / 2, n - n / 2);
    memcpy(p + n - n / 2, copy, n / 2);
}

/* Tables that decide where to go, how often, and what to load. */
long interpret(const Step *program, int count, long x, const long *memory) {
    for (const Step *s = program; s != program + count; s++)
        for (int i = 0; i < s->times; i++)
            switch (s->kind) {
            case 0:
                x += s->by;
                break;
            case 1:
                x = x * 31 ^ memory[s->at + i];
                break;
            case 2:
                x = x > s->by ? x - s->by : x << 1;
                break;
            default:
                return -x;
            }
    return x;
}

/* What is written at a distance from one object is in another one. */
long far_away(long *near, long *far, int n) {
    uintptr_t distance = (uintptr_t)far - (uintptr_t)near;
    __asm__("" : "+r"(distance));
    long sum = 0;
    for (long *p = near; p != near + n; p++) {
        sum = sum * 3 + *far;
        *(long *)((uintptr_t)p + distance) += *p;
        distance -= sizeof(*p);
    }
    return sum;
}

/* Rows of four, weighted: compilers make vectors of what is not side by side. */
float weigh(const float *weight, int n, const float *rows, float *out, int count) {
    float all = 0;
    for (int x = 0; x < count; x++)
        for (int c = 0; c < 4; c++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += rows[(x + k) * 4 + c] * weight[k];
            out[x * 4 + c] = sum;
            all += sum;
        }
    return all;
}

double divide_numbers(const double *v, double x) {
    return x < 0 ? v[1] : v[1] / v[0];
}

long first_and_fifth(const long *v, long by) {
    return v[0] * by + v[4];
}

long count_up(long from, long to, long most) {
    long n = 0;
    for (unsigned long i = (unsigned long)from; i != (unsigned long)to && most > 0; i++, most--)
        n += (long)(i & 3);
    return n;
}

/* The same arguments each time, two of them on the stack. */
long same_arguments(long (*f)(long, long, long, long, long, long, long, long), long n, long k) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum = sum * 3 + f(1, 2, 3, 4, 5, k, 7, 8);
    return sum;
}

/* What no compiler makes, or hardly ever: bh with an operand beside the code; a rotation through a carry that is not known, by a
 * number that is; new vector instructions with old ones between them, which leave the upper halves alone; arguments on the stack that are overwritten,
 * as they may be; an address of the frame that is known but for its alignment. */
__asm__(".text\n"
        ".globl with_high_byte\n"
        "with_high_byte:\n\t"
        "push %rbx\n\t"
        "lea (%rdi,%rsi), %rbx\n\t"
        "and high_mask(%rip), %bh\n\t"
        "mov %rbx, %rax\n\t"
        "pop %rbx\n\t"
        "ret\n"
        "high_mask: .byte 0x5a\n"
        ".globl with_carry\n"
        "with_carry:\n\t"
        "mov $12, %ecx\n\t"
        "mov %rdi, %rax\n\t"
        "cmp $1000, %rsi\n\t"
        "rcl %cl, %rax\n\t"
        "ret\n"
        ".globl mixed_vectors\n"
        "mixed_vectors:\n\t"
        "vmovupd (%rdi), %ymm1\n\t"
        "vmovupd (%rdi), %ymm2\n\t"
        "movq %rdx, %xmm1\n\t"
        "xorps %xmm2, %xmm2\n\t"
        "vaddpd %ymm1, %ymm2, %ymm1\n\t"
        "vmovupd %ymm1, (%rsi)\n\t"
        "vzeroupper\n\t"
        "ret\n"
        ".globl aligned_store\n"
        "aligned_store:\n\t"
        "push %rbp\n\t"
        "mov %rsp, %rbp\n\t"
        "sub $192, %rsp\n\t"
        ".irp at, 0, 8, 16, 24, 32, 40, 48, 56, 64\n\t"
        "movq $5, \\at(%rsp)\n\t"
        ".endr\n\t"
        "lea 64(%rsp), %rax\n\t"
        "and $-64, %rax\n\t"
        "mov %rdi, (%rax)\n\t"
        "mov %rsi, %rax\n\t"
        ".irp at, 0, 8, 16, 24, 32, 40, 48, 56, 64\n\t"
        "add \\at(%rsp), %rax\n\t"
        ".endr\n\t"
        "leave\n\t"
        "ret\n"
        ".globl eats_arguments\n"
        "eats_arguments:\n\t"
        "mov 8(%rsp), %rax\n\t"
        "add 16(%rsp), %rax\n\t"
        "add %r9, %rax\n\t"
        "movq $1000, 8(%rsp)\n\t"
        "movq $2000, 16(%rsp)\n\t"
        "ret\n");

/* x + y. x is stored in the frame and read through an address of the frame that has been in memory itself, in a way in which
 * a rewriter may lose sight of it: */
#define LOSES_ADDRESS(name, ...)                                                                                       \
    __asm__(".text\n"                                                                                                  \
            ".globl " #name "\n" #name ":\n\t"                                                                         \
            "push %rbp\n\t"                                                                                            \
            "mov %rsp, %rbp\n\t"                                                                                       \
            "sub $64, %rsp\n\t"                                                                                        \
            "mov %rdi, -8(%rbp)\n\t" __VA_ARGS__ "mov -8(%rcx), %rax\n\t"                                              \
            "add %rsi, %rax\n\t"                                                                                       \
            "add $64, %rsp\n\t"                                                                                        \
            "pop %rbp\n\t"                                                                                             \
            "ret\n")

/* behind more known numbers than are followed */
LOSES_ADDRESS(address_behind_much, ".rept 120\n\t"
                                   "push %rsi\n\t"
                                   ".endr\n\t"
                                   "push %rbp\n\t"
                                   "pop %rcx\n\t"
                                   "add $960, %rsp\n\t");
/* across two words of the frame */
LOSES_ADDRESS(address_across_slots, "mov %rbp, -20(%rbp)\n\t"
                                    "mov -20(%rbp), %rcx\n\t");
/* with its upper bytes, which are zero, written once more */
LOSES_ADDRESS(address_in_parts, "mov %rbp, -16(%rbp)\n\t"
                                "movw $0, -10(%rbp)\n\t"
                                "mov -16(%rbp), %rcx\n\t");
/* while a string instruction writes elsewhere */
LOSES_ADDRESS(address_while_writing, "mov %rbp, -16(%rbp)\n\t"
                                     "mov %rdx, %rdi\n\t"
                                     "mov $4, %ecx\n\t"
                                     "mov $0, %eax\n\t"
                                     "rep stosb\n\t"
                                     "mov -16(%rbp), %rcx\n\t");

/* Of ten functions each calls the next one four times. */
#define LEVEL(n, next)                                                                                                 \
    __attribute__((noinline)) static long level_##n(long x, long y) {                                                  \
        return next(x + n, y) ^ next(x - n, y) ^ next(x, y + n) ^ next(x, y - n);                                      \
    }
__attribute__((noinline)) static long level_0(long x, long y) {
    return x * 3 + y;
}
LEVEL(1, level_0)
LEVEL(2, level_1)
LEVEL(3, level_2)
LEVEL(4, level_3)
LEVEL(5, level_4)
LEVEL(6, level_5)
LEVEL(7, level_6)
LEVEL(8, level_7)
LEVEL(9, level_8)

long calls_upon_calls(long x, long y) {
    return level_9(x, y) + 1;
}

void each_channel(const int *in, int *out, const int *table, int channels, int stride, int n, int mode) {
    for (int x = 0; x < n; x++)
        for (int c = 0; c < channels; c++) {
            int v = in[(x + 2) * channels + c];
            switch (mode) {
            case 0:
                v *= 3;
                break;
            case 1:
                v += table[c];
                break;
            case 2:
                v += x;
                break;
            case 3:
                for (int k = 0; k < 3; k++)
                    v += in[(x + k) * channels + c] * table[k];
                break;
            default:
                v ^= out[x * stride + c];
                break;
            }
            out[x * stride + c] = v;
        }
}

void truncate_floats(const float *from, int *to, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] = _mm_cvttss_si32(_mm_set_ss(from[i]));
}

void truncate_doubles(const double *from, int *to, long *wide, size_t n) {
    for (size_t i = 0; i < n; i++) {
        to[i] = _mm_cvttsd_si32(_mm_set_sd(from[i]));
        wide[i] = _mm_cvttsd_si64(_mm_set_sd(from[i]));
    }
}

void truncate_packed(const float *from, int *to, size_t n) {
    for (size_t i = 0; i + 4 <= n; i += 4)
        _mm_storeu_si128((__m128i *)(to + i), _mm_cvttps_epi32(_mm_loadu_ps(from + i)));
}

void reciprocals(const float *from, float *to, float *roots, size_t n) {
    for (size_t i = 0; i + 4 <= n; i += 4)
        _mm_storeu_ps(to + i, _mm_rcp_ps(_mm_loadu_ps(from + i)));
    for (size_t i = 0; i < n; i++)
        roots[i] = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(from[i])));
}

void weighted_mean(const float *pixel, const float *factor, float *mean, size_t n) {
    __m128 sum = _mm_setzero_ps();
    float total = 0;
    for (size_t i = 0; i < n; i++) {
        float w = factor[i] * factor[i];
        sum = _mm_add_ps(sum, _mm_mul_ps(_mm_loadu_ps(pixel + 4 * i), _mm_set1_ps(w)));
        total += w;
    }
    _mm_storeu_ps(mean, _mm_div_ps(sum, _mm_set1_ps(total)));
}

void strided_sums(const float *in, float *out, const float *factor, size_t terms, size_t step, size_t n) {
    for (size_t i = 0; i < n; i++) {
        __m128 sum = _mm_setzero_ps();
        for (size_t k = 0; k + 4 <= terms; k += 4) {
            const float *p = in + i + k * step;
            __m128 low = _mm_unpacklo_ps(_mm_load_ss(p), _mm_load_ss(p + step));
            __m128 high = _mm_unpacklo_ps(_mm_load_ss(p + 2 * step), _mm_load_ss(p + 3 * step));
            sum = _mm_add_ps(sum, _mm_mul_ps(_mm_movelh_ps(low, high), _mm_loadu_ps(factor + k)));
        }
        sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
        out[i] = _mm_cvtss_f32(_mm_add_ss(sum, _mm_shuffle_ps(sum, sum, 1)));
    }
}
