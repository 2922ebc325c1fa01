/* text.h: an instruction as text, put together part by part. What does not fit is left out. */
#ifndef ISA_TEXT_H
#define ISA_TEXT_H

#include "base/base.h"

typedef struct Text {
    char *at;
    size_t left;
    u32 operands; /* that there are so far */
} Text;

void text_put(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Before an operand. */
void text_separate(Text *t);

#endif
