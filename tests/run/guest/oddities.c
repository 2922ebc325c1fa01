/* oddities.c: what exec makes of unusual program files and scripts. Each file is written, started, and one line says which error exec had, or how
 * the program ended and what it saw of its memory.
 *
 *     oddities          all of them
 *     oddities FILTER   those with this text in their names
 *     oddities - DIR    writes the files, for others to start
 *     oddities = FILE ARGS...   starts one; status 127 or 126 if that fails, as shells have it
 *
 * An ELF file is described by how it differs from a plain one: code in the first page, with the headers; data in the second, of which half
 * a page is in the file; zeros in the third. Offset 4096 * n of the file has the text "file page n". */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHANGES = 10,
    HEADERS = 5,
    PAGE = 4096,
    PAGES = 6,
    CODE_AT = 0x200,
    INTERP_AT = 0x800,
    MEMORY_PAGES = 6,
    SCRIPT_LINE = 256
};
enum {
    CODE = 0,
    DATA = 1,
    SPARE = 2,
    INTERP = 3,
    STACK = 4,
    MAIN = -1
}; /* program headers; MAIN: the file's own header */
#define BASE 0x10000000ull

/* The program: for each page from its first one on, 12 bytes of it and of its end, and "w" if it may be written to, "-" if it is not there. Then
 * the stack is executed, if e_flags says so, and the status is 7. */
__asm__(".pushsection .rodata\n"
        "blob: lea blob(%rip), %rbx\n"
        "    sub $0x200, %rbx\n" /* CODE_AT */
        "    mov %rbx, %r12\n"
        "    mov $6, %ebp\n" /* MEMORY_PAGES */
        "1:  mov $12, %edx\n"
        "    mov %r12, %rsi\n"
        "    call say\n"
        "    mov $6, %edx\n"
        "    lea 0xff8(%r12), %rsi\n"
        "    call say\n"
        "    mov $201, %eax\n" /* time writes to memory */
        "    lea 0xf00(%r12), %rdi\n"
        "    syscall\n"
        "    lea writable(%rip), %rsi\n"
        "    test %rax, %rax\n"
        "    jns 2f\n"
        "    lea missing(%rip), %rsi\n"
        "2:  mov $1, %edx\n"
        "    call say\n"
        "    add $0x1000, %r12\n"
        "    dec %ebp\n"
        "    jnz 1b\n"
        "    cmpl $1, 48(%rbx)\n" /* e_flags */
        "    jne 3f\n"
        "    push $0xc3\n" /* ret */
        "    call *%rsp\n"
        "    pop %rax\n"
        "    lea stack(%rip), %rsi\n"
        "    mov $5, %edx\n"
        "    call say\n"
        "3:  mov $60, %eax\n"
        "    mov $7, %edi\n"
        "    syscall\n"
        "say: mov $1, %eax\n"
        "    mov $1, %edi\n"
        "    syscall\n"
        "    test %rax, %rax\n"
        "    jns 4f\n"
        "    mov $1, %eax\n"
        "    mov $1, %edx\n"
        "    lea missing(%rip), %rsi\n"
        "    syscall\n"
        "4:  ret\n"
        "writable: .ascii \"w\"\n"
        "missing: .ascii \"-\"\n"
        "stack: .ascii \"stack\"\n"
        "blob_end: .popsection\n");
extern const char blob[], blob_end[];

/* ------------------------------------------------------------------------------------------------------------ ELF files */

typedef struct Change {
    int header;
    size_t offset, size;
    uint64_t value;
} Change;

typedef struct Odd {
    const char *name;
    const char *interp; /* its PT_INTERP, if there is one */
    Change changes[CHANGES];
    size_t cut; /* the file's size, if not all of it */
} Odd;

#define E(field, value)                                                                                                \
    { MAIN, offsetof(Elf64_Ehdr, field), sizeof(((Elf64_Ehdr *)0)->field), value }
#define P(header, field, value)                                                                                        \
    { header, offsetof(Elf64_Phdr, field), sizeof(((Elf64_Phdr *)0)->field), value }
#define SEGMENT(header, off, address, in_file, in_memory, flags)                                                       \
    P(header, p_type, PT_LOAD), P(header, p_offset, off), P(header, p_vaddr, address), P(header, p_filesz, in_file),   \
        P(header, p_memsz, in_memory), P(header, p_flags, flags)
#define PIE E(e_type, ET_DYN), E(e_entry, CODE_AT), P(CODE, p_vaddr, 0), P(DATA, p_vaddr, PAGE)

static const Odd odds[] = {
    {"plain"},
    {"pie", .changes = {PIE}},
    /* the file's header */
    {"class 32", .changes = {E(e_ident[EI_CLASS], ELFCLASS32)}},
    {"class 0", .changes = {E(e_ident[EI_CLASS], 0)}},
    {"big endian", .changes = {E(e_ident[EI_DATA], ELFDATA2MSB)}},
    {"ident version 0", .changes = {E(e_ident[EI_VERSION], 0)}},
    {"version 0", .changes = {E(e_version, 0)}},
    {"os abi", .changes = {E(e_ident[EI_OSABI], 200)}},
    {"no magic", .changes = {E(e_ident[0], 0)}},
    {"machine arm", .changes = {E(e_machine, EM_ARM)}},
    {"machine 0", .changes = {E(e_machine, 0)}},
    {"type object", .changes = {E(e_type, ET_REL)}},
    {"type core", .changes = {E(e_type, ET_CORE)}},
    {"type 0", .changes = {E(e_type, 0)}},
    {"header size 0", .changes = {E(e_ehsize, 0)}},
    {"section headers outside", .changes = {E(e_shoff, ~0ull), E(e_shnum, 100)}},
    {"no program headers", .changes = {E(e_phnum, 0)}},
    {"too many program headers", .changes = {E(e_phnum, 65535)}},
    {"program headers behind the end", .changes = {E(e_phoff, PAGES *PAGE - 100)}},
    {"program headers far away", .changes = {E(e_phoff, ~0ull - 100)}},
    {"program headers negative", .changes = {E(e_phoff, 1ull << 63)}},
    {"program header size", .changes = {E(e_phentsize, 64)}},
    {"entry 0", .changes = {E(e_entry, 0)}},
    {"entry outside", .changes = {E(e_entry, BASE + 0x100000)}},
    {"entry in the kernel", .changes = {E(e_entry, ~0ull << 47)}},
    {"entry not canonical", .changes = {E(e_entry, 1ull << 60)}},
    {"entry in data", .changes = {E(e_entry, BASE + PAGE)}},
    {"pie entry outside", .changes = {PIE, E(e_entry, 0x100000)}},
    {"cut in the header", .cut = 40},
    {"cut in the program headers", .cut = 100},
    {"cut behind the code", .cut = PAGE},
    {"cut in the data", .cut = PAGE + 100},
    {"empty", .cut = 1},
    /* segments */
    {"writable code", .changes = {P(CODE, p_flags, PF_R | PF_W | PF_X)}},
    {"code and data in one, writable", .changes = {P(CODE, p_flags, PF_R | PF_W | PF_X), P(CODE, p_filesz, 3 * PAGE),
                                                   P(CODE, p_memsz, 4 * PAGE), P(DATA, p_type, 0)}},
    {"pie, code and data in one, writable",
     .changes = {PIE, P(CODE, p_flags, PF_R | PF_W | PF_X), P(CODE, p_filesz, 3 * PAGE), P(CODE, p_memsz, 4 * PAGE),
                 P(DATA, p_type, 0)}},
    {"execute only", .changes = {P(CODE, p_flags, PF_X)}},
    {"write only", .changes = {P(DATA, p_flags, PF_W)}},
    {"no rights", .changes = {P(DATA, p_flags, 0)}},
    {"code without execute", .changes = {P(CODE, p_flags, PF_R)}},
    {"zeros that cannot be written", .changes = {P(DATA, p_flags, PF_R)}},
    {"zeros in code", .changes = {P(DATA, p_flags, PF_R | PF_X)}},
    {"unknown flags", .changes = {P(CODE, p_flags, 0xfffffff5)}},
    {"out of order", .changes = {SEGMENT(SPARE, 2 * PAGE, BASE - PAGE, PAGE, PAGE, PF_R)}},
    {"out of order above", .changes = {P(DATA, p_vaddr, BASE + 4 * PAGE),
                                       SEGMENT(SPARE, 3 * PAGE, BASE + 2 * PAGE, PAGE, PAGE, PF_R | PF_W)}},
    {"pie out of order", .changes = {E(e_type, ET_DYN), E(e_entry, 2 * PAGE + CODE_AT), P(CODE, p_vaddr, 2 * PAGE),
                                     P(DATA, p_vaddr, PAGE), P(DATA, p_memsz, PAGE)}},
    {"code last", .changes = {P(CODE, p_vaddr, BASE + PAGE), P(DATA, p_vaddr, BASE), P(DATA, p_memsz, 100),
                              P(DATA, p_filesz, 100), E(e_entry, BASE + PAGE + CODE_AT)}},
    {"overlapping", .changes = {SEGMENT(SPARE, 3 * PAGE, BASE + PAGE, PAGE, PAGE, PF_R)}},
    {"overlapping in part", .changes = {SEGMENT(SPARE, 3 * PAGE, BASE + 2 * PAGE, 2 * PAGE, 2 * PAGE, PF_R | PF_W)}},
    {"overlapping in a page", .changes = {SEGMENT(SPARE, 3 * PAGE + 0x900, BASE + PAGE + 0x900, 16, 16, PF_R | PF_W)}},
    {"overlapping zeros", .changes = {SEGMENT(SPARE, 0, BASE + PAGE, 0, PAGE, PF_R | PF_W)}},
    {"overlapping zeros in part", .changes = {SEGMENT(SPARE, 0, BASE + PAGE + 0x900, 0, 0x100, PF_R | PF_W)}},
    {"overlapping code", .changes = {SEGMENT(SPARE, 3 * PAGE, BASE, PAGE, PAGE, PF_R)}},
    {"twice the same", .changes = {SEGMENT(SPARE, 0, BASE, PAGE, PAGE, PF_R | PF_X)}},
    {"pie overlapping", .changes = {PIE, SEGMENT(SPARE, 3 * PAGE, PAGE, PAGE, PAGE, PF_R)}},
    {"larger in the file", .changes = {P(DATA, p_filesz, 2 * PAGE), P(DATA, p_memsz, PAGE)}},
    {"one byte larger in the file", .changes = {P(DATA, p_memsz, 0x7ff)}},
    {"nothing in memory", .changes = {P(DATA, p_memsz, 0)}},
    {"size 0", .changes = {P(DATA, p_filesz, 0), P(DATA, p_memsz, 0)}},
    {"size 0 far away", .changes = {P(DATA, p_filesz, 0), P(DATA, p_memsz, 0), P(DATA, p_vaddr, 1ull << 62)}},
    {"size 0 first",
     .changes = {SEGMENT(SPARE, 0, BASE, PAGE, PAGE, PF_R | PF_X), P(CODE, p_memsz, 0), P(CODE, p_filesz, 0)}},
    {"zeros only", .changes = {P(DATA, p_filesz, 0)}},
    {"zeros only, not writable", .changes = {P(DATA, p_filesz, 0), P(DATA, p_flags, PF_R)}},
    {"zeros only, in the middle", .changes = {P(DATA, p_filesz, 0), P(DATA, p_vaddr, BASE + PAGE + 0x400)}},
    {"zeros first", .changes = {P(CODE, p_filesz, 0), E(e_entry, BASE)}},
    {"no segments", .changes = {P(CODE, p_type, 0), P(DATA, p_type, 0)}},
    {"pie without segments", .changes = {PIE, P(CODE, p_type, 0), P(DATA, p_type, 0)}},
    {"segments of size 0 only",
     .changes = {P(CODE, p_memsz, 0), P(CODE, p_filesz, 0), P(DATA, p_memsz, 0), P(DATA, p_filesz, 0)}},
    {"pie of size 0",
     .changes = {PIE, P(CODE, p_memsz, 0), P(CODE, p_filesz, 0), P(DATA, p_memsz, 0), P(DATA, p_filesz, 0)}},
    {"offset behind the end", .changes = {P(DATA, p_offset, PAGES *PAGE + PAGE)}},
    {"offset far away", .changes = {P(DATA, p_offset, 1ull << 60)}},
    {"offset negative", .changes = {P(DATA, p_offset, ~0xfffull)}},
    {"more than the file has", .changes = {P(DATA, p_filesz, 100 * PAGE), P(DATA, p_memsz, 100 * PAGE)}},
    {"offset of no page", .changes = {P(DATA, p_offset, PAGE + 16)}},
    {"offset of no page, code", .changes = {P(CODE, p_offset, 16)}},
    {"offset of no page, zeros", .changes = {P(DATA, p_offset, PAGE + 16), P(DATA, p_filesz, 0)}},
    {"not at a page", .changes = {P(DATA, p_offset, PAGE + 0x400), P(DATA, p_vaddr, BASE + PAGE + 0x400)}},
    {"address 0", .changes = {P(DATA, p_vaddr, 0), P(DATA, p_memsz, PAGE)}},
    {"address in the kernel", .changes = {P(DATA, p_vaddr, ~0ull << 47)}},
    {"address not canonical", .changes = {P(DATA, p_vaddr, 1ull << 60)}},
    {"address at the end", .changes = {P(DATA, p_vaddr, 0x7fffffffe000)}},
    {"memory to the end", .changes = {P(DATA, p_memsz, 0x7ffffffff000 - BASE - PAGE)}},
    {"memory without end", .changes = {P(DATA, p_memsz, ~0ull)}},
    {"much memory", .changes = {P(DATA, p_memsz, 1ull << 32)}},
    {"much memory, not writable", .changes = {P(DATA, p_memsz, 1ull << 32), P(DATA, p_flags, PF_R)}},
    {"align 0", .changes = {P(CODE, p_align, 0)}},
    {"align 1", .changes = {P(CODE, p_align, 1)}},
    {"align 3", .changes = {P(CODE, p_align, 3)}},
    {"align 2 MiB", .changes = {P(CODE, p_align, 2 << 20)}},
    {"align huge", .changes = {P(CODE, p_align, 1ull << 50)}},
    {"pie align 0", .changes = {PIE, P(CODE, p_align, 0)}},
    {"pie align 3", .changes = {PIE, P(CODE, p_align, 3)}},
    /* All pages that are looked at are the program's: behind an aligned one, the kernel's clock may be. */
    {"pie align 2 MiB", .changes = {PIE, P(CODE, p_align, 2 << 20), P(DATA, p_memsz, 5 * PAGE)}},
    {"pie align 1 GiB", .changes = {PIE, P(CODE, p_align, 1 << 30), P(DATA, p_memsz, 5 * PAGE)}},
    {"pie above 0", .changes = {E(e_type, ET_DYN)}},
    /* others */
    {"code on a stack not executable", .changes = {E(e_flags, 1)}},
    {"code on a stack executable", .changes = {E(e_flags, 1), P(STACK, p_flags, PF_R | PF_W | PF_X)}},
    {"code on a stack without rights", .changes = {E(e_flags, 1), P(STACK, p_flags, 0)}},
    {"code on a stack of no kind", .changes = {E(e_flags, 1), P(STACK, p_type, 0)}},
    {"code on a stack twice",
     .changes = {E(e_flags, 1), P(SPARE, p_type, PT_GNU_STACK), P(SPARE, p_flags, PF_R | PF_W | PF_X)}},
    {"stack with a size", .changes = {P(STACK, p_memsz, 1 << 20)}},
    {"phdr wrong", .changes = {P(SPARE, p_type, PT_PHDR), P(SPARE, p_vaddr, 1ull << 60), P(SPARE, p_memsz, ~0ull)}},
    {"dynamic wrong",
     .changes = {P(SPARE, p_type, PT_DYNAMIC), P(SPARE, p_vaddr, 1ull << 60), P(SPARE, p_memsz, ~0ull)}},
    {"property wrong",
     .changes = {P(SPARE, p_type, PT_GNU_PROPERTY), P(SPARE, p_offset, ~0ull), P(SPARE, p_filesz, 16)}},
    {"property not one",
     .changes = {P(SPARE, p_type, PT_GNU_PROPERTY), P(SPARE, p_offset, PAGE), P(SPARE, p_filesz, 32)}},
    {"property large",
     .changes = {P(SPARE, p_type, PT_GNU_PROPERTY), P(SPARE, p_offset, PAGE), P(SPARE, p_filesz, 1 << 20)}},
    {"unknown header", .changes = {P(SPARE, p_type, 0x6fff1234), P(SPARE, p_offset, ~0ull)}},
    /* interpreters */
    {"interpreter", .interp = "pie"},
    {"interpreter at a fixed address", .interp = "interpreter-fixed"},
    {"interpreter of a pie", .interp = "pie", .changes = {PIE}},
    {"interpreter missing", .interp = "nothing"},
    {"interpreter empty", .interp = ""},
    {"interpreter of 2 zeros", .interp = "", .changes = {P(INTERP, p_filesz, 2)}},
    {"interpreter of size 0", .interp = "pie", .changes = {P(INTERP, p_filesz, 0)}},
    {"interpreter of size 1", .interp = "pie", .changes = {P(INTERP, p_filesz, 1)}},
    {"interpreter not ended", .interp = "pie", .changes = {P(INTERP, p_filesz, 3)}},
    {"interpreter too long", .interp = "pie", .changes = {P(INTERP, p_filesz, 4097)}},
    {"interpreter with zeros behind it", .interp = "pie", .changes = {P(INTERP, p_filesz, 64)}},
    {"interpreter behind the end", .interp = "pie", .changes = {P(INTERP, p_offset, PAGES *PAGE)}},
    {"interpreter far away", .interp = "pie", .changes = {P(INTERP, p_offset, ~0ull)}},
    {"interpreter is text", .interp = "text"},
    {"interpreter is short text", .interp = "short-text"},
    {"interpreter is a script", .interp = "script"},
    {"interpreter is a directory", .interp = "."},
    {"interpreter is below a file", .interp = "text/x"},
    {"interpreter not executable", .interp = "not-executable"},
    {"interpreter is an object", .interp = "type-object"},
    {"interpreter for arm", .interp = "machine-arm"},
    {"interpreter without segments", .interp = "pie-without-segments"},
    {"interpreter with an interpreter", .interp = "interpreter-of-a-pie"},
    {"interpreter is itself", .interp = "interpreter-is-itself"},
    {"interpreter larger in the file", .interp = "larger-in-the-file"},
    {"interpreter out of order", .interp = "pie-out-of-order"},
    {"interpreter at the same place", .interp = "plain"},
    {"interpreter entry outside", .interp = "pie-entry-outside"},
    {"interpreter cut", .interp = "cut-in-the-program-headers"},
    {"interpreter, program entry wrong", .interp = "pie", .changes = {E(e_entry, ~0ull)}},
    {"interpreter, second one missing", .interp = "pie",
     .changes = {P(SPARE, p_type, PT_INTERP), P(SPARE, p_offset, INTERP_AT + 100), P(SPARE, p_filesz, 2)}},
    {"interpreter-fixed", .changes = {P(CODE, p_vaddr, BASE + (1 << 20)), P(DATA, p_vaddr, BASE + (1 << 20) + PAGE),
                                      E(e_entry, BASE + (1 << 20) + CODE_AT)}},
};

/* "type object" is in the file type-object. */
static void file_name(const char *name, char *file) {
    for (; *name; name++)
        if (*name != ',')
            *file++ = *name == ' ' ? '-' : *name;
    *file = 0;
}

static void write_file(const char *name, const void *data, size_t size, int mode) {
    char file[100];
    file_name(name, file);
    unlink(file);
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || fchmod(fd, mode))
        perror(file), exit(1);
    close(fd);
}

static void default_headers(Elf64_Ehdr *e, Elf64_Phdr *p) {
    *e = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                      .e_type = ET_EXEC,
                      .e_machine = EM_X86_64,
                      .e_version = EV_CURRENT,
                      .e_entry = BASE + CODE_AT,
                      .e_phoff = sizeof(*e),
                      .e_ehsize = sizeof(*e),
                      .e_phentsize = sizeof(*p),
                      .e_phnum = HEADERS};
    memset(p, 0, HEADERS * sizeof(*p));
    p[CODE] = (Elf64_Phdr){PT_LOAD, PF_R | PF_X, 0, BASE, BASE, PAGE, PAGE, PAGE};
    p[DATA] = (Elf64_Phdr){PT_LOAD, PF_R | PF_W, PAGE, BASE + PAGE, BASE + PAGE, PAGE / 2, 2 * PAGE, PAGE};
    p[SPARE].p_align = PAGE;
    p[STACK] = (Elf64_Phdr){.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W};
}

static void write_odd(const Odd *o) {
    static char image[PAGES * PAGE];
    Elf64_Ehdr e;
    Elf64_Phdr p[HEADERS];
    memset(image, '.', sizeof(image));
    for (int i = 0; i < PAGES; i++)
        sprintf(image + i * PAGE, "file page %d", i);
    default_headers(&e, p);
    if (o->interp) {
        strcpy(image + INTERP_AT, o->interp);
        memset(image + INTERP_AT + strlen(o->interp), 0, 200);
        p[INTERP] = (Elf64_Phdr){.p_type = PT_INTERP, .p_offset = INTERP_AT, .p_filesz = strlen(o->interp) + 1};
    }
    for (const Change *c = o->changes; c < o->changes + CHANGES && c->size; c++)
        memcpy((c->header == MAIN ? (char *)&e : (char *)&p[c->header]) + c->offset, &c->value, c->size);
    memcpy(image, &e, sizeof(e));
    memcpy(image + sizeof(e), p, sizeof(p));
    memcpy(image + CODE_AT, blob, (size_t)(blob_end - blob));
    write_file(o->name, image, o->cut ? o->cut - 1 : sizeof(image), 0700);
}

/* -------------------------------------------------------------------------------------------------------------- scripts */

/* "%" in a line stands for as many characters that the line has SCRIPT_LINE of them. "./i" is this program, which shows its arguments. */
static const struct {
    const char *name, *line;
} scripts[] = {
    {"script", "#!./i\n"},
    {"script argument", "#!./i one\n"},
    {"script arguments", "#! \t ./i \t one  two\t three \t \n"},
    {"script relative", "#!i\n"},
    {"script without a newline", "#!./i"},
    {"script argument without a newline", "#!./i one"},
    {"script blank at the end", "#!./i "},
    {"script carriage return", "#!./i\r\n"},
    {"script argument carriage return", "#!./i one\r\n"},
    {"script zero", "#!./i\0 one\n"},
    {"script zero in the argument", "#!./i one\0 two\n"},
    {"script newline first", "#!\n./i\n"},
    {"script of nothing", "#!"},
    {"script of blanks", "#!   \n"},
    {"script of blanks without a newline", "#!   "},
    {"script missing", "#!./nothing\n"},
    {"script of a directory", "#!.\n"},
    {"script below a file", "#!./text/x\n"},
    {"script not executable", "#!./not-executable\n"},
    {"script of text", "#!./text\n"},
    {"script of an object", "#!./type-object\n"},
    {"script of itself", "#!./script-of-itself\n"},
    {"script of an elf", "#!./plain\n"},
    {"script of a bad elf", "#!./interpreter-missing\n"},
    {"script 1", "#!./script\n"},
    {"script 2", "#!./script-1\n"},
    {"script 3", "#!./script-2 two\n"},
    {"script 4", "#!./script-3 three\n"},
    {"script 5", "#!./script-4 four\n"},
    {"script 6", "#!./script-5 five\n"},
    {"script long", "#!./i %\n"},
    {"script long one more", "#!./i %x\n"},
    {"script long name", "#!%\n"},
    {"script long name and more", "#!% argument\n"},
    {"script long blanks", "#!./i_\n"},
    {"script long blanks first", "#!_./i\n"},
    {"script long argument then blanks", "#!./i one_two\n"},
    {"script blank line", " #!./i\n"},
    {"script backslash", "#!./i a\\ b \"c d\" 'e'\n"},
    {"script utf-8", "#!./i \xc3\xa4\xff\n"},
};

/* "%" and "_" are replaced; the length goes by what the literal has, zeros included. */
static void write_script(const char *name, const char *line, size_t size) {
    char text[2 * SCRIPT_LINE + 64];
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        if (line[i] != '%' && line[i] != '_') {
            text[n++] = line[i];
            continue;
        }
        while (n < SCRIPT_LINE - 1)
            text[n++] = line[i] == '%' ? 'x' : ' ';
    }
    write_file(name, text, n, 0700);
}

static size_t line_size(const char *name, const char *line) {
    return !strcmp(name, "script zero") ? 11 : !strcmp(name, "script zero in the argument") ? 15 : strlen(line);
}

/* -------------------------------------------------------------------------------------------------------------- running */

static void show_text(const char *text, long n) {
    for (long i = 0; i < n; i++)
        if (text[i] >= ' ' && text[i] < 127)
            putchar(text[i]);
        else if (!text[i])
            putchar('0');
        else
            printf("\\x%02x", (unsigned char)text[i]);
}

/* The errno of a failed exec comes through the second pipe, which exec closes. */
static void start(const char *name) {
    char file[100], text[8192];
    int out[2], failed[2], error = 0, status;
    file_name(name, file);
    pipe(out), pipe2(failed, O_CLOEXEC);
    pid_t child = fork();
    if (!child) {
        char *argv[] = {(char *)"zero", (char *)"a b", (char *)"", (char *)"c", NULL},
             *envp[] = {(char *)"ODDITIES=1", NULL};
        dup2(out[1], 1);
        close(out[0]), close(out[1]), close(failed[0]);
        execve(file, argv, envp);
        error = errno;
        write(failed[1], &error, sizeof(error));
        _exit(0);
    }
    close(out[1]), close(failed[1]);
    long n = 0, more;
    while ((more = read(out[0], text + n, sizeof(text) - (size_t)n)) > 0)
        n += more;
    read(failed[0], &error, sizeof(error));
    close(out[0]), close(failed[0]);
    waitpid(child, &status, 0);
    printf("%s: ", name);
    if (error)
        printf("error %d (%s)\n", error, strerror(error));
    else {
        printf(WIFEXITED(status) ? "status %d: " : "signal %d: ",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        show_text(text, n);
        printf("\n");
    }
    fflush(stdout);
}

static int show_arguments(int argc, char **argv) {
    char name[17] = "";
    for (int i = 0; i < argc; i++)
        printf("[%s]", argv[i]);
    int fd = open("/proc/self/comm", O_RDONLY);
    read(fd, name, 16);
    printf(" %s", name);
    return 5;
}

static void write_all(void) {
    char self[4096] = "";
    readlink("/proc/self/exe", self, sizeof(self) - 1);
    unlink("i");
    symlink(self, "i");
    write_file("text", "text that is long enough to be a header of an ELF file, but is not one; it has no magic number",
               95, 0700);
    write_file("short-text", "text", 4, 0700);
    write_file("not-executable", "text", 4, 0600);
    for (size_t i = 0; i < sizeof(odds) / sizeof(odds[0]); i++)
        write_odd(&odds[i]);
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
        write_script(scripts[i].name, scripts[i].line, line_size(scripts[i].name, scripts[i].line));
}

int main(int argc, char **argv) {
    if (getenv("ODDITIES"))
        return show_arguments(argc, argv);
    if (argc > 2 && !strcmp(argv[1], "=")) {
        putenv((char *)"ODDITIES=1");
        execv(argv[2], argv + 2);
        return errno == ENOENT ? 127 : 126;
    }
    if (argc > 2)
        chdir(argv[2]);
    write_all();
    const char *filter = argc == 2 ? argv[1] : "";
    for (size_t i = 0; argc < 3 && i < sizeof(odds) / sizeof(odds[0]); i++)
        if (strstr(odds[i].name, filter))
            start(odds[i].name);
    for (size_t i = 0; argc < 3 && i < sizeof(scripts) / sizeof(scripts[0]); i++)
        if (strstr(scripts[i].name, filter))
            start(scripts[i].name);
    return 0;
}
