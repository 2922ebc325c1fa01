/* text.c: see text.h. */
#include "isa/text.h"

#include <stdarg.h>
#include <stdio.h>

void text_put(Text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at, t->left, format, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left ? t->left - 1 : 0;
    t->at += used;
    t->left -= used;
}

void text_separate(Text *t) {
    text_put(t, t->operands++ ? ", " : " ");
}
