/* softnumber.h: exact numbers, of which floats of any format are made.
 *
 * A number is taken apart into sign, exponent and a significand of 128 bits whose top bit is set; the lowest bit also stands for
 * everything below it that was not zero ("sticky"). Operands have at most 64 bits.
 */
#ifndef ISA_SOFTNUMBER_H
#define ISA_SOFTNUMBER_H

#include "isa/softfloat.h"

typedef unsigned __int128 u128;

typedef enum SoftKind { NUMBER_ZERO, NUMBER_FINITE, NUMBER_INFINITE, NUMBER_QUIET, NUMBER_SIGNALING } SoftKind;

/* FINITE: significand / 2^127 * 2^exponent. */
typedef struct SoftNumber {
    u8 kind;
    bool negative;
    i32 exponent;
    u128 significand;
} SoftNumber;

static inline bool number_is_nan(const SoftNumber *n) {
    return n->kind == NUMBER_QUIET || n->kind == NUMBER_SIGNALING;
}

void number_normalize(SoftNumber *n); /* of a significand that is not zero */
u128 number_shift(u128 v, u32 count); /* to the right, with the lowest bit sticky */
/* v without its `drop` lowest bits (1 to 127), by a SoftRounding. */
u128 number_round(u8 rounding, bool negative, u128 v, u32 drop);

/* Of numbers that are none of these: not a number; opposite infinities; zero and infinity. */
SoftNumber number_add(u8 rounding, SoftNumber a, SoftNumber b);
SoftNumber number_multiply(const SoftNumber *a, const SoftNumber *b);
SoftNumber number_divide(const SoftNumber *a, const SoftNumber *b); /* finite ones */
SoftNumber number_root(const SoftNumber *a);                        /* of a finite one that is not negative */
bool number_opposite_infinities(const SoftNumber *a, const SoftNumber *b);
bool number_zero_times_infinity(const SoftNumber *a, const SoftNumber *b);

SoftNumber soft_unpack(const SoftFormat *f, u64 bits);
u64 soft_pack(SoftEnv *e, const SoftFormat *f, const SoftNumber *n); /* rounded */

/* As soft_to_int. */
u64 soft_number_to_int(SoftEnv *e, SoftNumber n, u32 bits, bool is_signed);

/* The magnitude of a finite number below 2^65, rounded; whether that was exact. */
u128 number_integer(u8 rounding, const SoftNumber *n, bool *exact);

#endif
