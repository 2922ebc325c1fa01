/* lines.h: IR and assembly as lines of text, each with the guest instruction that it was made of. */
#ifndef CLI_EXPLORE_LINES_H
#define CLI_EXPLORE_LINES_H

#include <llvm-c/Types.h>

#include "base/base.h"

typedef struct Line {
    const char *text; /* not ended by a zero */
    u32 size;
    u32 from; /* the instruction's number, see lathe_func_line; 0: none */
} Line;

typedef VEC(Line) Lines;

/* A function. The text is in *memory, to be freed by LLVMDisposeMessage when the lines are no longer needed. */
void lines_of_function(Lines *lines, LLVMValueRef function, char **memory);

/* The same lines in another order: gives those of `plain` the origins that they have in `marked`. */
void lines_take_origins(Lines *plain, const Lines *marked);
u64 line_hash(const Line *line); /* of its text */

/* The instructions, labels and constants of assembly that LLVM has written; the lines are pieces of `text`. */
void lines_of_assembly(Lines *lines, const char *text);

#endif
