/* program.c: see program.h. */
#include "run/client/memory/program.h"

#include "run/client/memory/contained.h"
#include "run/client/memory/low.h"

int refuse(const Failure *f, int error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    format_args(f->message, f->size, format, args);
    va_end(args);
    return -error;
}

/* ---------------------------------------------------------------------------------------------------------- headers */

static const char *machine_name(u32 machine) {
    static const struct {
        u16 machine;
        char name[14];
    } names[] = {
        {EM_386, "i386"},
        {EM_ARM, "arm"},
        {EM_AARCH64, "aarch64"},
        {EM_RISCV, "riscv"},
        {EM_PPC, "powerpc"},
        {EM_PPC64, "powerpc64"},
        {EM_S390, "s390"},
        {EM_MIPS, "mips"},
        {EM_SPARCV9, "sparc64"},
        {EM_IA_64, "ia64"},
        {EM_LOONGARCH, "loongarch"},
        {EM_BPF, "bpf"},
        {EM_SPARC, "sparc"},
        {EM_ALPHA, "alpha"},
        {EM_68K, "m68k"},
        {EM_X86_64, "x86-64"},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (names[i].machine == machine)
            return names[i].name;
    }
    return "another machine";
}

static bool has_client(u32 machine) {
#define ISA(folder, name, number, weak, libraries, flags, client)                                                      \
    if (client && machine == (number))                                                                                 \
        return true;
#include "isa/isas.def"
#undef ISA
    return false;
}

/* If there is a client for the machine, the file is a dynamic linker or a script's interpreter where one for another machine is needed. */
static int refuse_machine(const Elf64_Ehdr *h, const Failure *f) {
#define ISA(folder, name, number, weak, libraries, flags, client) client ? name : NULL,
    static const char *const runs[] = {
#include "isa/isas.def"
    };
#undef ISA
    char all[128] = "";
    size_t n = 0;
    bool big = h->e_ident[EI_DATA] == ELFDATA2MSB;
    u16 machine = big ? (u16)(h->e_machine >> 8 | h->e_machine << 8) : h->e_machine;
    if (has_client(machine))
        return refuse(f, ENOEXEC, "an ELF file for %s, where one for %s is needed", machine_name(machine),
                      guest_facts.name);
    for (size_t i = 0; i < ARRAY_LEN(runs); i++)
        n += runs[i] ? format_text(all + n, sizeof(all) - n, "%s%s", n ? ", " : "", runs[i]) : 0;
    return refuse(f, ENOEXEC, "an ELF file for %s; lathe run knows %s", machine_name(machine), all);
}

/* The kernel does not check the class (32 or 64 bits) itself, and neither do we: program headers of a 32-bit file have
 * another size. */
static int check_head(const Elf64_Ehdr *h, u16 machine, const Failure *f) {
    if (memcmp(h->e_ident, ELFMAG, SELFMAG))
        return refuse(f, ENOEXEC, "not an ELF file");
    if (h->e_machine != machine)
        return refuse_machine(h, f);
    if (h->e_phentsize != sizeof(Elf64_Phdr) && h->e_ident[EI_CLASS] == ELFCLASS32)
        return refuse(f, ENOEXEC, "a 32-bit ELF file; only 64-bit programs can be run");
    if (h->e_phentsize != sizeof(Elf64_Phdr) || !h->e_phnum || h->e_phnum > PHDRS_MAX)
        return refuse(f, ENOEXEC, "a damaged ELF file: its program headers have a wrong size");
    return 0;
}

static int check_type(const Elf64_Ehdr *h, const Failure *f) {
    if (h->e_type == ET_REL)
        return refuse(f, ENOEXEC, "an object file, which has to be linked first");
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return refuse(f, ENOEXEC, "an ELF file, but neither a program nor a library");
    return 0;
}

static bool read_all(const Elf *e, void *buf, u64 size, u64 offset) {
    return (i64)offset >= 0 && sys_pread_all(e->fd, buf, size, offset);
}

static int read_phdrs(Elf *e, const Failure *f) {
    bool ok = read_all(e, e->ph, e->head.e_phnum * sizeof(Elf64_Phdr), e->head.e_phoff);
    return ok ? 0 : refuse(f, ENOEXEC, "a truncated ELF file");
}

static int read_main(Elf *e, u16 machine, const Failure *f) {
    bool whole = read_all(e, &e->head, sizeof(e->head), 0);
    if (memcmp(e->head.e_ident, ELFMAG, SELFMAG))
        return refuse(f, ENOEXEC, "neither an ELF file nor a script that begins with #!");
    if (!whole)
        return refuse(f, ENOEXEC, "a truncated ELF file");
    int error = check_head(&e->head, machine, f);
    error = error ? error : check_type(&e->head, f);
    return error ? error : read_phdrs(e, f);
}

/* ------------------------------------------------------------------------------------------------------ interpreter */

const char *sysroot_find(const char *sysroot, const char *path, char inside[INTERP_MAX]) {
    if (!*sysroot || *path != '/' || format_text(inside, INTERP_MAX, "%s%s", sysroot, path) + 1 >= INTERP_MAX)
        return path;
    return sys_access(inside, 0) ? path : inside;
}

/* Finds the first PT_INTERP. Returns false if there is none. */
static bool find_interpreter(const Elf *e, const Elf64_Phdr **found) {
    for (u32 i = 0; i < e->head.e_phnum; i++) {
        *found = &e->ph[i];
        if (e->ph[i].p_type == PT_INTERP)
            return true;
    }
    return false;
}

static int read_path(const Elf *e, const Elf64_Phdr *p, char path[INTERP_MAX], const Failure *f) {
    static const char wrong[] = "a damaged ELF file: the name of its dynamic linker is wrong";
    if (p->p_filesz < 2 || p->p_filesz > INTERP_MAX)
        return refuse(f, ENOEXEC, wrong);
    if (!read_all(e, path, p->p_filesz, p->p_offset))
        return refuse(f, (i64)p->p_offset < 0 ? EINVAL : EIO, wrong);
    return path[p->p_filesz - 1] ? refuse(f, ENOEXEC, wrong) : 0;
}

/* Opens the file as the kernel does to execute it. An empty name means the current directory, which is not a file. */
static int open_interpreter(const char *name, const char *sysroot, const Failure *f) {
    char inside[INTERP_MAX];
    const char *path = *name ? sysroot_find(sysroot, name, inside) : ".";
    i64 contained = contained_open_path(name, O_CLOEXEC);
    if (contained >= 0)
        return (int)contained;
    i64 fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if ((fd == -ENOENT || fd == -ENOTDIR) && *sysroot)
        return refuse(f, (int)-fd, "its dynamic linker %s is not found, nor is it in %s", name, sysroot);
    if (fd == -ENOENT || fd == -ENOTDIR)
        return refuse(f, (int)-fd,
                      "its dynamic linker %s is not found; if its libraries are below another folder, -L names that",
                      name);
    if (fd < 0)
        return refuse(f, (int)-fd, "its dynamic linker %s cannot be opened: %s", name, sys_error_text(fd).text);
    struct stat st;
    if (!sys_fstat((int)fd, &st) && S_ISREG(st.st_mode) && !sys_access(path, X_OK))
        return (int)fd;
    sys_close((int)fd);
    return S_ISDIR(st.st_mode)   ? refuse(f, EACCES, "its dynamic linker %s is a directory", name)
           : S_ISREG(st.st_mode) ? refuse(f, EACCES, "its dynamic linker %s is not executable", name)
                                 : refuse(f, EACCES, "its dynamic linker %s is not a regular file", name);
}

/* Whether the ELF file is a program is checked later, by load.c. */
static int read_interpreter(Program *p, u16 machine, const Failure *f) {
    char reason[128];
    Failure inner = {reason, sizeof(reason)};
    Elf *e = &p->interp;
    if (!read_all(e, &e->head, sizeof(e->head), 0))
        return refuse(f, EIO, "its dynamic linker %s: not an ELF file", p->interpreter);
    int error = check_head(&e->head, machine, &inner);
    error = error ? error : read_phdrs(e, &inner);
    return error ? refuse(f, ELIBBAD, "its dynamic linker %s: %s", p->interpreter, reason) : 0;
}

int program_read(Program *p, int fd, u16 machine, const char *sysroot, const Failure *f) {
    const Elf64_Phdr *named;
    p->main.fd = fd;
    p->interp.fd = -1;
    int error = read_main(&p->main, machine, f);
    if (error || !find_interpreter(&p->main, &named))
        return error;
    error = read_path(&p->main, named, p->interpreter, f);
    if (error)
        return error;
    p->interp.fd = open_interpreter(p->interpreter, sysroot, f);
    if (p->interp.fd < 0)
        return p->interp.fd;
    error = read_interpreter(p, machine, f);
    if (error)
        program_close(p);
    return error;
}

void program_close(Program *p) {
    if (p->interp.fd >= 0)
        sys_close(p->interp.fd);
    p->interp.fd = -1;
}

/* ---------------------------------------------------------------------------------------------------------- scripts */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static char *skip_blanks(char *from, const char *end) {
    while (from < end && is_blank(*from))
        from++;
    return from;
}

static char *skip_word(char *from, const char *end) {
    while (from < end && *from && !is_blank(*from))
        from++;
    return from;
}

/* The end of the line: its newline, or the last byte that is examined. In the latter case NULL unless the interpreter's
 * name ends before it. */
static char *line_end(char line[SCRIPT_LINE]) {
    char *last = line + SCRIPT_LINE - 1, *newline = memchr(line, '\n', strnlen(line, SCRIPT_LINE));
    if (newline)
        return newline;
    char *name = skip_blanks(line + 2, last), *behind = skip_word(name, last);
    return is_blank(*name) || (*behind && !is_blank(*behind)) ? NULL : last;
}

/* Everything behind the interpreter's name is one argument. The kernel has zeros behind the end of a file; if a blank
 * stands before them, it takes the first zero for an empty argument. */
bool script_split(char line[SCRIPT_LINE], char **interpreter, char **arg) {
    char *end = line_end(line);
    if (memcmp(line, "#!", 2) || !end)
        return false;
    while (is_blank(end[-1]))
        end--;
    *interpreter = skip_blanks(line + 2, end);
    if (*interpreter >= end)
        return false;
    char *behind = skip_word(*interpreter, end);
    *arg = behind < end && *behind ? skip_blanks(behind, end) : NULL;
    *end = *behind = 0;
    return true;
}

/* ----------------------------------------------------------------------------------------------------- low addresses */

static bool touches_low(const Elf64_Phdr *p) {
    u64 start = p->p_vaddr, end = start + p->p_memsz;
    bool tables = start < LOW_WINDOW && end > LOW_TABLES - PAGE, code = start < LOW_MAP_END && end > LOW_CODE;
    return p->p_type == PT_LOAD && (end < start || tables || code);
}

/* A file that cannot be read counts as one that fits: load.c will refuse it. */
bool program_fits_low(const char *path) {
    enum { PHDRS_READ = 64 };
    Elf64_Ehdr head = {0};
    Elf64_Phdr ph[PHDRS_READ] = {0};
    i64 fd = contained_starts() ? contained_open_program(O_CLOEXEC) : contained_open_path(path, O_CLOEXEC);
    if (fd < 0)
        fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd < 0)
        return true;
    if (sys_pread((int)fd, &head, sizeof(head), 0) == sizeof(head) && head.e_type == ET_EXEC)
        sys_pread((int)fd, ph, sizeof(ph), head.e_phoff);
    sys_close((int)fd);
    bool fits = true;
    for (u32 i = 0; i < head.e_phnum && i < PHDRS_READ; i++)
        fits &= !touches_low(&ph[i]);
    return fits;
}
