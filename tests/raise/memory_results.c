/* memory_results.c LIBRARY: which functions of the C++ library for aarch64 return a class in memory is the same by the table of prototypes, which cxx.py makes from names,
 * and by their code (src/host/aarch64/result.c). What accesses that threads agree on do with x8 is told of code made here. */
#include <stdio.h>
#include <stdlib.h>

#include "elf/elf.h"
#include "isa/foreign.h"
#include "raise/prototypes.h"

enum { LEAST = 1500, LEAST_IN_MEMORY = 100 }; /* of functions that are compared */

/* Behind the instruction is one that does the other thing with x8, so that it matters what the first one does. */
static size_t wrong_uses(void) {
    static const struct {
        const char *text;
        u32 word;
        bool reads;
    } all[] = {{"ldarb w8, [x0]", 0x08dffc08, false},
               {"ldaxr w8, [x0]", 0x885ffc08, false},
               {"ldxp x8, x9, [x0]", 0xc87f2408, false},
               {"ldxp x9, x8, [x0]", 0xc87f2009, false},
               {"stxr w8, w1, [x0]", 0x88087c01, false},
               {"stxp w8, x1, x2, [x0]", 0xc8280801, false},
               {"ldadd w1, w8, [x0]", 0xb8210008, false},
               {"swpal w1, w8, [x0]", 0xb8e18008, false},
               {"stlr x8, [x0]", 0xc89ffc08, true},
               {"ldar x1, [x8]", 0xc8dffd01, true},
               {"stxr w1, x8, [x0]", 0xc8017c08, true},
               {"stxp w1, x2, x8, [x0]", 0xc8212002, true},
               {"ldadd w8, w1, [x0]", 0xb8280001, true},
               {"cas x8, x1, [x0]", 0xc8a87c01, true},
               {"casp x8, x9, x2, x3, [x0]", 0x48287c02, true}};
    size_t wrong = 0;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        u32 store = all[i].reads ? 0xd2800008 : 0xf9000100; /* mov x8, #0, or str x0, [x8] */
        const u32 code[] = {all[i].word, store, 0xd65f03c0, 0xd65f03c0};
        if (host_returns_in_memory((u64)code, 0) != all[i].reads) {
            printf("FAIL: %s: x8 is said to be %s\n", all[i].text, all[i].reads ? "written" : "read");
            wrong++;
        }
    }
    return wrong;
}

int main(int argc, char **argv) {
    ElfError error;
    const ElfFunction *functions;
    ElfFile *elf = argc > 1 ? elf_open(argv[1], &error) : NULL;
    if (!elf) {
        fprintf(stderr, "FAIL: the library for aarch64 cannot be read\n");
        return 1;
    }
    size_t end = elf_extent(elf).end, count = elf_functions(elf, &functions), compared = 0, in_memory = 0,
           wrong = wrong_uses();
    u8 *image = calloc(1, end);
    for (u64 at = 0; at < end; at += ELF_PAGE)
        elf_read(elf, at, image + at, end - at < ELF_PAGE ? end - at : ELF_PAGE);
    for (size_t i = 0; i < count; i++) {
        const Prototype *p = functions[i].name ? prototype_find_cxx(functions[i].name) : NULL;
        if (!p)
            continue;
        bool said = *p->types == TYPE_MEMORY, done = host_returns_in_memory((u64)(image + functions[i].addr), 0);
        compared++;
        in_memory += said;
        if (said != done) {
            printf("FAIL: %s: the table says %s, the code %s\n", p->name, said ? "memory" : "registers",
                   done ? "memory" : "registers");
            wrong++;
        }
    }
    printf("%zu functions were compared, of which %zu return a class in memory\n", compared, in_memory);
    free(image);
    elf_close(elf);
    return wrong || compared < LEAST || in_memory < LEAST_IN_MEMORY;
}
