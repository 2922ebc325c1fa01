/* memory_results.c LIBRARY: which functions of the C++ library for aarch64 return a class in memory is the same by the table of prototypes, which cxx.py makes from names,
 * and by their code (src/host/aarch64/result.c). */
#include <stdio.h>
#include <stdlib.h>

#include "elf/elf.h"
#include "isa/foreign.h"
#include "raise/prototypes.h"

enum { LEAST = 1500, LEAST_IN_MEMORY = 100 }; /* of functions that are compared */

int main(int argc, char **argv) {
    ElfError error;
    const ElfFunction *functions;
    ElfFile *elf = argc > 1 ? elf_open(argv[1], &error) : NULL;
    if (!elf) {
        fprintf(stderr, "FAIL: the library for aarch64 cannot be read\n");
        return 1;
    }
    size_t end = elf_extent(elf).end, count = elf_functions(elf, &functions), compared = 0, in_memory = 0, wrong = 0;
    u8 *image = calloc(1, end);
    for (u64 at = 0; at < end; at += ELF_PAGE)
        elf_read(elf, at, image + at, end - at < ELF_PAGE ? end - at : ELF_PAGE);
    for (size_t i = 0; i < count; i++) {
        const Prototype *p = functions[i].name ? prototype_find_cxx(functions[i].name) : NULL;
        if (!p)
            continue;
        bool said = *p->types == TYPE_MEMORY, done = host_returns_in_memory((u64)(image + functions[i].addr));
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
