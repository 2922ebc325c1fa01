/* binfmt_gen.c: writes a registration with binfmt_misc, by which the kernel starts lathe-KIND for programs of that kind:
 *
 *     binfmt-gen kernel KIND INTERPRETER    a line for /proc/sys/fs/binfmt_misc/register
 *     binfmt-gen debian KIND INTERPRETER    a file for update-binfmts --import
 *
 * The only flag is P: the program keeps its argv[0]. F is not set, because it opens the interpreter once for all mount namespaces, but
 * lathe-KIND needs its other programs and libraries where it runs. C is not set, because it would give lathe-KIND the rights of a
 * setuid program. */
#include <elf.h>
#include <stdio.h>

#include "isa/kinds.h"

enum { MATCHED = offsetof(Elf64_Ehdr, e_version) }; /* bytes of the header that count: e_ident, e_type, e_machine */

typedef struct Pattern {
    u8 magic[MATCHED], mask[MATCHED];
} Pattern;

/* Matches executables and position-independent ones, which differ in one bit of the type, of any OS ABI. */
static Pattern pattern_of(const Kind *k) {
    Elf64_Ehdr h = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = (u16)k->machine,
    };
    Pattern p;
    memcpy(p.magic, &h, MATCHED);
    memset(p.mask, 0xff, MATCHED);
    p.mask[EI_OSABI] = 0;
    p.mask[offsetof(Elf64_Ehdr, e_type)] = (u8) ~(ET_EXEC ^ ET_DYN);
    return p;
}

static void print_bytes(const u8 *bytes) {
    for (int i = 0; i < MATCHED; i++)
        printf("\\x%02x", bytes[i]);
}

static void print_kernel(const Kind *k, const Pattern *p, const char *interpreter) {
    printf(":lathe-%s:M::", k->name);
    print_bytes(p->magic);
    printf(":");
    print_bytes(p->mask);
    printf(":%s:P\n", interpreter);
}

static void print_debian(const Pattern *p, const char *interpreter) {
    printf("package lathe\ninterpreter %s\nmagic ", interpreter);
    print_bytes(p->magic);
    printf("\nmask ");
    print_bytes(p->mask);
    printf("\ncredentials no\npreserve yes\nfix_binary no\n");
}

int main(int argc, char **argv) {
    const Kind *kind = argc == 4 ? kind_of_name(argv[2]) : NULL;
    bool kernel = kind && !strcmp(argv[1], "kernel");
    if (!kind || (!kernel && strcmp(argv[1], "debian"))) {
        fprintf(stderr, "usage: binfmt-gen kernel|debian KIND INTERPRETER\n");
        return 2;
    }
    Pattern p = pattern_of(kind);
    if (kernel)
        print_kernel(kind, &p, argv[3]);
    else
        print_debian(&p, argv[3]);
    return 0;
}
