/* state_text.h: the words with which a guest's registers are read from text and written as text. */
#ifndef ISA_STATE_TEXT_H
#define ISA_STATE_TEXT_H

#include "state.h"

/* Registers that are plain little-endian integers of the state. */
typedef struct Field {
    const char *name;
    u16 offset, size;
    u64 limit; /* the largest value */
    bool hex;  /* of one byte: written in hexadecimal */
} Field;

#define FIELD_LIMITED(name, member, limit, hex)                                                                        \
    { name, offsetof(GuestCpu, member), sizeof(((GuestCpu *)0)->member), limit, hex }
#define FIELD(name, member) FIELD_LIMITED(name, member, ~0ull >> (64 - 8 * sizeof(((GuestCpu *)0)->member)), false)

/* One assignment being parsed. */
typedef struct Parse {
    State *s, *ignore;
    const char *name, *value;
    char *error;
    size_t error_size;
} Parse;

/* Fills p->error and returns false. */
bool parse_fail(Parse *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A wide register: a list such as f32:1.0,2.0 from lane 0 up, or a hexadecimal number, most significant digit first; missing
 * lanes and digits are zero. parse_list is false without an error text if it is no list. */
bool parse_wide(Parse *p, u8 *out, size_t size);
bool parse_list(Parse *p, u8 *out, size_t room, size_t *size);
/* `name=?`: is it that, and what is then left open. */
bool parse_is_open(const Parse *p);
bool parse_open(Parse *p, void *in_state, size_t size);
/* Is the name `stem` followed by a number below `limit`? */
bool parse_numbered(const char *name, const char *stem, unsigned limit, unsigned *index);

/* Text being put together. */
typedef struct Out {
    VEC(char) text;
} Out;

void out(Out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* ` <stem><index>=`, then the bytes as a number, with at least so many digits. */
void out_number(Out *o, const char *stem, unsigned index, const u8 *bytes, size_t size, size_t digits_min);
/* The end of the last differing byte: 0 if there is none. */
size_t out_differing(const void *from, const void *to, const void *ignore, size_t size);

/* The guest's part. */
extern const Field guest_fields[];
extern const size_t guest_field_count;
bool guest_assign(Parse *p); /* what is none of the fields */
void guest_changes(Out *o, const GuestCpu *from, const GuestCpu *to, const GuestCpu *ignore); /* likewise */
void guest_default(GuestCpu *c); /* deterministic, distinct register values; pc and trap are not its business */
u64 guest_mix(u64 x);            /* a number that looks random, for these */

#endif
