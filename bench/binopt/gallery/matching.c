/* matching.c: matchers of a known pattern, parsers with known options, automata with a known table. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gallery.h"

static const char text[] = "the quick brown fox jumps over the lazy dog, 42 times; then foo.c and bar.h were compiled "
                           "at 12:30 by cc -O2 -g main.c, twice";

static int match_here(const char *re, const char *s);
static int match_star(int c, const char *re, const char *s) {
    do
        if (match_here(re, s))
            return 1;
    while (*s && (*s++ == c || c == '.'));
    return 0;
}
static int match_here(const char *re, const char *s) {
    if (!re[0])
        return 1;
    if (re[1] == '*')
        return match_star(re[0], re + 2, s);
    if (re[0] == '$' && !re[1])
        return !*s;
    return *s && (re[0] == '.' || re[0] == *s) ? match_here(re + 1, s + 1) : 0;
}
KERNEL int grep(const char *re, const char *s) {
    int found = 0;
    for (; *s; s++)
        found += match_here(re, s);
    return found;
}
static char pattern[] = "o.*m.i";
static void fix_pattern(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, pattern, sizeof(pattern), BINOPT_MEM_CONST);
}
static uint64_t run_pattern(void *k) {
    return (uint64_t)((int (*)(const char *, const char *))k)(pattern, text);
}

KERNEL int glob(const char *p, const char *s) {
    const char *star = NULL, *back = s;
    while (*s) {
        if (*p == '*')
            star = p++, back = s;
        else if (*p == '?' || *p == *s)
            p++, s++;
        else if (star)
            p = star + 1, s = ++back;
        else
            return 0;
    }
    while (*p == '*')
        p++;
    return !*p;
}
static char wildcard[] = "*fox*o?er*main.?,*e";
static void fix_glob(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, wildcard, sizeof(wildcard), BINOPT_MEM_CONST);
}
static uint64_t run_glob(void *k) {
    return (uint64_t)((int (*)(const char *, const char *))k)(wildcard, text);
}

enum { STATES = 4, CLASSES = 4 };
typedef struct Automaton {
    uint8_t class_of[256], next[STATES][CLASSES], accepts[STATES];
} Automaton;
static Automaton identifiers;
static void make_automaton(void) {
    static const uint8_t next[STATES][CLASSES] = {{0, 1, 2, 0}, {0, 1, 1, 3}, {0, 0, 2, 3}, {0, 1, 2, 0}};
    for (int c = 0; c < 256; c++)
        identifiers.class_of[c] = isalpha(c) ? 1 : isdigit(c) ? 2 : c == '.' ? 3 : 0;
    memcpy(identifiers.next, next, sizeof(next));
    identifiers.accepts[1] = identifiers.accepts[2] = 1;
}
KERNEL int automaton(const Automaton *a, const char *s) {
    int state = 0, accepted = 0;
    for (; *s; s++) {
        state = a->next[state][a->class_of[(uint8_t)*s]];
        accepted += a->accepts[state];
    }
    return accepted;
}
static void fix_automaton(BinoptCfgRef cfg) {
    make_automaton();
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, &identifiers, sizeof(identifiers), BINOPT_MEM_CONST);
}
static uint64_t run_automaton(void *k) {
    return (uint64_t)((int (*)(const Automaton *, const char *))k)(&identifiers, text);
}

typedef struct Dialect {
    char separator, quote;
    int trims;
} Dialect;
static Dialect commas = {',', '"', 1};
static const char table[] = "name, \"a, b\" ,12,  x y z,,last\n1,2,3,4,5,6\n \"q\",  ,7,8,9,10\n";
KERNEL int fields(const Dialect *d, const char *s, size_t *lengths) {
    int count = 0;
    while (*s) {
        size_t length = 0;
        while (d->trims && *s == ' ')
            s++;
        if (*s == d->quote) {
            for (s++; *s && *s != d->quote; s++)
                length++;
            s += *s == d->quote;
        }
        for (; *s && *s != d->separator && *s != '\n'; s++)
            length += !d->trims || *s != ' ';
        lengths[count++] = length;
        s += *s != 0;
    }
    return count;
}
static void fix_fields(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, &commas, sizeof(commas), BINOPT_MEM_CONST);
}
static uint64_t run_fields(void *k) {
    size_t lengths[64];
    uint64_t d = 0;
    int count = ((int (*)(const Dialect *, const char *, size_t *))k)(&commas, table, lengths);
    for (int i = 0; i < count; i++)
        d = mix(d, lengths[i]);
    return d;
}

/* Numbers, names and strings of a fixed format into a buffer. */
KERNEL int format(char *to, const char *how, const long *args) {
    char *start = to;
    for (; *how; how++) {
        if (*how != '%') {
            *to++ = *how;
            continue;
        }
        switch (*++how) {
        case 'd': {
            char digits[24];
            int n = 0;
            unsigned long v = *args < 0 ? (unsigned long)-*args : (unsigned long)*args;
            if (*args++ < 0)
                *to++ = '-';
            do
                digits[n++] = (char)('0' + v % 10);
            while (v /= 10);
            while (n)
                *to++ = digits[--n];
            break;
        }
        case 'x': {
            unsigned long v = (unsigned long)*args++;
            for (int shift = 28; shift >= 0; shift -= 4)
                *to++ = "0123456789abcdef"[v >> shift & 15];
            break;
        }
        case 's':
            for (const char *s = (const char *)*args++; *s; s++)
                *to++ = *s;
            break;
        }
    }
    *to = 0;
    return (int)(to - start);
}
static char line_format[] = "%s: %d of %d at %x, %d%%\n";
static void fix_format(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 1, line_format, sizeof(line_format), BINOPT_MEM_CONST);
}
static uint64_t run_format(void *k) {
    char to[200];
    uint64_t d = 0;
    for (long i = 0; i < 20; i++) {
        long args[] = {(long)"file", i * 31, 1000, i * 77777, i};
        int n = ((int (*)(char *, const char *, const long *))k)(to, line_format, args);
        d = mix(d, (uint64_t)n + (uint8_t)to[n / 2]);
    }
    return d;
}

KERNEL int bitap(const uint64_t *masks, int length, const char *s, int errors) {
    uint64_t r[4] = {~(uint64_t)1, ~(uint64_t)1, ~(uint64_t)1, ~(uint64_t)1};
    int found = 0;
    for (; *s; s++) {
        uint64_t before = r[0];
        r[0] = (r[0] | masks[(uint8_t)*s]) << 1;
        for (int e = 1; e <= errors; e++) {
            uint64_t t = r[e];
            r[e] = (before & (r[e] | masks[(uint8_t)*s])) << 1;
            before = t;
        }
        found += !(r[errors] >> length & 1);
    }
    return found;
}
static uint64_t masks[256];
static void fix_bitap(BinoptCfgRef cfg) {
    memset(masks, 0xff, sizeof(masks));
    for (int i = 0; i < 5; i++)
        masks[(uint8_t) "lazy "[i]] &= ~((uint64_t)1 << i);
    binopt_cfg_type(cfg, 4, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, masks, sizeof(masks), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, 5);
    binopt_cfg_set_parami(cfg, 3, 2);
}
static uint64_t run_bitap(void *k) {
    return (uint64_t)((int (*)(const uint64_t *, int, const char *, int))k)(masks, 5, text, 2);
}

/* A recursive parser of sums and products; the base of its numbers is known. */
typedef struct Parser {
    const char *at;
    int base;
} Parser;
static long parse_sum(Parser *p);
static long parse_factor(Parser *p, int base) {
    if (*p->at == '(') {
        p->at++;
        long v = parse_sum(p);
        p->at++;
        return v;
    }
    long v = 0;
    for (; isalnum((uint8_t)*p->at); p->at++)
        v = v * base + (isdigit((uint8_t)*p->at) ? *p->at - '0' : *p->at - 'a' + 10);
    return v;
}
static long parse_sum(Parser *p) {
    long sum = 0, term = parse_factor(p, p->base);
    for (;; p->at++) {
        char op = *p->at;
        if (op == '*') {
            p->at++;
            term *= parse_factor(p, p->base);
            p->at--;
            continue;
        }
        sum += term;
        if (op != '+')
            return sum;
        p->at++;
        term = parse_factor(p, p->base);
        p->at--;
    }
}
KERNEL long calculate(const char *s, int base) {
    Parser p = {s, base};
    return parse_sum(&p);
}
static void fix_calculate(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT64, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 1, 10);
}
static uint64_t run_calculate(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < 10; i++)
        d += (uint64_t)((long (*)(const char *, int))k)("12*(3+45)*2+7*8*(1+2*(3+4))+1000*99+5", 10);
    return d;
}

const Kernel matching[] = {
    {"regex", grep, fix_pattern, run_pattern},
    {"glob", glob, fix_glob, run_glob},
    {"automaton", automaton, fix_automaton, run_automaton},
    {"fields", fields, fix_fields, run_fields},
    {"format", format, fix_format, run_format},
    {"bitap", bitap, fix_bitap, run_bitap},
    {"calculator", calculate, fix_calculate, run_calculate},
    {0},
};
