/* regex.c: a backtracking matcher of regular expressions over a long text: recursion and unpredictable branches. */
#include <stdio.h>
#include <string.h>

#include "work.h"

static int match_here(const char *re, const char *text, const char *end);

static int one(const char *re, const char *text, const char *end) {
    return text < end && (*re == '.' || *re == *text || (*re == '#' && *text >= '0' && *text <= '9'));
}

static int match_star(const char *re, const char *rest, const char *text, const char *end) {
    const char *t = text;
    while (one(re, t, end))
        t++;
    for (; t >= text; t--)
        if (match_here(rest, t, end))
            return 1;
    return 0;
}

static int match_here(const char *re, const char *text, const char *end) {
    for (;; re++, text++) {
        if (!*re)
            return 1;
        if (re[1] == '*')
            return match_star(re, re + 2, text, end);
        if (!one(re, text, end))
            return 0;
    }
}

int main(int argc, char **argv) {
    enum { SIZE = 1 << 16 };
    static char text[SIZE + 1];
    static const char *const patterns[] = {"a*b#c", "x.*y.z", "##*e", "ab*a*ba", "foo#*bar"};
    uint32_t seed = 5;
    long found = 0;
    for (int i = 0; i < SIZE; i++)
        text[i] = "abcdexyz01foobar\n"[work_random(&seed) % 17];
    for (long n = work_amount(argc, argv, 400); n; n--)
        for (size_t p = 0; p < sizeof(patterns) / sizeof(*patterns); p++)
            for (const char *line = text, *end; *line; line = end + !!*end) {
                end = line + strcspn(line, "\n");
                for (const char *t = line; t < end; t++)
                    found += match_here(patterns[p], t, end);
            }
    printf("%ld\n", found);
    return 0;
}
