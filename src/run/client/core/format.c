/* format.c: text from numbers and words, as printf makes it, but for floating point and %n. */
#include "run/client/core/sys.h"

typedef struct Text {
    char *at;
    size_t len, max;
} Text;

/* One conversion: what stands between % and its letter. */
typedef struct Field {
    size_t width, precision;
    bool left, zeros, plus, space, marked /* # */, precise /* it has a precision */;
    u32 bytes; /* of an integer */
} Field;

static void put(Text *t, char c) {
    if (t->len < t->max)
        t->at[t->len++] = c;
}

static void put_many(Text *t, char c, size_t count) {
    while (count--)
        put(t, c);
}

/* `before` stands in front of the zeros: a sign, or 0x. */
static void put_field(Text *t, const Field *f, const char *before, size_t zeros, const char *s, size_t len) {
    size_t all = strlen(before) + zeros + len, pad = f->width > all ? f->width - all : 0;
    bool with_zeros = f->zeros && !f->left && !f->precise;
    put_many(t, ' ', f->left || with_zeros ? 0 : pad);
    for (; *before; before++)
        put(t, *before);
    put_many(t, '0', zeros + (with_zeros ? pad : 0));
    for (size_t i = 0; i < len; i++)
        put(t, s[i]);
    put_many(t, ' ', f->left ? pad : 0);
}

static void put_digits(Text *t, const Field *f, u64 value, u32 base, bool large, const char *before) {
    char digits[24];
    size_t at = sizeof(digits), len;
    for (; value; value /= base)
        digits[--at] = (large ? "0123456789ABCDEF" : "0123456789abcdef")[value % base];
    len = sizeof(digits) - at;
    size_t least = f->precise ? f->precision : 1;
    put_field(t, f, before, least > len ? least - len : 0, digits + at, len);
}

static void put_signed(Text *t, const Field *f, i64 value) {
    const char *sign = value < 0 ? "-" : f->plus ? "+" : f->space ? " " : "";
    put_digits(t, f, value < 0 ? -(u64)value : (u64)value, 10, false, sign);
}

static void put_unsigned(Text *t, const Field *f, u64 value, char letter) {
    bool hex = letter == 'x' || letter == 'X', large = letter == 'X';
    const char *before = !f->marked || !value ? "" : letter == 'o' ? "0" : large ? "0X" : hex ? "0x" : "";
    put_digits(t, f, value, hex ? 16 : letter == 'o' ? 8 : 10, large, before);
}

static void put_string(Text *t, const Field *f, const char *s) {
    size_t len = 0;
    s = s ? s : "(null)";
    while ((!f->precise || len < f->precision) && s[len])
        len++;
    Field plain = {.width = f->width, .left = f->left};
    put_field(t, &plain, "", 0, s, len);
}

/* ------------------------------------------------------------------------------------------------------------- reading */

typedef struct Arguments {
    va_list list;
} Arguments;

static const char *read_flags(const char *p, Field *f) {
    for (;; p++) {
        if (*p == '-')
            f->left = true;
        else if (*p == '0')
            f->zeros = true;
        else if (*p == '+')
            f->plus = true;
        else if (*p == ' ')
            f->space = true;
        else if (*p == '#')
            f->marked = true;
        else
            return p;
    }
}

/* A number, or * for one among the arguments. */
static const char *read_size(const char *p, Arguments *args, i64 *size) {
    *size = 0;
    if (*p == '*') {
        *size = va_arg(args->list, int);
        return p + 1;
    }
    for (; *p >= '0' && *p <= '9'; p++)
        *size = *size * 10 + (*p - '0');
    return p;
}

static const char *read_length(const char *p, Field *f) {
    f->bytes = sizeof(int);
    for (; *p == 'l' || *p == 'z' || *p == 'j' || *p == 't'; p++)
        f->bytes = sizeof(long);
    for (; *p == 'h'; p++)
        f->bytes /= 2;
    return p;
}

static const char *read_field(const char *p, Arguments *args, Field *f) {
    i64 size;
    *f = (Field){0};
    p = read_flags(p, f);
    p = read_size(p, args, &size);
    f->left |= size < 0;
    f->width = (size_t)(size < 0 ? -size : size);
    if (*p == '.') {
        p = read_size(p + 1, args, &size);
        f->precise = size >= 0;
        f->precision = (size_t)size;
    }
    return read_length(p, f);
}

static i64 next_signed(Arguments *args, u32 bytes) {
    if (bytes == sizeof(long))
        return va_arg(args->list, long);
    int value = va_arg(args->list, int);
    return bytes == sizeof(int) ? value : bytes == sizeof(short) ? (short)value : (signed char)value;
}

static u64 next_unsigned(Arguments *args, u32 bytes) {
    u64 value = (u64)next_signed(args, bytes);
    return bytes == sizeof(long) ? value : value & (((u64)1 << bytes * 8) - 1);
}

/* Returns false if the letter is not known. */
static bool convert(Text *t, const Field *f, char letter, Arguments *args) {
    char c;
    switch (letter) {
    case 's':
        put_string(t, f, va_arg(args->list, const char *));
        return true;
    case 'c':
        c = (char)va_arg(args->list, int);
        put_field(t, &(Field){.width = f->width, .left = f->left}, "", 0, &c, 1);
        return true;
    case 'd':
    case 'i':
        put_signed(t, f, next_signed(args, f->bytes));
        return true;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        put_unsigned(t, f, next_unsigned(args, f->bytes), letter);
        return true;
    case 'p':
        put_digits(t, f, va_arg(args->list, u64), 16, false, "0x");
        return true;
    case '%':
        put(t, '%');
        return true;
    default:
        return false;
    }
}

/* A conversion that is not known is printed as it stands, and so is all that follows: where the next argument lies depends on the type of this one. */
size_t format_args(char *buf, size_t size, const char *format, va_list list) {
    Text t = {buf, 0, size - 1};
    Arguments args;
    bool lost = false;
    va_copy(args.list, list);
    for (const char *p = format; *p; p++) {
        Field f;
        const char *letter = *p == '%' && !lost ? read_field(p + 1, &args, &f) : NULL;
        if (letter && *letter && convert(&t, &f, *letter, &args)) {
            p = letter;
            continue;
        }
        lost |= letter != NULL;
        put(&t, *p);
    }
    va_end(args.list);
    buf[t.len] = 0;
    return t.len;
}

size_t format_text(char *buf, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    size_t len = format_args(buf, size, format, args);
    va_end(args);
    return len;
}
