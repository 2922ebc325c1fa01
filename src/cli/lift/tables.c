/* tables.c: the lists `lathe lift` can print without lifting anything. */
#include "cli/lift/show.h"

void show_support(FILE *out, LatheArch arch, LatheHost host) {
    LatheSupport row;
    size_t count = 0, deviating = 0;
    bool has_flags = lathe_support(arch, host, 0, &row) && row.flags;
    fprintf(out, "%-16s %s%s\n", "instruction", has_flags ? "ODISZAPC  " : "", "deviation from the CPU");
    for (; lathe_support(arch, host, count, &row); count++) {
        const char *gap = has_flags && row.deviation ? "  " : "";
        fprintf(out, "%-16s %s%s%s\n", row.mnemonic, has_flags ? row.flags : "", gap,
                row.deviation ? row.deviation : "");
        deviating += row.deviation != NULL;
    }
    fprintf(out, "%zu instructions, %zu with a known deviation\n", count, deviating);
}

void show_functions(FILE *out, const ElfFile *elf) {
    const ElfFunction *functions;
    size_t count = elf_functions(elf, &functions);
    for (size_t i = 0; i < count; i++) {
        const ElfFunction *f = &functions[i];
        fprintf(out, f->name ? "0x%lx %6lu %s\n" : "0x%lx %6lu\n", f->addr, f->size, f->name);
    }
}
