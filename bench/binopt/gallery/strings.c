/* strings.c: searching and coding of text with known words, tables and options. */
#include <string.h>

#include "gallery.h"

static const char text[] = "it was the best of times, it was the worst of times, it was the age of wisdom, it was the "
                           "age of foolishness, it was the epoch of belief";

static char word[] = "foolish";
KERNEL int find_all(const char *s, const char *needle, size_t length) {
    int found = 0;
    for (; *s; s++) {
        size_t i = 0;
        while (i < length && s[i] == needle[i])
            i++;
        found += i == length;
    }
    return found;
}
static void fix_find_all(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_UINT64);
    binopt_cfg_set_paramp(cfg, 1, word, sizeof(word), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 2, sizeof(word) - 1);
}
static uint64_t run_find_all(void *k) {
    return (uint64_t)((int (*)(const char *, const char *, size_t))k)(text, word, sizeof(word) - 1);
}

typedef struct Needle {
    int length;
    char word[16];
    int skip[256], fallback[16];
} Needle;
static Needle needle;
static void make_needle(void) {
    needle.length = (int)strlen(word);
    strcpy(needle.word, word);
    for (int i = 0; i < 256; i++)
        needle.skip[i] = needle.length;
    for (int i = 0; i < needle.length - 1; i++)
        needle.skip[(uint8_t)word[i]] = needle.length - 1 - i;
}
KERNEL int horspool(const Needle *n, const char *s, int size) {
    int found = 0;
    for (int at = 0; at + n->length <= size; at += n->skip[(uint8_t)s[at + n->length - 1]])
        found += !memcmp(s + at, n->word, (size_t)n->length);
    return found;
}
KERNEL int morris_pratt(const Needle *n, const char *s, int size) {
    int found = 0, at = 0;
    for (int i = 0; i < size; i++) {
        while (at && s[i] != n->word[at])
            at = n->fallback[at];
        at += s[i] == n->word[at];
        if (at == n->length) {
            found++;
            at = 0;
        }
    }
    return found;
}
static void fix_needle(BinoptCfgRef cfg) {
    make_needle();
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, &needle, sizeof(needle), BINOPT_MEM_CONST);
}
static uint64_t run_needle(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < 5; i++)
        d += (uint64_t)((int (*)(const Needle *, const char *, int))k)(&needle, text, (int)sizeof(text) - 1);
    return d;
}

KERNEL int distance(const char *known, int n, const char *other) {
    int row[32];
    for (int i = 0; i <= n; i++)
        row[i] = i;
    for (int j = 1; *other; other++, j++) {
        int diagonal = row[0];
        row[0] = j;
        for (int i = 1; i <= n; i++) {
            int best = diagonal + (known[i - 1] != *other);
            diagonal = row[i];
            if (row[i] + 1 < best)
                best = row[i] + 1;
            if (row[i - 1] + 1 < best)
                best = row[i - 1] + 1;
            row[i] = best;
        }
    }
    return row[n];
}
static void fix_distance(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, word, sizeof(word), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, sizeof(word) - 1);
}
static uint64_t run_distance(void *k) {
    return (uint64_t)((int (*)(const char *, int, const char *))k)(word, sizeof(word) - 1, "fullness and wisdom");
}

typedef struct Checks {
    int ascii_only, allow_zero, longest;
} Checks;
static Checks checks = {0, 0, 3};
KERNEL int valid_utf8(const Checks *c, const uint8_t *s, int n) {
    int letters = 0;
    for (int i = 0; i < n; letters++) {
        int more = s[i] < 0x80 ? 0 : s[i] < 0xe0 ? 1 : s[i] < 0xf0 ? 2 : 3;
        if ((!s[i] && !c->allow_zero) || (more && c->ascii_only) || more >= c->longest || i + more >= n)
            return -i;
        for (int k = 1; k <= more; k++)
            if ((s[i + k] & 0xc0) != 0x80)
                return -i - k;
        i += 1 + more;
    }
    return letters;
}
static void fix_valid(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, &checks, sizeof(checks), BINOPT_MEM_CONST);
}
static uint64_t run_valid(void *k) {
    static const char mixed[] = "gr\xc3\xbc\xc3\x9f"
                                "e \xe2\x82\xac und mehr, viel mehr Text als vorher, \xc3\xa4hnlich wie dieser";
    return (uint64_t)((int (*)(const Checks *, const char *, int))k)(&checks, mixed, (int)sizeof(mixed) - 1);
}

static char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
KERNEL int base64(char *to, const uint8_t *from, int n, const char *letters, int pads) {
    char *start = to;
    for (int i = 0; i < n; i += 3) {
        uint32_t v =
            (uint32_t)from[i] << 16 | (i + 1 < n ? (uint32_t)from[i + 1] << 8 : 0) | (i + 2 < n ? from[i + 2] : 0);
        for (int k = 0; k < 4; k++) {
            if (i + k <= n)
                *to++ = letters[v >> (18 - 6 * k) & 63];
            else if (pads)
                *to++ = '=';
        }
    }
    return (int)(to - start);
}
static void fix_base64(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 5, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR,
                    BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 3, alphabet, sizeof(alphabet), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 4, 1);
}
static uint64_t run_base64(void *k) {
    char to[256];
    int n = ((int (*)(char *, const uint8_t *, int, const char *, int))k)(to, (const uint8_t *)text, 100, alphabet, 1);
    return mix(mix((uint64_t)n, (uint8_t)to[17]), (uint8_t)to[n - 2]);
}

/* Trims, folds case and replaces as the options say. */
typedef struct Cleaning {
    int lower, digits, squeeze;
    char replacement;
} Cleaning;
static Cleaning cleaning = {1, 0, 1, '_'};
KERNEL int clean(const Cleaning *c, char *to, const char *from) {
    char *start = to;
    for (; *from; from++) {
        char x = *from;
        if (c->lower && x >= 'A' && x <= 'Z')
            x = (char)(x + 32);
        int letter = (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (c->digits && x >= '0' && x <= '9');
        if (!letter)
            x = c->replacement;
        if (!c->squeeze || letter || to == start || to[-1] != x)
            *to++ = x;
    }
    *to = 0;
    return (int)(to - start);
}
static void fix_clean(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, &cleaning, sizeof(cleaning), BINOPT_MEM_CONST);
}
static uint64_t run_clean(void *k) {
    char to[256];
    int n = ((int (*)(const Cleaning *, char *, const char *))k)(&cleaning, to, text);
    return mix(mix((uint64_t)n, (uint8_t)to[17]), (uint8_t)to[n - 2]);
}

const Kernel strings[] = {
    {"find a word", find_all, fix_find_all, run_find_all},
    {"horspool", horspool, fix_needle, run_needle},
    {"knuth-morris-pratt", morris_pratt, fix_needle, run_needle},
    {"edit distance", distance, fix_distance, run_distance},
    {"check utf-8", valid_utf8, fix_valid, run_valid},
    {"base64", base64, fix_base64, run_base64},
    {"clean text", clean, fix_clean, run_clean},
    {0},
};
