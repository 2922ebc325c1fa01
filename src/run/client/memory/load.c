/* load.c: loads a program file into memory, with the interpreter that it names.
 *
 * program.c has made the checks that the kernel makes while the old program still exists. The kernel makes other checks while it maps
 * the segments, and so does this file: then there is nobody left to return an error to, and the process dies of SIGSEGV. Nothing in the
 * file is trusted: a bad file leads to a sentence, never to a fault here.
 */
#include <linux/prctl.h>

#include "run/client/memory/contained.h"
#include "run/client/memory/load.h"
#include "run/client/memory/own.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/program.h"
#include "run/client/memory/space.h"

#define ADDRESS_END ((u64)0x7ffffffff000) /* the first address that no process of the host has */

enum { ALIGN_MAX = 1 << 30, KILLED = 11 /* SIGSEGV */ };

static __attribute__((format(printf, 2, 3))) int killed(const Failure *f, const char *format, ...) {
    va_list args;
    va_start(args, format);
    format_args(f->message, f->size, format, args);
    va_end(args);
    return KILLED;
}

/* ---------------------------------------------------------------------------------------------------------- mapping */

static u32 segment_prot(const Elf64_Phdr *p) {
    return (p->p_flags & PF_R ? PROT_READ : 0u) | (p->p_flags & PF_W ? PROT_WRITE : 0u) |
           (p->p_flags & PF_X ? PROT_EXEC : 0u);
}

static int check_segment(const Elf64_Phdr *p, const Failure *f) {
    if (p->p_filesz > p->p_memsz)
        return killed(f, "a damaged ELF file: a segment is larger in the file than in memory");
    if (p->p_vaddr >= ADDRESS_END || p->p_memsz > ADDRESS_END - p->p_vaddr)
        return killed(f, "a damaged ELF file: a segment is outside of the address space");
    if (p->p_filesz && (p->p_vaddr - p->p_offset) % PAGE)
        return killed(f, "a damaged ELF file: a segment does not begin at a page of the file");
    return 0;
}

/* Finds the extent and the alignment of all segments, which may come in any order and may overlap. */
static int measure(Elf *e, const Failure *f) {
    e->low = ADDRESS_END, e->high = 0, e->align = PAGE;
    for (u32 i = 0; i < e->head.e_phnum; i++) {
        const Elf64_Phdr *p = &e->ph[i];
        if (p->p_type != PT_LOAD)
            continue;
        int error = check_segment(p, f);
        if (error)
            return error;
        if (!p->p_memsz)
            continue;
        u64 start = page_down(p->p_vaddr), end = page_up(p->p_vaddr + p->p_memsz);
        e->low = start < e->low ? start : e->low;
        e->high = end > e->high ? end : e->high;
        if (p->p_align > e->align && p->p_align <= ALIGN_MAX && !(p->p_align & (p->p_align - 1)))
            e->align = p->p_align;
    }
    if (!e->high)
        return killed(f, "an ELF file with nothing to load");
    if (e->head.e_type == ET_DYN)
        e->low &= -e->align; /* then an aligned place for the image aligns all segments */
    return 0;
}

/* Returns false if a page is not backed by the file or cannot be written. */
static bool clear_bytes(u64 start, u64 end) {
    static const u8 zeros[PAGE];
    return start == end || guest_write(start, zeros, end - start) == end - start;
}

/* Maps a segment: the part that is in the file; zeros up to the end of its last page, if the segment is larger in
 * memory; and pages of zeros, which are writable whatever the segment's rights are. In front of the segment, its first
 * page has the bytes of the file. */
static i64 map_segment(const Elf *e, const Elf64_Phdr *p) {
    u64 vaddr = p->p_vaddr + e->bias, start = page_down(vaddr), skip = vaddr - start, file_end = vaddr + p->p_filesz;
    u64 zeros = p->p_filesz ? page_up(file_end) : start, end = page_up(vaddr + p->p_memsz);
    u32 prot = segment_prot(p);
    i64 result = 0;
    if (p->p_filesz)
        result = space_mmap(start, skip + p->p_filesz, prot, MAP_PRIVATE | MAP_FIXED, e->fd, p->p_offset - skip);
    if (!sys_failed(result) && p->p_filesz && p->p_memsz > p->p_filesz && prot & PROT_WRITE &&
        !clear_bytes(file_end, zeros))
        return -EFAULT;
    if (!sys_failed(result) && zeros < end)
        result = space_mmap(zeros, end - zeros, PROT_READ | PROT_WRITE | (prot & PROT_EXEC),
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return result;
}

static bool is_loaded(const Elf64_Phdr *p) {
    return p->p_type == PT_LOAD && p->p_memsz;
}

static bool overlaps_earlier(const Elf *e, u32 number) {
    const Elf64_Phdr *p = &e->ph[number];
    for (u32 i = 0; i < number; i++) {
        const Elf64_Phdr *q = &e->ph[i];
        if (is_loaded(q) && page_down(q->p_vaddr) < page_up(p->p_vaddr + p->p_memsz) &&
            page_down(p->p_vaddr) < page_up(q->p_vaddr + q->p_memsz))
            return true;
    }
    return false;
}

/* For a file with fixed addresses: reserves each segment's addresses, which must be free. Page 0 is left out: the
 * kernel gives the lowest pages only to root, and refuses when they are mapped. */
static int reserve_fixed(Elf *e, const Failure *f) {
    for (u32 i = 0; i < e->head.e_phnum; i++) {
        const Elf64_Phdr *p = &e->ph[i];
        u64 start = page_down(p->p_vaddr), end = page_up(p->p_vaddr + p->p_memsz);
        if (is_loaded(p) && start && !overlaps_earlier(e, i) && sys_failed(space_reserve(start, end - start, PAGE)))
            return killed(f, "its fixed addresses %lx to %lx are in use", start, end);
    }
    return 0;
}

static int reserve(Elf *e, const Failure *f) {
    i64 base = space_reserve(0, e->high - e->low, e->align);
    if (sys_failed(base))
        return killed(f, "no address space for its %lu bytes", e->high - e->low);
    e->bias = (u64)base - e->low;
    return 0;
}

/* over: if the addresses are fixed, what is mapped there now is replaced. */
static int map_file(Elf *e, bool over, const Failure *f) {
    bool fixed = e->head.e_type == ET_EXEC;
    int error = measure(e, f);
    if (!error && !(fixed && over))
        error = fixed ? reserve_fixed(e, f) : reserve(e, f);
    if (error)
        return error;
    space_add_module(e->low + e->bias, e->high + e->bias, e->fd, !fixed);
    for (u32 i = 0; i < e->head.e_phnum; i++)
        if (is_loaded(&e->ph[i]) && sys_failed(map_segment(e, &e->ph[i])))
            return killed(f, "a segment cannot be mapped at %lx", e->ph[i].p_vaddr + e->bias);
    return 0;
}

/* The address of the program headers in memory if a segment contains them, otherwise 0. */
static u64 phdr_address(const Elf *e) {
    u64 found = 0;
    for (u32 i = 0; i < e->head.e_phnum; i++) {
        const Elf64_Phdr *p = &e->ph[i];
        if (p->p_type == PT_LOAD && e->head.e_phoff >= p->p_offset && e->head.e_phoff - p->p_offset < p->p_filesz)
            found = e->head.e_phoff - p->p_offset + p->p_vaddr + e->bias;
    }
    return found;
}

/* True if the file asks for an executable stack, which old programs do. */
static bool wants_executable_stack(const Elf *e) {
    bool wants = false;
    for (u32 i = 0; i < e->head.e_phnum; i++)
        if (e->ph[i].p_type == PT_GNU_STACK)
            wants = e->ph[i].p_flags & PF_X;
    return wants;
}

static int load_interpreter(Program *program, LoadedImage *image, const Failure *f) {
    char reason[128];
    Failure inner = {reason, sizeof(reason)};
    Elf *e = &program->interp;
    bool is_program = e->head.e_type == ET_EXEC || e->head.e_type == ET_DYN;
    int error =
        is_program ? map_file(e, true, &inner) : killed(&inner, "an ELF file, but neither a program nor a library");
    if (error)
        return killed(f, "its dynamic linker %s: %s", program->interpreter, reason);
    image->interp_base = e->bias;
    image->start = e->head.e_entry + e->bias;
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- scripts */

/* argv[0] becomes the script's path; the interpreter and its argument are put in front of it. */
static int follow_script(int fd, const char **path, char **argv, const Failure *f) {
    char *line = sys_pages(SCRIPT_LINE), *interpreter, *arg;
    if (!line)
        return refuse(f, ENOMEM, "no memory");
    if (sys_pread(fd, line, SCRIPT_LINE, 0) < 2 || !script_split(line, &interpreter, &arg))
        return refuse(f, ENOEXEC, "a script whose #! line names no interpreter");
    u32 more = arg ? 2 : 1;
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
    i64 contained = contained_open_path(path, O_CLOEXEC);
    if (contained >= 0)
        return (int)contained;
    i64 fd = sys_open(*path ? path : ".", O_RDONLY | O_CLOEXEC, 0);
    if (fd == -ENOENT || fd == -ENOTDIR)
        return refuse(f, (int)-fd, "not found");
    if (fd == -EACCES)
        return refuse(f, EACCES, "permission denied");
    if (fd == -EMFILE)
        return refuse(f, EMFILE, "cannot be opened: the limit of open files (ulimit -n) is too small");
    if (fd < 0)
        return refuse(f, (int)-fd, "cannot be opened: %s", sys_error_text(fd).text);
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

/* The program that is in one file with this client. */
static int open_contained(const Failure *f) {
    i64 fd = contained_open_program(O_CLOEXEC);
    return fd < 0 ? refuse(f, (int)-fd, "no memory for a copy of it, or too low a limit of the size of files")
                  : (int)fd;
}

/* Follows #! lines to the file that is to be loaded, and returns its descriptor. *now is the path at first, and the interpreter that the last script
 * names if there is one. Interpreters are looked for in the sysroot first. */
static int find_program(const char **now, char **argv, const Failure *f) {
    if (contained_starts())
        return open_contained(f);
    for (u32 scripts = 0;; scripts++) {
        char inside[INTERP_MAX];
        int fd = open_program(scripts ? sysroot_find(the.opt.sysroot, *now, inside) : *now, f);
        if (fd < 0 || !is_script(fd))
            return fd;
        int error = scripts == SCRIPTS_MAX
                        ? refuse(f, ELOOP, "more than %d scripts that name each other as interpreters", SCRIPTS_MAX)
                        : follow_script(fd, now, argv, f);
        sys_close(fd);
        if (error)
            return error;
    }
}

/* Records the path that /proc/self/exe shows: for a script, its interpreter's. */
static void note_path(const char *program, int fd) {
    char link[32];
    if (contained_starts())
        return;
    if (contained_has_path(program)) {
        format_text(the.opt.guest_path, sizeof(the.opt.guest_path), "%s", program);
        return;
    }
    format_text(link, sizeof(link), "/proc/self/fd/%d", fd);
    char path[sizeof(the.opt.guest_path)];
    i64 len = sys_readlink(link, path, sizeof(path));
    if (len <= 0 || len == sizeof(path))
        return;
    memcpy(the.opt.guest_path, path, (size_t)len);
    the.opt.guest_path[len] = 0;
}

/* The kernel cuts the name off behind 15 bytes. A script gets its own name, not its interpreter's. */
static void name_process(const char *path) {
    const char *slash = strrchr(path, '/');
    sys_prctl(PR_SET_NAME, (u64)(slash ? slash + 1 : path), 0, 0, 0);
}

static int load_main(Elf *e, LoadedImage *image, const Failure *f) {
    int error = map_file(e, false, f);
    if (error)
        return error;
    *image = (LoadedImage){
        .base = e->low + e->bias,
        .end = e->high + e->bias,
        .entry = e->head.e_entry + e->bias,
        .start = e->head.e_entry + e->bias,
        .phdr = phdr_address(e),
        .phnum = e->head.e_phnum,
        .executable_stack = wants_executable_stack(e),
    };
    return 0;
}

/* Loads the program, which is open, and its interpreter. The heap is placed last. */
static int load_all(Program *p, int fd, LoadedImage *image, const Failure *f) {
    int error = program_read(p, fd, guest_facts.machine, the.opt.sysroot, f);
    if (error)
        return error;
    error = load_main(&p->main, image, f);
    if (!error && p->interp.fd >= 0)
        error = load_interpreter(p, image, f);
    program_close(p);
    if (!error && !space_start_brk(p->main.head.e_type == ET_EXEC ? image->end : 0))
        error = killed(f, "no address space for its heap");
    return error;
}

static int load_file(int fd, LoadedImage *image, const Failure *f) {
    Program *p = sys_pages(sizeof(Program));
    int error = p ? load_all(p, fd, image, f) : refuse(f, ENOMEM, "no memory");
    sys_close(fd);
    if (p)
        sys_pages_free(p, sizeof(Program));
    return error;
}

int load_program(const char *path, char **argv, LoadedImage *image, char *message, size_t message_size) {
    char reason[LOAD_REASON_BYTES] = "";
    const Failure f = {reason, sizeof(reason)};
    const char *now = path;
    int fd = find_program(&now, argv, &f), error = fd;
    if (fd >= 0) {
        note_path(path, fd);
        name_process(path);
        error = load_file(fd, image, &f);
    }
    if (now == path)
        format_text(message, message_size, "%s", reason);
    else
        format_text(message, message_size, "its interpreter %s: %s", now, reason);
    return error;
}
