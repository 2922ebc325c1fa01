/* codemem.h: memory for linked code, never writable and executable at one address (W^X).
 *
 * Code is one memory file mapped twice: a writable view for the linker, an executable view for the CPU. Beside the
 * executable view lie the modules' writable data, close enough for 32-bit displacements. What is freed is handed out
 * again, holes first. After fork() parent and child share the code; only one of them may add more. */
#ifndef CODEGEN_CODEMEM_H
#define CODEGEN_CODEMEM_H

#include "base/base.h"

/* Bytes from `start` on, as offsets. */
typedef struct CodeHole {
    u64 start, end;
} CodeHole;

/* One of the two parts: all below `used` is taken, but for the holes, which are sorted and do not touch. */
typedef struct CodePart {
    u64 used;
    VEC(CodeHole) holes;
} CodePart;

typedef struct CodeMem {
    u8 *code_write, *code_run, *data;
    u64 size; /* bytes of code, and as many of data */
    CodePart code_part, data_part;
} CodeMem;

typedef struct CodeSpan {
    u8 *code_write, *code_run, *data;
    u64 code_bytes, data_bytes;
} CodeSpan;

/* False if the system gives no such memory. */
bool codemem_init(CodeMem *m);
/* A smaller one, from all of which 32-bit displacements reach `address` and what is around it. */
bool codemem_init_near(CodeMem *m, u64 address);
/* Does that hold for another address? */
bool codemem_reaches(const CodeMem *m, u64 address);
void codemem_free(CodeMem *m);

/* Both parts are aligned to `align`, a power of two up to a page; code to a cache line at least. False if the memory is used up. */
bool codemem_alloc(CodeMem *m, u64 code_bytes, u64 data_bytes, u64 align, CodeSpan *span);

/* Nothing runs there or uses it any more. */
void codemem_release(CodeMem *m, const CodeSpan *span);

#endif
