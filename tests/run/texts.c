/* texts.c: the client's own formatting (core/format.c) makes what the C library makes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

size_t format_text(char *buf, size_t size, const char *format, ...);

static int failures;

#define SAME(...)                                                                                                      \
    do {                                                                                                               \
        char here[200], there[200];                                                                                    \
        size_t len = format_text(here, sizeof(here), __VA_ARGS__);                                                     \
        snprintf(there, sizeof(there), __VA_ARGS__);                                                                   \
        expect(#__VA_ARGS__, here, there, len);                                                                        \
    } while (0)

static void expect(const char *what, const char *here, const char *there, size_t len) {
    if (!strcmp(here, there) && len == strlen(there))
        return;
    printf("FAIL %s: '%s', and '%s' by the C library\n", what, here, there);
    failures++;
}

#define INTEGERS(flags)                                                                                                \
    do {                                                                                                               \
        static const int numbers[] = {0, 1, -1, 7, -7, 255, 65536, -2147483647 - 1, 2147483647};                       \
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {                                            \
            int n = numbers[i];                                                                                        \
            SAME("[%" flags "d]", n);                                                                                  \
            SAME("[%" flags "i %" flags "u %" flags "x]", n, (unsigned)n, (unsigned)n);                                \
            SAME("[%" flags "X %" flags "o]", (unsigned)n, (unsigned)n);                                               \
            SAME("[%" flags "ld %" flags "lu]", (long)n << 20, (unsigned long)n << 20);                                \
            SAME("[%" flags "zu %" flags "hhu %" flags "hd]", (size_t)n, (unsigned char)n, (short)n);                  \
            SAME("[%" flags "lld %" flags "jd]", (long long)n, (long)n);                                               \
        }                                                                                                              \
    } while (0)

#pragma GCC diagnostic ignored "-Wformat"

int main(void) {
    INTEGERS("");
    INTEGERS("5");
    INTEGERS("05");
    INTEGERS("-12");
    INTEGERS("+");
    INTEGERS(" ");
    INTEGERS("#");
    INTEGERS("#12");
    INTEGERS("012");
    INTEGERS(".3");
    INTEGERS("10.5");
    INTEGERS("-+10.5");
    INTEGERS("+012");
    SAME("%s and %10s and %-10s|", "one", "two", "three");
    SAME("%.3s %.0s %10.2s|", "longer", "nothing", "two");
    SAME("%*d %-*d %.*s|", 6, 42, 6, 42, 2, "cut");
    SAME("%c%3c%-3c|", 'a', 'b', 'c');
    SAME("100%% of %s", "it");
    SAME("%p", (void *)0x1234);
    char here[8];
    CHECK(format_text(here, sizeof(here), "%s", "0123456789") == 7 && !strcmp(here, "0123456"), "cut at the end");
    /* Floating point is not known: it stands there, and so does what follows, instead of other arguments' values. */
    char text[40];
    format_text(text, sizeof(text), "%d %f %d", 1, 2.0, 3);
    expect("unknown", text, "1 %f %d", strlen(text));
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
