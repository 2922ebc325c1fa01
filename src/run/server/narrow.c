/* narrow.c: checks that an object's code is true to a narrow signature (func_vectors).
 *
 * Vector registers that are not among a function's arguments still hold values of the guest, but LLVM does not know that. It rarely has a
 * reason to change them. Whether it did can be seen in the code that it made: this examines every instruction, and every symbol that the
 * code refers to. */
#include <elf.h>
#include <stdio.h>

#include "host/host.h"
#include "run/server/server.h"
#include "tool/package.h"

/* What a tool has is data, or a function that keeps registers (tool/keep.h). */
static bool is_of_tool(const char *name) {
    size_t len = strlen(name), last = strlen(TOOL_KEEPS);
    return !strncmp(name, TOOL_DATA_PREFIX, strlen(TOOL_DATA_PREFIX)) || !strncmp(name, "site_", 5) ||
           !strncmp(name, "row_", 4) ||
           (!strncmp(name, TOOL_PREFIX, strlen(TOOL_PREFIX)) && len > last && !strcmp(name + len - last, TOOL_KEEPS));
}

/* True for lifted functions and for data. Other functions follow C's convention and preserve no vector register. */
static bool may_refer_to(const char *name) {
    static const char *const others[] = {SYMBOL_GUEST, SYMBOL_MISS, SYMBOL_JUMP_MISS, SYMBOL_STALE};
    unsigned long long pc;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (!strcmp(name, others[i]))
            return true;
    return is_of_tool(name) || sscanf(name, FUNCTION_NAME, &pc) == 1;
}

static bool refers_to_lifted_only(const u8 *object, const Elf64_Shdr *sections, const Elf64_Shdr *table) {
    const char *names = (const char *)object + sections[table->sh_link].sh_offset;
    const Elf64_Sym *symbols = (const Elf64_Sym *)(object + table->sh_offset);
    for (size_t i = 1; i < table->sh_size / sizeof(Elf64_Sym); i++)
        if (symbols[i].st_shndx == SHN_UNDEF && !may_refer_to(names + symbols[i].st_name))
            return false;
    return true;
}

bool narrow_holds(const void *object, unsigned vectors) {
    const Elf64_Ehdr *header = object;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)((const u8 *)object + header->e_shoff);
    for (size_t i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i];
        if (s->sh_type == SHT_PROGBITS && s->sh_flags & SHF_EXECINSTR &&
            !host_own()->keeps_vectors((const u8 *)object + s->sh_offset, s->sh_size, vectors))
            return false;
        if (s->sh_type == SHT_SYMTAB && !refers_to_lifted_only(object, sections, s))
            return false;
    }
    return true;
}
