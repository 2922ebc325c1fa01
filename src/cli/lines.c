/* lines.c: `lathe-tools lines`: tells a program under `lathe run`, for its tool, which line of source an address is from, and the readable form of C++ names. The client
 * (run/client/tool/lines.c) starts it, and talks to it through descriptor 3, one question and one answer at a time:
 *
 *     L ADDRESS PATH            the address, hexadecimal, is that of the file
 *     D NAME
 *     I ARCH ADDRESS BYTES      an instruction as text; ARCH is a LatheArch, the bytes are hexadecimal
 *     S LINE PATH               a line of a source
 *
 * An answer is `NUMBER TEXT`: the line, and in the text where its code ends and the path of the source, 0 and ? if they are not known, and behind tabs the same for the code that follows; 0 and
 * the name; the instruction's size, 0 if it is none, and its text; 1 and the line's text, 0 if there is none. */
#include <elfutils/libdwfl.h>
#include <lathe/lift.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cli/commands.h"

enum { SOCKET = 3 };

char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status); /* of the C++ library */

/* A file that was asked for. */
typedef struct Module {
    struct Module *next;
    char *path;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL: it cannot be read */
} Module;

/* Separate files are looked for where distributions install them, and nowhere on the network. */
static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

static bool is_as_it_was(const Module *m, const struct stat *st) {
    return m->device == st->st_dev && m->inode == st->st_ino && m->size == st->st_size &&
           m->changed.tv_sec == st->st_mtim.tv_sec && m->changed.tv_nsec == st->st_mtim.tv_nsec;
}

/* Another file may have got the name meanwhile, or the file may have other contents. */
static Module *find(Module **all, const char *path) {
    struct stat st = {0};
    stat(path, &st);
    for (Module *m = *all; m; m = m->next)
        if (!strcmp(m->path, path) && is_as_it_was(m, &st))
            return m;
    Module *m = mem_new(sizeof(*m));
    m->path = strdup(path);
    m->device = st.st_dev, m->inode = st.st_ino;
    m->size = st.st_size, m->changed = st.st_mtim;
    m->dwfl = dwfl_begin(&callbacks);
    if (m->dwfl) {
        m->module = dwfl_report_elf(m->dwfl, path, path, -1, 0, false);
        dwfl_report_end(m->dwfl, NULL, NULL);
    }
    m->next = *all;
    return *all = m;
}

/* The address of the next row of the table of lines, behind the one that `at` is: where the line's code ends. */
static u64 end_of(Dwfl_Line *at, u64 address) {
    Dwarf_Addr bias = 0, row = 0;
    Dwarf_Lines *rows;
    size_t low = 0, high = 0;
    dwfl_dwarf_line(at, &bias);
    if (dwarf_getsrclines(dwfl_linecu(at), &rows, &high))
        return address;
    for (size_t count = high; low < high;) {
        size_t middle = (low + high) / 2;
        dwarf_lineaddr(dwarf_onesrcline(rows, middle), &row);
        if (row + bias <= address)
            low = middle + 1;
        else
            high = middle;
        if (low == count)
            return address;
    }
    dwarf_lineaddr(dwarf_onesrcline(rows, low), &row);
    return row + bias;
}

/* No line of source has so much code: such a row is of a damaged table. */
enum { ROW_BYTES_MOST = 1 << 20 };

/* A row, as it is answered: it says where the next one begins. False: there is none. */
static bool put_row(FILE *to, const Module *m, u64 *address, int *bytes) {
    Dwfl_Line *at = m->module ? dwfl_module_getsrc(m->module, *address) : NULL;
    int line = 0;
    const char *name = at ? dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL) : NULL;
    const char *directory = at ? dwfl_line_comp_dir(at) : NULL;
    bool relative = name && *name != '/' && directory && *directory == '/';
    if (!name)
        return false;
    u64 end = end_of(at, *address);
    if (end - *address > ROW_BYTES_MOST)
        end = *address;
    *bytes += fprintf(to, "%s%d %lx %s%s%s", *bytes ? "\t" : "", line, (unsigned long)end, relative ? directory : "",
                      relative ? "/" : "", name);
    bool more = end > *address;
    *address = end;
    return more;
}

/* The line that was asked for, and those of the code behind it, which is asked for next as a rule. */
static void answer_line(Module **all, FILE *to, char *question) {
    enum { ROWS = 32, BYTES = 3000 };
    char *path;
    u64 address = strtoull(question, &path, 16);
    const Module *m = find(all, path + (*path == ' '));
    int bytes = 0;
    u32 rows = 0;
    while (rows < ROWS && bytes < BYTES && put_row(to, m, &address, &bytes))
        rows++;
    fputs(bytes ? "\n" : "0 0 ?\n", to);
}

static void answer_name(FILE *to, const char *name) {
    int status;
    char *readable = __cxa_demangle(name, NULL, NULL, &status);
    fprintf(to, "0 %s\n", readable ? readable : name);
    free(readable);
}

/* ------------------------------------------------------------------------------------------------------------ instructions */

typedef struct Code {
    u64 address;
    u8 bytes[16];
    size_t size;
} Code;

static size_t read_code(void *user, uint64_t address, void *buf, size_t size) {
    const Code *c = user;
    if (address < c->address || address >= c->address + c->size)
        return 0;
    size_t left = c->size - (address - c->address), n = left < size ? left : size;
    memcpy(buf, c->bytes + (address - c->address), n);
    return n;
}

static void answer_insn(FILE *to, char *question) {
    Code c = {0};
    char *at, text[200] = "";
    unsigned byte;
    LatheConfig cfg = {.arch = (LatheArch)strtoul(question, &at, 10), .read_memory = read_code, .user = &c};
    c.address = strtoull(at, &at, 16);
    for (at += *at == ' '; c.size < sizeof(c.bytes) && sscanf(at, "%2x", &byte) == 1; at += 2)
        c.bytes[c.size++] = (u8)byte;
    int size = lathe_disassemble(&cfg, c.address, text, sizeof(text));
    fprintf(to, "%d %s\n", size > 0 ? size : 0, size > 0 ? text : "?");
}

/* ---------------------------------------------------------------------------------------------------------------- sources */

/* A source that was asked for, with all its text. */
typedef struct Source {
    struct Source *next;
    char *path;
    VEC(char *) lines;
} Source;

static void read_source(Source *s) {
    FILE *in = fopen(s->path, "r");
    char *line = NULL;
    size_t size = 0;
    while (in && getline(&line, &size, in) >= 0) {
        line[strcspn(line, "\r\n")] = 0;
        VEC_PUSH(&s->lines, strdup(line));
    }
    free(line);
    if (in)
        fclose(in);
}

static Source *find_source(Source **all, const char *path) {
    for (Source *s = *all; s; s = s->next)
        if (!strcmp(s->path, path))
            return s;
    Source *s = mem_new(sizeof(*s));
    s->path = strdup(path);
    read_source(s);
    s->next = *all;
    return *all = s;
}

static void answer_source(Source **all, FILE *to, char *question) {
    enum { LONGEST = 1000 };
    char *path;
    size_t line = strtoul(question, &path, 10);
    const Source *s = find_source(all, path + (*path == ' '));
    bool known = line && line <= s->lines.len;
    fprintf(to, "%d %.*s\n", known, LONGEST, known ? s->lines.at[line - 1] : "");
}

/* --------------------------------------------------------------------------------------------------------------- questions */

/* What is kept of files ends with the process. */
typedef struct Known {
    Module *modules;
    Source *sources;
} Known;

static void answer(Known *known, FILE *to, char *question) {
    char *rest = question + 2;
    if (*question == 'L')
        answer_line(&known->modules, to, rest);
    else if (*question == 'I')
        answer_insn(to, rest);
    else if (*question == 'S')
        answer_source(&known->sources, to, rest);
    else
        answer_name(to, rest);
}

int command_lines(void) {
    FILE *from = fdopen(SOCKET, "r"), *to = fdopen(SOCKET, "w");
    Known known = {0};
    char *question = NULL;
    size_t size = 0;
    while (from && to && getline(&question, &size, from) > 2) {
        question[strcspn(question, "\n")] = 0;
        answer(&known, to, question);
        fflush(to);
    }
    free(question);
    return 0;
}
