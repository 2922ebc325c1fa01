/* kinds.c: see kinds.h. */
#include "isa/kinds.h"

#include <elf.h>
#include <stdio.h>
#include <unistd.h>

/* By LatheArch, as the table is. */
static const Kind kinds[] = {
#define ISA(folder, name, machine, weak, hwcaps, flags, runs) {name, #folder, machine, weak, hwcaps, flags, runs},
#include "isa/isas.def"
#undef ISA
};

static u32 machine_of(const char *path) {
    Elf64_Ehdr head = {0};
    FILE *file = fopen(path, "rb");
    bool ok = file && fread(&head, sizeof(head), 1, file) == 1 && !memcmp(head.e_ident, ELFMAG, SELFMAG);
    if (file)
        fclose(file);
    return ok && head.e_ident[EI_CLASS] == ELFCLASS64 ? head.e_machine : EM_NONE;
}

const Kind *kind_of_name(const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (kinds[i].runs && !strcmp(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

const Kind *kind_of_file(const char *path) {
    u32 machine = machine_of(path);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (kinds[i].runs && kinds[i].machine == machine)
            return &kinds[i];
    return NULL;
}

const Kind *kind_of_host(void) {
    return kind_of_file("/proc/self/exe");
}

const Kind *kind_of_arch(LatheArch arch) {
    return &kinds[arch];
}

LatheArch kind_arch(const Kind *k) {
    return (LatheArch)(k - kinds);
}

void kind_sysroot(const Kind *k, char *path, size_t size) {
    snprintf(path, size, "/usr/%s-linux-gnu", k->folder);
    if (k == kind_of_host() || access(path, X_OK))
        *path = 0;
}
