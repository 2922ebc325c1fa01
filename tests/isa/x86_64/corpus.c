/* corpus.c: see corpus.h. */
#include "corpus.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------------------- real files */

/* Who is to see the code, and how much of each file. */
typedef struct Visitor {
    CorpusVisit *visit;
    void *self;
    size_t limit;
} Visitor;

/* The section .text, or NULL. Trusts the file, which the system runs. */
static const Elf64_Shdr *find_text(const u8 *file) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)file;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_machine != EM_X86_64 || head->e_shnum == 0)
        return NULL;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + head->e_shoff);
    const char *names = (const char *)file + sections[head->e_shstrndx].sh_offset;
    for (size_t i = 0; i < head->e_shnum; i++) {
        if (strcmp(names + sections[i].sh_name, ".text") == 0)
            return &sections[i];
    }
    return NULL;
}

static void visit_file(const Visitor *v, const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(Elf64_Ehdr)) {
        printf("%s: cannot be read\n", path);
        if (fd >= 0)
            close(fd);
        return;
    }
    u8 *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        return;
    const Elf64_Shdr *text = find_text(file);
    if (text)
        v->visit(v->self, path, file + text->sh_offset, text->sh_size < v->limit ? text->sh_size : v->limit);
    munmap(file, (size_t)st.st_size);
}

static int visit_loaded(struct dl_phdr_info *info, size_t size, void *visitor) {
    (void)size;
    if (info->dlpi_name[0] == '/')
        visit_file(visitor, info->dlpi_name);
    return 0;
}

void corpus_texts(char **files, int count, size_t limit, CorpusVisit *visit, void *self) {
    Visitor v = {visit, self, limit};
    for (int i = 0; i < count; i++)
        visit_file(&v, files[i]);
    if (count)
        return;
    /* Libraries with much of SIMD, or just large; each only if it is there. */
    dlopen("libcrypto.so.3", RTLD_LAZY);
    dlopen("libLLVM.so.19.1", RTLD_LAZY);
    dl_iterate_phdr(visit_loaded, &v);
    visit_file(&v, "/bin/bash");
    visit_file(&v, "/proc/self/exe");
}

/* ------------------------------------------------------------------------------------------------------- random bytes */

u64 corpus_seed(u64 number) {
    return number * 0x9e3779b97f4a7c15 + 1;
}

static u64 random_bits(u64 *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed * 0x2545f4914f6cdd1d;
}

u32 corpus_below(u64 *seed, u32 n) {
    return (u32)((random_bits(seed) >> 32) % n);
}

void corpus_fill(u64 *seed, u8 *bytes, size_t size) {
    static const u8 prefixes[] = {0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x40, 0x48, 0x4f};
    static const u8 escapes[][2] = {{0x0f}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}, {0x0f, 0x01},
                                    {0xc4}, {0xc5}, {0x62},       {0x8f}};
    for (size_t i = 0; i < size; i++)
        bytes[i] = (u8)(random_bits(seed) >> 40);
    size_t at = 0;
    for (u32 n = corpus_below(seed, 4) ? corpus_below(seed, 4) : corpus_below(seed, 16); n > 0 && at < size; n--)
        bytes[at++] = prefixes[corpus_below(seed, ARRAY_LEN(prefixes))];
    if (corpus_below(seed, 4) == 0)
        return;
    const u8 *escape = escapes[corpus_below(seed, ARRAY_LEN(escapes))];
    if (at < size)
        bytes[at++] = escape[0];
    if (at < size && escape[1])
        bytes[at++] = escape[1];
}
