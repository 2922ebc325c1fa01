/* subjects.h: functions to be specialised, compiled by several compilers at several levels. */
#ifndef TESTS_BINOPT_SUBJECTS_H
#define TESTS_BINOPT_SUBJECTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct Point {
    double f;
    int dx, dy;
} Point;
typedef struct Flat {
    int count;
    Point point[8];
} Flat;
typedef struct Offset {
    int dx, dy;
} Offset;
typedef struct Group {
    double f;
    int count;
    Offset at[8];
} Group;
typedef struct Sorted {
    int count;
    Group *group[4];
} Sorted;
typedef struct Node {
    long value;
    struct Node *next;
} Node;
typedef struct Span {
    const int *begin, *end;
} Span;
typedef struct Step {
    uint8_t kind, times;
    uint16_t at;
    int by;
} Step;
typedef struct Big {
    long word[9];
} Big;

enum { SIDE = 33 };

int subtract(int a, int b);
long sum_array(size_t len, const int *buf);
double power(double x, unsigned n);
double polynomial(double x, const double *c, size_t n);
int divide(int a, int b);
unsigned quotient(unsigned a, unsigned b);
int both_parts(int a, int b);
unsigned long modulo(unsigned long a, unsigned long b);
double reduce(double (*op)(double, double), const double *v, size_t n);
double add_two(double a, double b);
double larger(double a, double b);
int jump_through(int (*f)(void));
int forty_two(void);
void stencil_flat(const Flat *s, const double *from, double *to, int index);
void stencil_sorted(const Sorted *s, const double *from, double *to, int index);
long list_sum(const Node *list, long scale);
long span_sum(const Span *s, long start);
int day_name(int day, int c);
size_t text_length(const char *s, size_t add);
int format_numbers(char *out, size_t size, int a, double b, int c);
void fill(unsigned char *to, unsigned char byte, size_t n);
long fib(int n, int limit);
int is_even(unsigned n);
long many_ints(int a, long b, short c, char d, unsigned e, long f, long g, int h, short i, long j);
double many_floats(double a, float b, double c, float d, double e, float f, double g, float h, double i, float j,
                   long k);
int8_t small(int8_t a, uint8_t b, int16_t c, uint16_t d);
float scale(float x, float by);
double with_math(double x, int n);
int sort_by(int *v, size_t n, int descending);
long local_array(int n, int seed);
long variable_array(int n, int seed);
int jumps_back(int n);
double extended(double a, double b);
long pass_big(long (*f)(Big, long), long x, long y);
long take_big(Big b, long x);
long callbacks(long (*f)(long, long, long, long, long, long, long, long), long n, long k);
long eight(long a, long b, long c, long d, long e, long f, long g, long h);
int checked(int n, int limit);
long counter(long *cell, long by, int times);
long helper_chain(long a, long b, long c);
const char *pick(int which);
int search(const int *table, int n, int key);
long nothing_known(long a, long b);
long between(const int *p, size_t n, const int *other);
long list_apart(const int *const *p, size_t n);
double lanes(double x, double low, double high, double *out);
long wrapping(unsigned a, unsigned b, unsigned c);
long wrapped_double(unsigned x, int by);
long wrapped_factor(const unsigned *x, unsigned y);
long wrapped_sum(unsigned x, unsigned by);
long neighbours(const long *v, int i, int by);
unsigned hash(const unsigned char *p, size_t n, unsigned seed);
void swap_halves(char *p, size_t n);
long interpret(const Step *program, int count, long x, const long *memory);
long far_away(long *near, long *far, int n);
float weigh(const float *weight, int n, const float *rows, float *out, int count);
double divide_numbers(const double *v, double x);
long first_and_fifth(const long *v, long by);
long with_high_byte(long x, long y);
long with_carry(long x, unsigned long y);
void mixed_vectors(const double *from, double *to, long x);
long count_up(long from, long to, long most);
long same_arguments(long (*f)(long, long, long, long, long, long, long, long), long n, long k);
long aligned_store(long x, long y);
long eats_arguments(long a, long b, long c, long d, long e, long f, long g, long h);
long address_behind_much(long x, long y, char *four_bytes);
long address_across_slots(long x, long y, char *four_bytes);
long address_in_parts(long x, long y, char *four_bytes);
long address_while_writing(long x, long y, char *four_bytes);
long calls_upon_calls(long x, long y);
/* n pixels of some channels, `stride` apart where they go; `mode` is what else goes into them. */
void each_channel(const int *in, int *out, const int *table, int channels, int stride, int n, int mode);
/* By the CPU's rule for what is no int, where C has none. */
void truncate_floats(const float *from, int *to, size_t n);
void truncate_doubles(const double *from, int *to, long *wide, size_t n);
void truncate_packed(const float *from, int *to, size_t n);
void reciprocals(const float *from, float *to, float *roots, size_t n);
/* The mean of n pixels of four channels, in vectors; factors are squared in scalars. */
void weighted_mean(const float *pixel, const float *factor, float *mean, size_t n);
/* out[i] is the sum of in[i + k * step] * factor[k]; sums of four are in vectors, which are put together by halves. */
void strided_sums(const float *in, float *out, const float *factor, size_t terms, size_t step, size_t n);

#endif
