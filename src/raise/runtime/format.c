/* format.c: the variable arguments of printf and scanf, from a call or va_list of the guest to a va_list of the host.
 *
 * Machines differ in where integers and floating-point numbers are among variable arguments, and the format says which come when. They are
 * laid out one behind the other, as all hosts have those that are in memory. */
#include <stdlib.h>
#include <wchar.h>

#include "raise/runtime/runtime.h"

typedef enum Kind {
    KIND_NONE,
    KIND_INT, /* or a pointer */
    KIND_DOUBLE,
    KIND_EXTENDED,
} Kind;

typedef struct Kinds {
    Kind at[LIST_SLOTS];
    u32 count;
} Kinds;

static _Noreturn void stop(const char *text) {
    lathe_raise_stop(text, strlen(text), 0);
}

/* ---------------------------------------------------------------------------------------------------------- the format */

static void set_kind(Kinds *k, u32 position, Kind kind) {
    if (position >= LIST_SLOTS / 2)
        stop("a format with too many arguments");
    k->at[position] = kind;
    if (k->count <= position)
        k->count = position + 1;
}

/* The number in front of a `$`, less one; without one, the next position. */
static u32 read_position(const char **p, u32 *next) {
    const char *at = *p;
    u32 n = 0;
    while (*at >= '0' && *at <= '9')
        n = n * 10 + (u32)(*at++ - '0');
    if (*at != '$' || !n)
        return (*next)++;
    *p = at + 1;
    return n - 1;
}

/* A width or precision: a number, or `*` for one among the arguments. */
static void read_number(Kinds *k, const char **p, u32 *next) {
    if (**p == '*') {
        (*p)++;
        set_kind(k, read_position(p, next), KIND_INT);
    }
    while (**p >= '0' && **p <= '9')
        (*p)++;
}

static Kind kind_of(char conversion, bool is_long) {
    if (strchr("aAeEfFgG", conversion))
        return is_long ? KIND_EXTENDED : KIND_DOUBLE;
    return KIND_INT;
}

static const char *read_printed(Kinds *k, const char *p, u32 *next) {
    const char *own = p;
    u32 ignored = 0;
    bool has_position = (read_position(&own, &ignored), own != p);
    u32 position = has_position ? read_position(&p, next) : 0;
    while (*p && strchr("-+ #0'I", *p))
        p++;
    read_number(k, &p, next);
    if (*p == '.') {
        p++;
        read_number(k, &p, next);
    }
    bool is_long = false;
    for (; *p && strchr("hlLqjzZt", *p); p++)
        is_long |= *p == 'L';
    if (*p && *p != '%' && *p != 'm')
        set_kind(k, has_position ? position : (*next)++, kind_of(*p, is_long));
    return *p ? p + 1 : p;
}

/* Behind `[`, or `[^`, a `]` is one of the characters. */
static const char *skip_set(const char *p) {
    p += *p == '^';
    p += *p == ']';
    while (*p && *p != ']')
        p++;
    return p;
}

static const char *read_scanned(Kinds *k, const char *p, u32 *next) {
    const char *own = p;
    u32 ignored = 0;
    bool has_position = (read_position(&own, &ignored), own != p), is_skipped = false, is_long = false;
    u32 position = has_position ? read_position(&p, next) : 0;
    for (; *p && strchr("*'I0123456789", *p); p++)
        is_skipped |= *p == '*';
    for (; *p && strchr("hlLqjztm", *p); p++)
        is_long |= *p == 'L';
    if (is_long && *p && !is_skipped && kind_of(*p, true) == KIND_EXTENDED)
        stop("scanf of a long double, which has another format on this machine");
    if (*p && *p != '%' && !is_skipped)
        set_kind(k, has_position ? position : (*next)++, KIND_INT);
    if (*p == '[')
        p = skip_set(p + 1);
    return *p ? p + 1 : p;
}

static void read_format(Kinds *k, const char *format, bool scans) {
    u32 next = 0;
    for (const char *p = format; *p;) {
        if (*p++ == '%')
            p = scans ? read_scanned(k, p, &next) : read_printed(k, p, &next);
    }
}

/* -------------------------------------------------------------------------------------------------------- the arguments */

static u64 next_int(ForeignList *list) {
    if (!list->int_count)
        return *list->stack++;
    list->int_count--;
    return *list->ints++;
}

static u64 next_double(ForeignList *list) {
    u64 bits;
    if (list->floats_with_ints)
        return next_int(list);
    if (!list->float_count)
        return *list->stack++;
    list->float_count--;
    memcpy(&bits, list->floats, sizeof(bits));
    list->floats += 16;
    return bits;
}

static u64 *put_extended(u64 *slot, const void *at) {
    long double v = guest_extended(at);
    slot += (u64)slot % 16 != 0;
    memcpy(slot, &v, sizeof(v));
    return slot + sizeof(v) / sizeof(*slot);
}

/* What matters of a format is in ASCII. */
static void read_wide_format(Kinds *k, const wchar_t *format, bool scans) {
    char *narrow = malloc(wcslen(format) + 1);
    size_t i = 0;
    if (!narrow)
        stop("there is no memory for a format");
    for (; format[i]; i++)
        narrow[i] = format[i] > 0 && format[i] < 128 ? (char)format[i] : '!';
    narrow[i] = 0;
    read_format(k, narrow, scans);
    free(narrow);
}

static void *make_list(ForeignList list, const void *format, u32 kind, u8 *area) {
    Kinds kinds = {.count = 0};
    u64 *slots = (u64 *)(area + HOST_LIST_BYTES), *slot = slots;
    if (kind & FORMAT_WIDE)
        read_wide_format(&kinds, format, kind & FORMAT_SCANS);
    else
        read_format(&kinds, format, kind & FORMAT_SCANS);
    for (u32 i = 0; i < kinds.count; i++)
        switch (kinds.at[i]) {
        case KIND_NONE: /* between numbered ones: nobody knows what it is */
            stop("a format that leaves arguments out");
        case KIND_INT:
            *slot++ = next_int(&list);
            break;
        case KIND_DOUBLE:
            *slot++ = next_double(&list);
            break;
        case KIND_EXTENDED:
            slot = put_extended(slot, guest_next_extended(&list));
            break;
        }
    return host_list(area, slots);
}

void *lathe_raise_list(const ForeignRegs *regs, u32 ints, u32 floats, const void *format, u32 kind, void *area) {
    return make_list(guest_list(regs, ints, floats), format, kind, area);
}

void *lathe_raise_list_of(const void *list, const void *format, u32 kind, void *area) {
    return make_list(guest_list_of(list), format, kind, area);
}

void *lathe_raise_pointers(const ForeignRegs *regs, u32 ints, void *area) {
    ForeignList list = guest_list(regs, ints, 0);
    u64 *slots = area;
    for (u32 i = 0; i < AREA_BYTES / sizeof(*slots) - 1; i++)
        if (!(slots[i] = next_int(&list))) {
            slots[i + 1] = next_int(&list); /* what execle() has behind them */
            return area;
        }
    stop("a call with too many arguments");
}

void *lathe_raise_pointers_end(void **pointers) {
    while (*pointers)
        pointers++;
    return pointers[1];
}

long double lathe_raise_extended(const void *at) {
    return guest_extended(at);
}
