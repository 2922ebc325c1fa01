/* elf.c: opens an ELF file, checks its headers, and reads its segments as guest memory.
 *
 * The whole file is mapped read-only. Every offset and size of the headers is checked against the file here, once, so
 * that the rest works with pointers that are known to be good.
 */
#include "elf/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/parts.h"

bool elf_fail(ElfError *error, LatheStatus status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    error->status = status;
    return false;
}

const Segment *elf_segment(const ElfFile *elf, u64 addr) {
    size_t low = 0, high = elf->segments.len;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (addr >= elf->segments.at[mid].end)
            low = mid + 1;
        else
            high = mid;
    }
    return low < elf->segments.len && addr >= elf->segments.at[low].start ? &elf->segments.at[low] : NULL;
}

const u8 *elf_contents(const ElfFile *elf, u64 addr, u64 size) {
    const Segment *s = elf_segment(elf, addr);
    if (!s || addr - s->start > s->byte_count || size > s->byte_count - (addr - s->start))
        return NULL;
    return s->bytes + (addr - s->start);
}

/* ------------------------------------------------------------------------------------------------------- reading */

/* Copies from one segment; addr is inside it. */
static size_t copy(const Segment *s, u64 addr, u8 *buf, size_t size) {
    u64 offset = addr - s->start;
    if (size > s->end - addr)
        size = s->end - addr;
    size_t from_file = offset < s->byte_count ? s->byte_count - offset : 0;
    if (from_file > size)
        from_file = size;
    if (from_file)
        memcpy(buf, s->bytes + offset, from_file);
    memset(buf + from_file, 0, size - from_file);
    return size;
}

/* Where the constant memory that begins at addr ends, at most at end; addr if it is not constant. */
static u64 const_end(const ElfFile *elf, const Segment *s, u64 addr, u64 end) {
    if (!s->writable || s->executable)
        return end;
    for (size_t i = 0; i < elf->relro.len; i++) {
        const LatheRange *r = &elf->relro.at[i];
        if (addr >= r->start && addr < r->end)
            return elf_unknown_cell(elf, addr, end < r->end ? end : r->end);
    }
    return addr;
}

static size_t read_image(const ElfFile *elf, u64 addr, u8 *buf, size_t size, bool only_const) {
    size_t done = 0;
    while (done < size) {
        u64 at = addr + done;
        const Segment *s = elf_segment(elf, at);
        if (!s)
            break;
        size_t want = size - done;
        if (want > s->end - at)
            want = s->end - at;
        size_t may = only_const ? const_end(elf, s, at, at + want) - at : want;
        done += copy(s, at, buf + done, may);
        if (may < want)
            break;
    }
    elf_apply_cells(elf, addr, buf, done);
    return done;
}

size_t elf_read(void *elf, u64 addr, void *buf, size_t size) {
    return read_image(elf, addr, buf, size, false);
}

size_t elf_read_const(void *elf, u64 addr, void *buf, size_t size) {
    return read_image(elf, addr, buf, size, true);
}

/* The mapping that holds a page: of two that share it, the later one, as the loader maps them. */
static const Segment *mapping_at(const ElfFile *elf, u64 page) {
    for (size_t i = elf->segments.len; i-- > 0;) {
        const Segment *s = &elf->segments.at[i];
        if (page >= (s->start & -(u64)ELF_PAGE) && page < s->end)
            return s;
    }
    return NULL;
}

bool elf_read_page(const ElfFile *elf, u64 page, u8 *bytes, bool *writable) {
    const Segment *s = mapping_at(elf, page);
    if (!s)
        return false;
    *writable = s->writable;
    memset(bytes, 0, ELF_PAGE);
    u64 in_file = (u64)(s->bytes - elf->map) + page - s->start, left = elf->map_size - in_file;
    bool beyond = page >= s->start && page - s->start >= s->byte_count;
    if (!beyond && in_file < elf->map_size)
        memcpy(bytes, elf->map + in_file, left < ELF_PAGE ? left : ELF_PAGE);
    return true;
}

/* ------------------------------------------------------------------------------------------------------- opening */

static const char *machine_name(unsigned machine, char *buf, size_t size) {
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {
        {EM_386, "EM_386"},     {EM_ARM, "EM_ARM"},     {EM_AARCH64, "EM_AARCH64"},     {EM_RISCV, "EM_RISCV"},
        {EM_PPC, "EM_PPC"},     {EM_PPC64, "EM_PPC64"}, {EM_S390, "EM_S390"},           {EM_MIPS, "EM_MIPS"},
        {EM_SPARC, "EM_SPARC"}, {EM_BPF, "EM_BPF"},     {EM_LOONGARCH, "EM_LOONGARCH"}, {EM_X86_64, "EM_X86_64"},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].machine == machine)
            return names[i].name;
    snprintf(buf, size, "machine %u", machine);
    return buf;
}

static bool map_file(ElfFile *elf, const char *path, ElfError *error) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return elf_fail(error, LATHE_ERR_ARGUMENT, "%s", strerror(why));
    }
    bool plain = S_ISREG(st.st_mode) && st.st_size > 0;
    void *map = plain ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    int why = errno;
    close(fd);
    if (S_ISDIR(st.st_mode))
        return elf_fail(error, LATHE_ERR_ARGUMENT, "is a directory");
    if (!plain)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "not an ELF file: %s",
                        S_ISREG(st.st_mode) ? "it is empty" : "not a regular file");
    if (map == MAP_FAILED)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "cannot be mapped: %s", strerror(why));
    elf->map = map;
    elf->map_size = (size_t)st.st_size;
    return true;
}

static bool check_identity(ElfFile *elf, ElfError *error) {
    Elf64_Ehdr h;
    if (elf->map_size < SELFMAG || memcmp(elf->map, ELFMAG, SELFMAG) != 0)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "not an ELF file");
    if (elf->map_size < EI_NIDENT + 4)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "truncated: the file ends inside its ELF header");
    memcpy(&h, elf->map, elf->map_size < sizeof(h) ? elf->map_size : sizeof(h));
    bool big = h.e_ident[EI_DATA] == ELFDATA2MSB;
    unsigned machine = big ? __builtin_bswap16(h.e_machine) : h.e_machine;
    char name[32];
    elf->isa = isa_of_machine(machine);
    if (!elf->isa)
        return elf_fail(error, LATHE_ERR_ARCH, "unknown architecture: %s", machine_name(machine, name, sizeof(name)));
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB)
        return elf_fail(error, LATHE_ERR_ARCH, "unknown architecture: %s, but not 64-bit little-endian",
                        machine_name(machine, name, sizeof(name)));
    if (elf->map_size < sizeof(h))
        return elf_fail(error, LATHE_ERR_ARGUMENT, "truncated: the file ends inside its ELF header");
    if (h.e_type != ET_EXEC && h.e_type != ET_DYN)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "neither an executable nor a shared library%s",
                        h.e_type == ET_REL ? " (an object file: link it first)" : "");
    return true;
}

static bool in_file(const ElfFile *elf, u64 offset, u64 size) {
    return offset <= elf->map_size && size <= elf->map_size - offset;
}

/* libelf quietly shows fewer headers than a truncated file has; we want to tell. */
static bool check_tables(const ElfFile *elf, ElfError *error) {
    Elf64_Ehdr h;
    memcpy(&h, elf->map, sizeof(h));
    if (h.e_phentsize != sizeof(Elf64_Phdr) || h.e_phnum == 0)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "no program headers: nothing of the file is loaded");
    if (!in_file(elf, h.e_phoff, (u64)h.e_phnum * sizeof(Elf64_Phdr)))
        return elf_fail(error, LATHE_ERR_ARGUMENT, "truncated: the program headers lie outside the file");
    if (h.e_shnum && h.e_shentsize != sizeof(Elf64_Shdr))
        return elf_fail(error, LATHE_ERR_ARGUMENT, "broken: section headers of %u bytes", h.e_shentsize);
    if (!in_file(elf, h.e_shoff, (u64)h.e_shnum * sizeof(Elf64_Shdr)))
        return elf_fail(error, LATHE_ERR_ARGUMENT, "truncated: the section headers lie outside the file");
    return true;
}

static bool add_segment(ElfFile *elf, const GElf_Phdr *p, ElfError *error) {
    if (p->p_memsz == 0)
        return true;
    if (!in_file(elf, p->p_offset, p->p_filesz))
        return elf_fail(error, LATHE_ERR_ARGUMENT, "truncated: the segment at 0x%lx lies outside the file", p->p_vaddr);
    if (p->p_filesz > p->p_memsz || p->p_vaddr + p->p_memsz < p->p_vaddr)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "broken: the segment at 0x%lx has impossible sizes", p->p_vaddr);
    const Segment *last = elf->segments.len ? &elf->segments.at[elf->segments.len - 1] : NULL;
    if (last && p->p_vaddr < last->end)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "broken: the segment at 0x%lx is not above the one before it",
                        p->p_vaddr);
    Segment s = {
        .start = p->p_vaddr,
        .end = p->p_vaddr + p->p_memsz,
        .bytes = elf->map + p->p_offset,
        .byte_count = p->p_filesz,
        .writable = p->p_flags & PF_W,
        .executable = p->p_flags & PF_X,
    };
    VEC_PUSH(&elf->segments, s);
    return true;
}

/* A name that does not end is none. */
static const char *interpreter_of(const ElfFile *elf, const GElf_Phdr *p) {
    if (!in_file(elf, p->p_offset, p->p_filesz) || !memchr(elf->map + p->p_offset, 0, p->p_filesz))
        return NULL;
    return (const char *)elf->map + p->p_offset;
}

static bool load_segments(ElfFile *elf, ElfError *error) {
    size_t count;
    if (elf_getphdrnum(elf->libelf, &count) < 0)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "broken: %s", elf_errmsg(-1));
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(elf->libelf, (int)i, &p))
            return elf_fail(error, LATHE_ERR_ARGUMENT, "broken: %s", elf_errmsg(-1));
        if (p.p_type == PT_LOAD && !add_segment(elf, &p, error))
            return false;
        if (p.p_type == PT_LOAD && p.p_align > elf->align)
            elf->align = p.p_align;
        if (p.p_type == PT_INTERP)
            elf->interpreter = interpreter_of(elf, &p);
        if (p.p_type == PT_GNU_RELRO)
            VEC_PUSH(&elf->relro, ((LatheRange){p.p_vaddr, p.p_vaddr + p.p_memsz}));
        if (p.p_type == PT_GNU_EH_FRAME)
            VEC_PUSH(&elf->eh_frame_hdrs, p.p_vaddr);
        if (p.p_type == PT_DYNAMIC) {
            elf->dynamic = p.p_vaddr;
            elf->dynamic_size = p.p_filesz;
        }
    }
    if (!elf->segments.len)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "broken: no segment is loaded");
    return true;
}

static bool load(ElfFile *elf, ElfError *error) {
    if (!check_identity(elf, error) || !check_tables(elf, error))
        return false;
    elf_version(EV_CURRENT);
    elf->libelf = elf_memory((char *)elf->map, elf->map_size);
    if (!elf->libelf || elf_kind(elf->libelf) != ELF_K_ELF)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "broken: %s", elf_errmsg(-1));
    Elf64_Ehdr h;
    memcpy(&h, elf->map, sizeof(h));
    elf->entry = h.e_entry;
    elf->position_independent = h.e_type == ET_DYN;
    return load_segments(elf, error) && elf_load_cells(elf, error) && elf_load_functions(elf, error);
}

ElfFile *elf_open(const char *path, ElfError *error) {
    ElfFile *elf = mem_new(sizeof(*elf));
    if (map_file(elf, path, error) && load(elf, error))
        return elf;
    elf_close(elf);
    return NULL;
}

ElfFile *elf_open_bytes(const u8 *bytes, size_t size, ElfError *error) {
    ElfFile *elf = mem_new(sizeof(*elf));
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED, "there is memory for the file");
    elf->map = memcpy(map, bytes, size);
    elf->map_size = size;
    if (load(elf, error))
        return elf;
    elf_close(elf);
    return NULL;
}

void elf_close(ElfFile *elf) {
    if (!elf)
        return;
    elf_end(elf->libelf);
    if (elf->map)
        munmap(elf->map, elf->map_size);
    VEC_FREE(&elf->segments);
    VEC_FREE(&elf->relro);
    VEC_FREE(&elf->eh_frame_hdrs);
    VEC_FREE(&elf->cells);
    VEC_FREE(&elf->symbols);
    VEC_FREE(&elf->functions);
    VEC_FREE(&elf->unwind);
    mem_free(elf);
}

const u8 *elf_bytes(const ElfFile *elf, size_t *size) {
    *size = elf->map_size;
    return elf->map;
}

LatheArch elf_arch(const ElfFile *elf) {
    return elf->isa->arch;
}

u64 elf_entry(const ElfFile *elf) {
    return elf->entry;
}

const char *elf_interpreter(const ElfFile *elf) {
    return elf->interpreter;
}

Elf64_Phdr elf_program_header(const ElfFile *elf, u32 type) {
    Elf64_Ehdr h;
    memcpy(&h, elf->map, sizeof(h));
    for (unsigned i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, elf->map + h.e_phoff + i * sizeof(p), sizeof(p));
        if (p.p_type == type)
            return p;
    }
    return (Elf64_Phdr){.p_type = PT_NULL};
}

ElfExtent elf_extent(const ElfFile *elf) {
    return (ElfExtent){
        .start = elf->segments.at[0].start,
        .end = elf->segments.at[elf->segments.len - 1].end,
        .align = elf->align,
        .position_independent = elf->position_independent,
    };
}

bool elf_is_code(const ElfFile *elf, u64 addr) {
    const Segment *s = elf_segment(elf, addr);
    return s && s->executable && addr - s->start < s->byte_count;
}

bool elf_is_code_section(const ElfFile *elf, u64 addr) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf->libelf, section)))
        if (gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR && addr - header.sh_addr < header.sh_size)
            return elf_is_code(elf, addr);
    return false;
}
