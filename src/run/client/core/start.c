/* start.c: the client moves its own pointers to where the kernel put it, then begins.
 *
 * A static PIE without libc is its own dynamic linker. Until relocate() has run, no data with an address in it may be
 * used: no tables of strings, no switch tables, only what the code reaches relative to itself.
 */
#include <asm/unistd.h>
#include <elf.h>

#include "host_call.h"
#include "host_start.h"

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern const Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));

int client_main(int argc, char **argv, char **envp, u64 *auxv);
_Noreturn void start_c(u64 *sp);

static void relocate(void) {
    u64 base = (u64)&__ehdr_start, rela = 0, size = 0;
    for (const Elf64_Dyn *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_RELA)
            rela = base + d->d_un.d_ptr;
        else if (d->d_tag == DT_RELASZ)
            size = d->d_un.d_val;
    }
    const Elf64_Rela *end = (const Elf64_Rela *)(rela + size);
    for (const Elf64_Rela *r = (const Elf64_Rela *)rela; r < end; r++) {
        if (ELF64_R_TYPE(r->r_info) != HOST_RELATIVE)
            __builtin_trap();
        *(u64 *)(base + r->r_offset) = base + (u64)r->r_addend;
    }
}

/* sp: argc, argv…, NULL, envp…, NULL, auxv */
void start_c(u64 *sp) {
    relocate();
    int argc = (int)sp[0];
    char **argv = (char **)(sp + 1), **envp = argv + argc + 1;
    char **end = envp;
    while (*end)
        end++;
    sys1(__NR_exit_group, (u64)client_main(argc, argv, envp, (u64 *)(end + 1)));
    __builtin_trap();
}
