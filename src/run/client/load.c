/* load.c: a program file into memory, with the interpreter it names.
 *
 * Nothing in the file is trusted: each field is checked before it is used, so that a bad file leads to a sentence and
 * the errno that execve gives for it, never to a fault here. A file is mapped only after all of its headers were found
 * good.
 */
#include <elf.h>
#include <linux/prctl.h>

#include "run/client/client.h"
#include "run/client/space.h"

#define ADDRESS_END ((u64)0x7ffffffff000) /* the first address that no process of the host has */

enum {
    PHDRS_MAX = 65536 / sizeof(Elf64_Phdr), /* the kernel's limit */
    INTERP_MAX = 4096,
    SCRIPT_LINE = 256, /* how much of a #! line the kernel looks at */
    SCRIPTS_MAX = 4,   /* interpreters that are scripts themselves */
    ARGV_ROOM = 3,
    ALIGN_MAX = 1 << 30,
};

typedef struct Failure {
    char *message;
    size_t size;
} Failure;

/* A program file whose headers are good. */
typedef struct Elf {
    int fd;
    u64 file_size;
    Elf64_Ehdr head;
    Elf64_Phdr ph[PHDRS_MAX];
    u64 low, high, align; /* of all PT_LOAD: pages that hold them, and the largest alignment */
    u64 bias;             /* where it is minus where it wanted to be */
} Elf;

static __attribute__((format(printf, 3, 4))) int refuse(const Failure *f, int error, const char *format, ...) {
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
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (names[i].machine == machine)
            return names[i].name;
    }
    return "another machine";
}

static int check_head(const Elf64_Ehdr *h, const Failure *f) {
    if (memcmp(h->e_ident, ELFMAG, SELFMAG))
        return refuse(f, ENOEXEC, "not an ELF file");
    bool little = h->e_ident[EI_DATA] == ELFDATA2LSB;
    u16 machine = little ? h->e_machine : (u16)(h->e_machine >> 8 | h->e_machine << 8);
    if (machine != guest_facts.machine)
        return refuse(f, ENOEXEC, "an ELF file for %s; this is %s only", machine_name(machine), guest_facts.name);
    if (h->e_ident[EI_CLASS] != ELFCLASS64)
        return refuse(f, ENOEXEC, "a 32-bit ELF file; this is %s only", guest_facts.name);
    if (!little || h->e_ident[EI_VERSION] != EV_CURRENT)
        return refuse(f, ENOEXEC, "a damaged ELF file: its identification is wrong");
    if (h->e_type == ET_REL)
        return refuse(f, ENOEXEC, "an object file, which has to be linked first");
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return refuse(f, ENOEXEC, "an ELF file, but not a program");
    return 0;
}

static int check_segment(Elf *e, const Elf64_Phdr *p, const Failure *f) {
    if (p->p_filesz > p->p_memsz)
        return refuse(f, ENOEXEC, "a damaged ELF file: a segment is larger in the file than in memory");
    if (p->p_offset > e->file_size || p->p_filesz > e->file_size - p->p_offset)
        return refuse(f, ENOEXEC, "a truncated ELF file");
    if (p->p_vaddr > ADDRESS_END || p->p_memsz > ADDRESS_END - p->p_vaddr)
        return refuse(f, ENOEXEC, "a damaged ELF file: a segment is outside of the address space");
    if (p->p_filesz && (p->p_vaddr - p->p_offset) % PAGE)
        return refuse(f, ENOEXEC, "a damaged ELF file: a segment does not begin at a page of the file");
    if (p->p_vaddr < e->high)
        return refuse(f, ENOEXEC, "a damaged ELF file: its segments overlap");
    if (p->p_align > ALIGN_MAX)
        return refuse(f, ENOEXEC, "a damaged ELF file: a segment has an impossible alignment");
    return 0;
}

/* Segments must come in the order of their addresses, as the standard asks; so one end is enough to find overlaps. */
static int check_segments(Elf *e, const Failure *f) {
    e->low = ADDRESS_END, e->high = 0, e->align = PAGE;
    for (u32 i = 0; i < e->head.e_phnum; i++) {
        const Elf64_Phdr *p = &e->ph[i];
        if (p->p_type != PT_LOAD || !p->p_memsz)
            continue;
        int error = check_segment(e, p, f);
        if (error)
            return error;
        if (page_down(p->p_vaddr) < e->low)
            e->low = page_down(p->p_vaddr);
        e->high = p->p_vaddr + p->p_memsz;
        if (p->p_align > e->align && !(p->p_align & (p->p_align - 1)))
            e->align = p->p_align;
    }
    if (!e->high)
        return refuse(f, ENOEXEC, "an ELF file with nothing to load");
    e->high = page_up(e->high);
    if (e->head.e_type == ET_DYN)
        e->low &= -e->align; /* a place for it that is aligned then aligns everything */
    return 0;
}

static int read_headers(Elf *e, const Failure *f) {
    struct stat st;
    if (sys_fstat(e->fd, &st) < 0)
        return refuse(f, EIO, "cannot be read");
    e->file_size = (u64)st.st_size;
    if (!sys_pread_all(e->fd, &e->head, sizeof(e->head), 0))
        return refuse(f, ENOEXEC, "%s",
                      memcmp(e->head.e_ident, ELFMAG, SELFMAG) ? "not an ELF file" : "a truncated ELF file");
    int error = check_head(&e->head, f);
    if (error)
        return error;
    if (e->head.e_phentsize != sizeof(Elf64_Phdr) || !e->head.e_phnum || e->head.e_phnum > PHDRS_MAX)
        return refuse(f, ENOEXEC, "a damaged ELF file: its program headers have a wrong size");
    u64 size = e->head.e_phnum * sizeof(Elf64_Phdr);
    if (e->head.e_phoff > e->file_size || !sys_pread_all(e->fd, e->ph, size, e->head.e_phoff))
        return refuse(f, ENOEXEC, "a truncated ELF file");
    return check_segments(e, f);
}

/* ---------------------------------------------------------------------------------------------------------- mapping */

static u32 segment_prot(const Elf64_Phdr *p) {
    return (p->p_flags & PF_R ? PROT_READ : 0u) | (p->p_flags & PF_W ? PROT_WRITE : 0u) |
           (p->p_flags & PF_X ? PROT_EXEC : 0u);
}

/* The file's part, zeros up to the end of its last page if the guest could write there, and pages of zeros. *done:
 * the end of what is mapped so far. A segment of zeros alone may begin in the last page of another. */
static int map_segment(const Elf *e, const Elf64_Phdr *p, u64 *done, const Failure *f) {
    u64 vaddr = p->p_vaddr + e->bias, start = page_down(vaddr), skip = vaddr - start;
    u64 file_end = vaddr + p->p_filesz, zeros = start > *done ? start : *done, end = page_up(vaddr + p->p_memsz);
    u32 prot = segment_prot(p);
    i64 result = 0;
    if (p->p_filesz) {
        zeros = page_up(file_end);
        result = space_mmap(start, skip + p->p_filesz, prot, MAP_PRIVATE | MAP_FIXED, e->fd, p->p_offset - skip);
        if (!sys_failed(result) && prot & PROT_WRITE)
            memset((void *)file_end, 0, zeros - file_end);
    }
    if (!sys_failed(result) && zeros < end)
        result = space_mmap(zeros, end - zeros, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    *done = end;
    return sys_failed(result) ? refuse(f, ENOMEM, "a segment cannot be mapped at %lx", start) : 0;
}

static int map_file(Elf *e, const Failure *f) {
    bool fixed = e->head.e_type == ET_EXEC;
    i64 base = space_reserve(fixed ? e->low : 0, e->high - e->low, e->align);
    if (sys_failed(base)) {
        return fixed ? refuse(f, ENOMEM, "its addresses %lx to %lx are not free", e->low, e->high)
                     : refuse(f, ENOMEM, "no address space for its %lu bytes", e->high - e->low);
    }
    e->bias = (u64)base - e->low;
    space_add_module((u64)base, e->high + e->bias, e->fd, !fixed);
    u64 done = 0;
    for (u32 i = 0; i < e->head.e_phnum; i++) {
        int error = e->ph[i].p_type == PT_LOAD && e->ph[i].p_memsz ? map_segment(e, &e->ph[i], &done, f) : 0;
        if (error)
            return error;
    }
    return 0;
}

/* The program headers in memory, if a segment has them; else 0. */
static u64 phdr_address(const Elf *e) {
    for (u32 i = 0; i < e->head.e_phnum; i++) {
        const Elf64_Phdr *p = &e->ph[i];
        if (p->p_type == PT_LOAD && e->head.e_phoff >= p->p_offset && e->head.e_phoff - p->p_offset < p->p_filesz)
            return e->head.e_phoff - p->p_offset + p->p_vaddr + e->bias;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------ interpreter */

/* The path of PT_INTERP, or the empty string. */
static int interpreter_path(const Elf *e, char path[INTERP_MAX], const Failure *f) {
    path[0] = 0;
    for (u32 i = 0; i < e->head.e_phnum; i++) {
        const Elf64_Phdr *p = &e->ph[i];
        if (p->p_type != PT_INTERP)
            continue;
        if (p->p_filesz < 2 || p->p_filesz > INTERP_MAX || p->p_offset > e->file_size ||
            !sys_pread_all(e->fd, path, p->p_filesz, p->p_offset) || path[p->p_filesz - 1])
            return refuse(f, ENOEXEC, "a damaged ELF file: the name of its interpreter is wrong");
        return 0;
    }
    return 0;
}

static int open_interpreter(const char *path, const Failure *f) {
    char inside[sizeof(the.opt.sysroot) + INTERP_MAX];
    i64 fd = -ENOENT;
    if (the.opt.sysroot[0]) {
        format_text(inside, sizeof(inside), "%s/%s", the.opt.sysroot, path);
        fd = sys_open(inside, O_RDONLY | O_CLOEXEC, 0);
    }
    if (fd < 0)
        fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd == -ENOENT || fd == -ENOTDIR)
        return refuse(f, ENOENT, "interpreter %s not found", path);
    if (fd < 0)
        return refuse(f, EACCES, "interpreter %s cannot be opened", path);
    struct stat st;
    if (sys_fstat((int)fd, &st) < 0 || S_ISREG(st.st_mode))
        return (int)fd;
    sys_close((int)fd);
    return S_ISDIR(st.st_mode) ? refuse(f, EISDIR, "interpreter %s is a directory", path)
                               : refuse(f, EACCES, "interpreter %s is not a file", path);
}

static int load_interpreter(Elf *e, const char *path, Image *image, const Failure *f) {
    char reason[128];
    Failure inner = {reason, sizeof(reason)};
    int error = read_headers(e, &inner);
    if (error)
        return refuse(f, ELIBBAD, "interpreter %s: %s", path, reason);
    error = map_file(e, &inner);
    if (error)
        return refuse(f, -error, "interpreter %s: %s", path, reason);
    image->interp_base = e->low + e->bias;
    image->start = e->head.e_entry + e->bias;
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- scripts */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Split a #! line as the kernel does: the interpreter, and all the rest as one argument. The line ends at a newline
 * or at the end of what the kernel looks at; in that case the interpreter's name must be seen to be complete. */
static bool split_line(char *line, size_t size, char **interpreter, char **arg) {
    char *end = memchr(line, '\n', size);
    bool whole = end || size < SCRIPT_LINE;
    end = end ? end : line + size;
    char *p = line + 2;
    while (p < end && is_blank(*p))
        p++;
    *interpreter = p;
    while (p < end && *p && !is_blank(*p))
        p++;
    if (p == *interpreter || (p == end && !whole))
        return false;
    char *name_end = p;
    while (p < end && is_blank(*p))
        p++;
    while (end > p && is_blank(end[-1]))
        end--;
    *arg = p < end && *p ? p : NULL;
    *end = *name_end = 0;
    return true;
}

/* argv[0] becomes the script's path, with the interpreter and its argument before it. */
static int follow_script(int fd, const char **path, char **argv, u32 *room, const Failure *f) {
    char *line = sys_pages(SCRIPT_LINE + 1), *interpreter, *arg;
    if (!line)
        return refuse(f, ENOMEM, "no memory");
    i64 size = sys_pread(fd, line, SCRIPT_LINE, 0);
    if (size < 2 || !split_line(line, (size_t)size, &interpreter, &arg))
        return refuse(f, ENOEXEC, "a script whose #! line names no interpreter");
    u32 more = arg ? 2 : 1;
    if (more > *room)
        return refuse(f, ELOOP, "too many scripts that are interpreters of scripts");
    *room -= more;
    size_t count = 0;
    while (argv[count])
        count++;
    size_t kept = count ? 1 : 0;
    memmove(argv + more + 1, argv + kept, (count - kept + 1) * sizeof(*argv));
    argv[more] = (char *)*path;
    if (arg)
        argv[1] = arg;
    argv[0] = interpreter;
    *path = interpreter;
    return 0;
}

static bool is_script(int fd) {
    char start[2];
    return sys_pread(fd, start, 2, 0) == 2 && start[0] == '#' && start[1] == '!';
}

/* --------------------------------------------------------------------------------------------------------- programs */

static int open_program(const char *path, const Failure *f) {
    i64 fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd == -ENOENT || fd == -ENOTDIR)
        return refuse(f, (int)-fd, "not found");
    if (fd == -EACCES)
        return refuse(f, EACCES, "permission denied");
    if (fd < 0)
        return refuse(f, (int)-fd, "cannot be opened (error %d)", (int)-fd);
    struct stat st = {0};
    sys_fstat((int)fd, &st);
    if (S_ISREG(st.st_mode) && !sys_access(path, X_OK))
        return (int)fd;
    sys_close((int)fd);
    return refuse(f, EACCES, "%s",
                  S_ISDIR(st.st_mode)   ? "is a directory"
                  : S_ISREG(st.st_mode) ? "permission denied: not executable"
                                        : "is not a regular file");
}

/* The file to load after all #! lines; returns its descriptor. */
static int find_program(const char *path, char **argv, const Failure *f) {
    u32 room = ARGV_ROOM;
    const char *now = path;
    for (u32 scripts = 0;; scripts++) {
        char reason[128];
        int fd = open_program(now, now == path ? f : &(Failure){reason, sizeof(reason)});
        if (fd < 0)
            return now == path ? fd : refuse(f, -fd, "its interpreter %s: %s", now, reason);
        if (!is_script(fd))
            return fd;
        int error = scripts > SCRIPTS_MAX ? refuse(f, ELOOP, "too many scripts that are interpreters of scripts")
                                          : follow_script(fd, &now, argv, &room, f);
        sys_close(fd);
        if (error)
            return error;
    }
}

/* What /proc/self/exe has to say: for a script, its interpreter. */
static void note_path(int fd) {
    char link[32];
    format_text(link, sizeof(link), "/proc/self/fd/%d", fd);
    char path[sizeof(the.opt.guest_path)];
    i64 len = sys_readlink(link, path, sizeof(path));
    if (len <= 0 || len == sizeof(path))
        return;
    memcpy(the.opt.guest_path, path, (size_t)len);
    the.opt.guest_path[len] = 0;
}

/* The kernel cuts it off behind 15 bytes. A script has its own name, not its interpreter's. */
static void name_process(const char *path) {
    const char *slash = strrchr(path, '/');
    sys_prctl(PR_SET_NAME, (u64)(slash ? slash + 1 : path), 0, 0, 0);
}

static int load_main(Elf *e, Image *image, const Failure *f) {
    int error = map_file(e, f);
    if (error)
        return error;
    bool fixed = e->head.e_type == ET_EXEC;
    *image = (Image){
        .base = e->low + e->bias,
        .end = e->high + e->bias,
        .entry = e->head.e_entry + e->bias,
        .start = e->head.e_entry + e->bias,
        .phdr = phdr_address(e),
        .phnum = e->head.e_phnum,
    };
    return space_start_brk(fixed ? image->end : 0) ? 0 : refuse(f, ENOMEM, "no address space for its heap");
}

/* With the program open. The interpreter is opened before anything is mapped. */
static int load_both(Elf *e, Image *image, const Failure *f) {
    char interpreter[INTERP_MAX];
    int error = read_headers(e, f);
    if (!error)
        error = interpreter_path(e, interpreter, f);
    if (error)
        return error;
    int interpreter_fd = interpreter[0] ? open_interpreter(interpreter, f) : -1;
    if (interpreter[0] && interpreter_fd < 0)
        return interpreter_fd;
    error = load_main(e, image, f);
    if (interpreter_fd >= 0) {
        e->fd = interpreter_fd;
        error = error ? error : load_interpreter(e, interpreter, image, f);
        sys_close(interpreter_fd);
    }
    return error;
}

int load_program(const char *path, char **argv, Image *image, char *message, size_t message_size) {
    Failure f = {message, message_size};
    message[0] = 0;
    int fd = find_program(path, argv, &f);
    if (fd < 0)
        return fd;
    note_path(fd);
    name_process(path);
    Elf *e = sys_pages(sizeof(Elf));
    if (!e) {
        sys_close(fd);
        return refuse(&f, ENOMEM, "no memory");
    }
    e->fd = fd;
    int error = load_both(e, image, &f);
    sys_close(fd);
    sys_pages_free(e, sizeof(Elf));
    return error;
}
