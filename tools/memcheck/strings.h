/* strings.h: what functions such as strlen and memcpy may access, by their arguments.
 *
 * Those of a C library read whole vectors, beyond the end of a string and of its block. What they do with that is right, so it is not reported. When one accesses
 * what it may not, its arguments are looked at instead, once for each call: what would it access if it went byte by byte? */
#ifndef MEMCHECK_STRINGS_H
#define MEMCHECK_STRINGS_H

#include "shadow.h"

/* How far an operand is accessed. */
typedef enum Extent {
    NOTHING,
    COUNT,     /* all of the third argument's number */
    TO_ZERO,   /* to the zero at its end, which belongs to it; not farther than the third argument says, if `limited` */
    TO_BYTE,   /* to the second argument, likewise */
    TO_EITHER, /* to the second argument or zero */
    FROM_BYTE, /* from the last one that is the second argument up to the end */
    TO_CHANGE, /* as long as the first and the second operand are equal */
    TO_END,    /* as TO_CHANGE, but not beyond a zero */
    TO_END_ANY, /* likewise; upper and lower case are equal */
    APPENDED,   /* from the zero of the first operand on: as many as the second operand has, and a zero */
    COPIED,     /* as many as the second operand has */
} Extent;

typedef struct StringFunction {
    const char *name;
    uint8_t read[2], write; /* Extent of the first two operands; of what is written, to the first one */
    bool limited;           /* the third argument is a number that is not exceeded */
    uint8_t unit;           /* bytes of a character */
} StringFunction;

static const StringFunction string_functions[] = {
    {"memcpy", {NOTHING, COUNT}, COUNT, true, 1},
    {"memmove", {NOTHING, COUNT}, COUNT, true, 1},
    {"mempcpy", {NOTHING, COUNT}, COUNT, true, 1},
    {"memcpy_chk", {NOTHING, COUNT}, COUNT, true, 1},
    {"memmove_chk", {NOTHING, COUNT}, COUNT, true, 1},
    {"mempcpy_chk", {NOTHING, COUNT}, COUNT, true, 1},
    {"memset", {NOTHING, NOTHING}, COUNT, true, 1},
    {"memset_chk", {NOTHING, NOTHING}, COUNT, true, 1},
    {"memcmp", {TO_CHANGE, TO_CHANGE}, NOTHING, true, 1},
    {"bcmp", {TO_CHANGE, TO_CHANGE}, NOTHING, true, 1},
    {"memcmpeq", {TO_CHANGE, TO_CHANGE}, NOTHING, true, 1},
    {"memchr", {TO_BYTE, NOTHING}, NOTHING, true, 1},
    {"memrchr", {FROM_BYTE, NOTHING}, NOTHING, true, 1},
    {"rawmemchr", {TO_BYTE, NOTHING}, NOTHING, false, 1},
    {"strlen", {TO_ZERO, NOTHING}, NOTHING, false, 1},
    {"strnlen", {TO_ZERO, NOTHING}, NOTHING, true, 1},
    {"strcpy", {NOTHING, TO_ZERO}, COPIED, false, 1},
    {"stpcpy", {NOTHING, TO_ZERO}, COPIED, false, 1},
    {"strncpy", {NOTHING, TO_ZERO}, COUNT, true, 1},
    {"stpncpy", {NOTHING, TO_ZERO}, COUNT, true, 1},
    {"strcat", {NOTHING, TO_ZERO}, APPENDED, false, 1},
    {"strncat", {NOTHING, TO_ZERO}, APPENDED, true, 1},
    {"strcmp", {TO_END, TO_END}, NOTHING, false, 1},
    {"strncmp", {TO_END, TO_END}, NOTHING, true, 1},
    {"strcasecmp", {TO_END_ANY, TO_END_ANY}, NOTHING, false, 1},
    {"strcasecmp_l", {TO_END_ANY, TO_END_ANY}, NOTHING, false, 1},
    {"strncasecmp", {TO_END_ANY, TO_END_ANY}, NOTHING, true, 1},
    {"strncasecmp_l", {TO_END_ANY, TO_END_ANY}, NOTHING, true, 1},
    {"strchr", {TO_EITHER, NOTHING}, NOTHING, false, 1},
    {"index", {TO_EITHER, NOTHING}, NOTHING, false, 1},
    {"strchrnul", {TO_EITHER, NOTHING}, NOTHING, false, 1},
    {"strrchr", {TO_ZERO, NOTHING}, NOTHING, false, 1},
    {"rindex", {TO_ZERO, NOTHING}, NOTHING, false, 1},
    /* How far these go depends on more than is looked at here. */
    {"strspn", {NOTHING, TO_ZERO}, NOTHING, false, 1},
    {"strcspn", {NOTHING, TO_ZERO}, NOTHING, false, 1},
    {"strpbrk", {NOTHING, TO_ZERO}, NOTHING, false, 1},
    {"strstr", {NOTHING, TO_ZERO}, NOTHING, false, 1},
    {"strcasestr", {NOTHING, TO_ZERO}, NOTHING, false, 1},
    {"memmem", {NOTHING, NOTHING}, NOTHING, false, 1},
    {"wcslen", {TO_ZERO, NOTHING}, NOTHING, false, 4},
    {"wcsnlen", {TO_ZERO, NOTHING}, NOTHING, true, 4},
    {"wcscpy", {NOTHING, TO_ZERO}, COPIED, false, 4},
    {"wcscmp", {TO_END, TO_END}, NOTHING, false, 4},
    {"wcsncmp", {TO_END, TO_END}, NOTHING, true, 4},
    {"wcschr", {TO_EITHER, NOTHING}, NOTHING, false, 4},
    {"wcsrchr", {TO_ZERO, NOTHING}, NOTHING, false, 4},
    {"wmemchr", {TO_BYTE, NOTHING}, NOTHING, true, 4},
    {"wmemcmp", {TO_CHANGE, TO_CHANGE}, NOTHING, true, 4},
    {"wmemset", {NOTHING, NOTHING}, COUNT, true, 4},
    {"wmemset_chk", {NOTHING, NOTHING}, COUNT, true, 4},
};

enum { STRING_FUNCTIONS = sizeof(string_functions) / sizeof(string_functions[0]) };

/* Is it the name of a function, or that of a version of it for certain processors, or of the code that chooses one? */
static bool is_version(const char *name, const char *function) {
    static const char *const suffixes[] = {"_avx",       "_evex", "_sse",     "_ssse",
                                           "_unaligned", "_erms", "_generic", "_ifunc"};
    size_t len = strlen(function);
    if (strncmp(name, function, len))
        return false;
    for (unsigned i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (!strncmp(name + len, suffixes[i], strlen(suffixes[i])))
            return true;
    return !name[len] || name[len] == '@';
}

/* By the name of a symbol, which may have something in front; NULL: it is none of these. */
static const StringFunction *string_function(const char *name) {
    static const char *const prefixes[] = {"__GI_", "__new_", "__", "_"};
    for (unsigned i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
            name += strlen(prefixes[i]);
    for (unsigned i = 0; i < STRING_FUNCTIONS; i++)
        if (is_version(name, string_functions[i].name))
            return &string_functions[i];
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------- how far it goes */

/* A part of an operand, read ahead. */
typedef struct Window {
    uint64_t from, to;
    uint8_t bytes[64];
} Window;

/* From an address up to where the program may access it; nothing if it cannot be read. */
static void window_read(Window *w, uint64_t address, unsigned least) {
    w->from = address;
    w->to = shadow_first_bad(address, address + sizeof(w->bytes));
    if (w->to > w->from && lathe_read_guest(w->bytes, w->from, w->to - w->from))
        return;
    w->to = w->to >= w->from + least && lathe_read_guest(w->bytes, w->from, least) ? w->from + least : w->from;
}

/* A character; `good` becomes false where the program has none, so that the search ends and the access is reported. */
static uint32_t character(Window *w, uint64_t address, unsigned unit, bool *good) {
    uint32_t c = 0;
    if (address < w->from || address + unit > w->to)
        window_read(w, address, unit);
    if (w->to < address + unit)
        *good = false;
    else if (unit == 1)
        c = w->bytes[address - w->from];
    else
        __builtin_memcpy(&c, w->bytes + (address - w->from), sizeof(c));
    return c;
}

static uint32_t lower(uint32_t c) {
    return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
}

/* An operand of a call, and what is known of it and of the one that it is compared with. */
typedef struct Operand {
    const StringFunction *f;
    Extent extent;
    const uint64_t *arg;
    unsigned index;
    Window own, others;
} Operand;

static bool is_compared(Extent extent) {
    return extent == TO_CHANGE || extent == TO_END || extent == TO_END_ANY;
}

/* True if it ends with its character number i. */
static bool ends(Operand *o, uint64_t i) {
    bool good = true;
    unsigned unit = o->f->unit;
    uint32_t c = character(&o->own, o->arg[o->index] + i * unit, unit, &good), other = c;
    uint32_t wanted = unit == 1 ? (uint8_t)o->arg[1] : (uint32_t)o->arg[1];
    if (is_compared(o->extent))
        other = character(&o->others, o->arg[!o->index] + i * unit, unit, &good);
    if (o->extent == TO_END_ANY)
        c = lower(c), other = lower(other);
    bool stops = (o->extent == TO_BYTE || o->extent == TO_EITHER) && c == wanted;
    bool zero = o->extent != TO_BYTE && o->extent != TO_CHANGE && !c;
    return !good || stops || zero || c != other;
}

/* How many characters of an operand are accessed. */
static uint64_t extent_of(const StringFunction *f, Extent extent, unsigned index, const uint64_t arg[3]) {
    uint64_t most = f->limited ? arg[2] : ~0ul;
    if (extent == NOTHING || extent == COUNT)
        return extent == COUNT ? arg[2] : 0;
    Operand o; /* its bytes are none yet */
    o.f = f, o.extent = extent, o.arg = arg, o.index = index;
    o.own.from = o.own.to = o.others.from = o.others.to = 0;
    for (uint64_t i = 0; i < most; i++)
        if (ends(&o, i))
            return i + 1;
    return most;
}

/* The first byte of an operand that may not be accessed; NOWHERE: it may be. */
static uint64_t bad_of_range(uint64_t from, uint64_t characters, unsigned unit) {
    uint64_t to = from + characters * unit, bad = shadow_first_bad(from, to);
    return bad < to ? bad : NOWHERE;
}

static uint64_t bad_from_byte(const uint64_t arg[3]) {
    bool good = true;
    Window w = {0};
    for (uint64_t i = arg[2]; i-- && good;)
        if (character(&w, arg[0] + i, 1, &good) == (uint8_t)arg[1] && good)
            return NOWHERE;
    return good ? NOWHERE : bad_of_range(arg[0], arg[2], 1);
}

/* Is there a zero in a string before what the program may not access? Only memory of the heap is looked at, which can be read; a granule at a time. */
static bool has_zero(uint64_t at) {
    const uint64_t low = 0x0101010101010101u;
    uint64_t before = (1ul << at % 8 * 8) - 1; /* is none of the string, and taken for anything but zero */
    for (at &= -8ul; *heap_page_of(at); at += 8, before = 0) {
        uint8_t good = *shadow_of(at);
        if (good >= TAG_FIRST)
            return false;
        uint64_t word = *(const uint64_t *)at | before | (good ? ~0ul << good * 8 : 0);
        if ((word - low) & ~word & low << 7)
            return true;
        if (good)
            return false;
    }
    return false;
}

/* True if everything is allowed that the third argument says. What is longer is not worth to look at. */
static bool all_allowed(const StringFunction *f, uint64_t at, const uint64_t arg[3]) {
    enum { WORTH = PAGE };
    return f->limited && arg[2] <= WORTH && bad_of_range(at, arg[2], f->unit) == NOWHERE;
}

static bool ends_at_zero(const StringFunction *f, Extent extent) {
    return f->unit == 1 && (extent == TO_ZERO || extent == TO_EITHER || extent == TO_END || extent == TO_END_ANY);
}

static uint64_t bad_read(const StringFunction *f, unsigned operand, const uint64_t arg[3]) {
    if (f->read[operand] == NOTHING || all_allowed(f, arg[operand], arg))
        return NOWHERE;
    if (f->read[operand] == FROM_BYTE)
        return bad_from_byte(arg);
    if (ends_at_zero(f, (Extent)f->read[operand]) && has_zero(arg[operand]))
        return NOWHERE;
    return bad_of_range(arg[operand], extent_of(f, (Extent)f->read[operand], operand, arg), f->unit);
}

static uint64_t bad_write(const StringFunction *f, const uint64_t arg[3]) {
    uint64_t copied = f->write == COPIED || f->write == APPENDED ? extent_of(f, TO_ZERO, 1, arg) : 0;
    if (f->write != APPENDED)
        return bad_of_range(arg[0], f->write == COUNT ? arg[2] : copied, f->unit);
    StringFunction whole = {.unit = f->unit};
    uint64_t before = extent_of(&whole, TO_ZERO, 0, arg);
    bool cut = f->limited && copied == arg[2]; /* then a zero follows that the second operand has not */
    return bad_of_range(arg[0], before - 1 + copied + cut, f->unit);
}

#endif
