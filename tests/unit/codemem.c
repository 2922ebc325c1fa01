/* codemem.c: where code is put. Nothing is written there, so the memory need not exist. */
#include "codegen/codemem.h"

#include <stdio.h>

static int failures;
#define EXPECT(holds)                                                                                                  \
    do {                                                                                                               \
        if (!(holds)) {                                                                                                \
            printf("codemem.c:%d: %s\n", __LINE__, #holds);                                                            \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

enum { SIZE = 1 << 16, PIECE = 256, COUNT = 200 };

/* Exceptions do not pass functions at a multiple of 4 GiB, be it at the memory's beginning or inside. */
static void test_multiples(u64 start) {
    CodeMem m = {.code_write = (u8 *)0x10000000, .code_run = (u8 *)start, .data = (u8 *)(start + SIZE), .size = SIZE};
    CodeSpan spans[COUNT];
    u32 placed = 0;
    while (placed < COUNT && codemem_alloc(&m, PIECE, PIECE, 1, &spans[placed])) {
        EXPECT((u32)(u64)spans[placed].code_run != 0);
        EXPECT((u64)spans[placed].code_run - start == (u64)spans[placed].code_write - 0x10000000);
        placed++;
    }
    EXPECT(placed == COUNT);
    for (u32 i = 0; i < placed; i += 2)
        codemem_release(&m, &spans[i]);
    for (u32 i = 0; i < placed; i += 2) {
        EXPECT(codemem_alloc(&m, PIECE, PIECE, 1, &spans[i]));
        EXPECT((u32)(u64)spans[i].code_run != 0);
    }
    for (u32 i = 0; i < placed; i++)
        for (u32 k = 0; k < i; k++)
            EXPECT(spans[i].code_run + PIECE <= spans[k].code_run || spans[k].code_run + PIECE <= spans[i].code_run);
    VEC_FREE(&m.code_part.holes);
    VEC_FREE(&m.data_part.holes);
}

int main(void) {
    test_multiples(0x563500000000);
    test_multiples(0x563500000000 - 4 * PIECE);
    test_multiples(0x563500000000 - PIECE / 2);
    test_multiples(0x563512340000);
    printf("%d failures\n", failures);
    return failures != 0;
}
