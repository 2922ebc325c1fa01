/* loaded.c: see loaded.h. */
#include "cli/binopt/loaded.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/isa.h"

typedef struct FileContents {
    u8 *bytes;
    size_t size;
} FileContents;

static bool read_file(const char *path, FileContents *c) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0;
    *c = (FileContents){ok ? mem_new((size_t)st.st_size + 1) : NULL, 0};
    for (ssize_t n = 1; ok && n > 0; c->size += n > 0 ? (size_t)n : 0)
        ok = (n = read(fd, c->bytes + c->size, (size_t)st.st_size - c->size)) >= 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return ok;
}

/* ----------------------------------------------------------------------------------------------- relocatable objects */

static bool is_relocatable(const FileContents *c) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)c->bytes;
    return c->size >= sizeof(*header) && !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_type == ET_REL;
}

static bool link_relocatable(Loaded *l, const FileContents *c) {
    l->jit = lathe_jit_new(NULL);
    l->guest.source = l->path;
    l->guest.arch = isa_of_host()->arch;
    if (l->jit && lathe_jit_add_object(l->jit, c->bytes, c->size) == LATHE_OK)
        return true;
    return guest_fail(&l->guest, "cannot be linked into this process: it is damaged, or names what is not here");
}

/* --------------------------------------------------------------------------------------------------------- executables */

/* The dynamic section's flags in the bytes of a file whose headers were checked; NULL: it has none. */
static Elf64_Dyn *find_flags(const FileContents *c) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)c->bytes;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(c->bytes + header->e_phoff);
    if (header->e_phoff > c->size || (c->size - header->e_phoff) / sizeof(*segments) < header->e_phnum)
        return NULL;
    for (int i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr *s = &segments[i];
        if (s->p_type != PT_DYNAMIC || s->p_offset > c->size || s->p_filesz > c->size - s->p_offset)
            continue;
        Elf64_Dyn *entries = (Elf64_Dyn *)(c->bytes + s->p_offset);
        for (size_t k = 0; k < s->p_filesz / sizeof(*entries); k++)
            if (entries[k].d_tag == DT_FLAGS_1)
                return &entries[k];
    }
    return NULL;
}

static int copy_of(const FileContents *c) {
    int fd = memfd_create("lathe-program", MFD_CLOEXEC);
    for (size_t done = 0; fd >= 0 && done < c->size;) {
        ssize_t n = write(fd, c->bytes + done, c->size - done);
        if (n <= 0) {
            close(fd);
            fd = -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return fd;
}

static bool open_library(Loaded *l, const char *path) {
    struct link_map *map;
    l->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!l->library) /* a plug-in may use names that nothing here defines */
        l->library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!l->library)
        return guest_fail(&l->guest, "cannot be loaded: %s", dlerror());
    if (dlinfo(l->library, RTLD_DI_LINKMAP, &map))
        return guest_fail(&l->guest, "cannot be loaded: %s", dlerror());
    l->bias = map->l_addr;
    return true;
}

/* Loads a copy that does not say that it is an executable, because the dynamic linker refuses executables. */
static bool open_position_independent(Loaded *l, const FileContents *c) {
    Elf64_Dyn *flags = find_flags(c);
    if (!flags || !(flags->d_un.d_val & DF_1_PIE)) {
        char *full = realpath(l->path, NULL); /* dlopen would search for a name without slash */
        bool ok = full && open_library(l, full);
        free(full);
        return ok;
    }
    flags->d_un.d_val &= ~(u64)DF_1_PIE;
    l->copy_fd = copy_of(c);
    if (l->copy_fd < 0)
        return guest_fail(&l->guest, "cannot be copied: %s", strerror(errno));
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", l->copy_fd);
    return open_library(l, path);
}

static bool protect_page(const ElfFile *elf, u64 page, bool writable) {
    int rights = PROT_READ | (writable ? PROT_WRITE : 0) | (!writable && elf_is_code(elf, page) ? PROT_EXEC : 0);
    return mprotect((void *)page, ELF_PAGE, rights) == 0;
}

static bool map_fixed(Loaded *l) {
    ElfExtent extent = elf_extent(l->guest.elf);
    u64 start = extent.start & ~(u64)(ELF_PAGE - 1), size = extent.end - start;
    void *at = mmap((void *)start, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != (void *)start)
        return guest_fail(&l->guest, "has to be at 0x%lx, where something else is", start);
    u8 bytes[ELF_PAGE];
    bool writable, ok = true;
    for (u64 page = start; ok && page < extent.end; page += ELF_PAGE)
        if (elf_read_page(l->guest.elf, page, bytes, &writable)) {
            memcpy((void *)page, bytes, ELF_PAGE);
            ok = protect_page(l->guest.elf, page, writable);
        }
    return ok || guest_fail(&l->guest, "cannot be mapped: %s", strerror(errno));
}

static bool load(Loaded *l, const FileContents *c) {
    if (is_relocatable(c))
        return link_relocatable(l, c);
    if (!guest_open_file(&l->guest, l->path))
        return false;
    l->has_file = true;
    if (l->guest.arch != isa_of_host()->arch)
        return guest_fail(&l->guest, "is for %s; only functions of this machine can be specialised",
                          lathe_arch_name(l->guest.arch));
    return elf_extent(l->guest.elf).position_independent ? open_position_independent(l, c) : map_fixed(l);
}

/* -------------------------------------------------------------------------------------------------------------- public */

bool loaded_open(Loaded *l, const char *path) {
    *l = (Loaded){.path = path, .copy_fd = -1, .guest.source = path};
    FileContents c;
    bool ok = read_file(path, &c);
    ok = ok ? load(l, &c) : guest_fail(&l->guest, "%s", strerror(errno));
    mem_free(c.bytes);
    return ok;
}

static bool linked_function(Loaded *l, const char *name, u64 *addr) {
    size_t size;
    const void *code = lathe_jit_code(l->jit, name, &size);
    if (!code)
        return guest_fail(&l->guest, "no global function called '%s'", name);
    mem_free(l->guest.bytes);
    l->guest.bytes = memcpy(mem_new(size + 1), code, size);
    l->guest.size = size;
    *addr = (u64)code;
    return true;
}

bool loaded_function(Loaded *l, const char *name, u64 *addr, u64 *file_addr) {
    ElfFunction found = {0};
    if (l->jit)
        return *file_addr = 0, linked_function(l, name, addr);
    if (!guest_find(&l->guest, name, &found))
        return false;
    *file_addr = found.addr;
    *addr = found.addr + l->bias;
    return true;
}

bool loaded_address(Loaded *l, const char *where, u64 *addr) {
    char *end;
    u64 unused, number = strtoull(where, &end, 16);
    void *exported = l->library ? dlsym(l->library, where) : l->jit ? lathe_jit_lookup(l->jit, where) : NULL;
    if (exported) {
        *addr = (u64)exported;
        return true;
    }
    if (strncmp(where, "0x", 2) || *end || l->jit)
        return loaded_function(l, where, addr, &unused);
    *addr = number + l->bias;
    return true;
}

void loaded_close(Loaded *l) {
    if (l->library)
        dlclose(l->library);
    if (l->copy_fd >= 0)
        close(l->copy_fd);
    lathe_jit_free(l->jit);
    guest_close(&l->guest);
}
