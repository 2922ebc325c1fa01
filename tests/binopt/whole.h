/* whole.h: functions whose results and parameters are more than a BinoptType can say. */
#ifndef TESTS_BINOPT_WHOLE_H
#define TESTS_BINOPT_WHOLE_H

#include <complex.h>

typedef struct Longs {
    long a, b;
} Longs;
typedef struct LongDouble {
    long a;
    double b;
} LongDouble;
typedef struct DoubleLong {
    double a;
    long b;
} DoubleLong;
typedef struct Doubles {
    double a, b;
} Doubles;
typedef struct Floats {
    float a, b;
} Floats;
typedef struct Small {
    int a;
    char b;
    short c[3];
} Small;
typedef struct Bits {
    unsigned a : 3, b : 12;
    float c;
    double d;
} Bits;
typedef struct Large {
    long a, b, c;
} Large;

Longs return_longs(long x, long k);
Longs return_passed(long x, long k, long y); /* the second half is in its register from the beginning */
Longs return_called(long x, long k);         /* both halves are another function's */
Longs return_quotients(long x, long k);
__int128 return_wide(long x, long k);
LongDouble return_long_double(long x, long k);
DoubleLong return_double_long(long x, long k);
Doubles return_doubles(long x, long k);
Floats return_floats(long x, long k);
Small return_small(long x, long k);
Bits return_bits(long x, long k);
Large return_large(long x, long k);
double _Complex return_complex(long x, long k);
float _Complex return_complex_float(long x, long k);
long double return_x87(long x, long k);
long return_long(long x, long k);
long sum(const long *at, long k);

long take_longs(Longs s, long k);
long take_mixed(LongDouble s, long k);
long take_many(long k, long b, long c, long d, long e, long f, long g, long h);

#endif
