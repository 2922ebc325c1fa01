/* pinned.c: the size of what is made of a fixed list of guest code, against the sizes on record.
 *
 * Three numbers per snippet: IR instructions as lifted, IR instructions after optimisation, bytes of host code. They
 * are no bars: a change of the lifter that changes them is to be seen and looked at, and the record renewed with
 * tests/ir/update. Code is made for one fixed CPU, so that the numbers do not depend on the machine.
 *
 * snippets.txt: name | extent (block or function) | bytes in hexadecimal
 * pinned.txt:   name | lifted | optimised | host bytes
 */
#include <ctype.h>
#include <lathe/lift.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

enum { GUEST_PC = 0x401000, MAX_BYTES = 1024 };

typedef struct Snippet {
    char name[64];
    bool function;
    u8 bytes[MAX_BYTES];
    size_t size;
} Snippet;

typedef struct Sizes {
    char name[64];
    u64 lifted, optimized, host;
} Sizes;

typedef VEC(Snippet) Snippets;
typedef VEC(Sizes) SizesList;

/* -------------------------------------------------------------------------------------------------------- reading */

_Noreturn static void fail(const char *file, u32 line, const char *what) {
    fprintf(stderr, "%s:%u: %s\n", file, line, what);
    exit(2);
}

/* Cuts a line at '|' into trimmed columns; returns how many. */
static size_t cut(char *line, char **columns, size_t max) {
    size_t count = 0;
    for (char *save, *part = strtok_r(line, "|", &save); part && count < max; part = strtok_r(NULL, "|", &save)) {
        while (isspace((unsigned char)*part))
            part++;
        for (char *end = part + strlen(part); end > part && isspace((unsigned char)end[-1]);)
            *--end = 0;
        columns[count++] = part;
    }
    return count;
}

static bool parse_hex(const char *text, Snippet *s) {
    for (; *text; text += 2) {
        unsigned byte;
        if (sscanf(text, "%2x", &byte) != 1 || !isxdigit((unsigned char)text[1]) || s->size == MAX_BYTES)
            return false;
        s->bytes[s->size++] = (u8)byte;
    }
    return s->size > 0;
}

static Snippet parse_snippet(const char *file, u32 number, char *line) {
    char *columns[3];
    Snippet s = {0};
    if (cut(line, columns, 3) != 3)
        fail(file, number, "expected: name | extent | bytes");
    snprintf(s.name, sizeof(s.name), "%s", columns[0]);
    s.function = !strcmp(columns[1], "function");
    if (!s.function && strcmp(columns[1], "block") != 0)
        fail(file, number, "the extent is block or function");
    if (!parse_hex(columns[2], &s))
        fail(file, number, "no bytes in hexadecimal");
    return s;
}

static Sizes parse_sizes(const char *file, u32 number, char *line) {
    char *columns[4];
    Sizes s = {0};
    if (cut(line, columns, 4) != 4)
        fail(file, number, "expected: name | lifted | optimised | host bytes");
    snprintf(s.name, sizeof(s.name), "%s", columns[0]);
    s.lifted = strtoul(columns[1], NULL, 10);
    s.optimized = strtoul(columns[2], NULL, 10);
    s.host = strtoul(columns[3], NULL, 10);
    return s;
}

/* The next line that is not empty and no comment. */
static bool next_line(FILE *f, char *line, size_t size, u32 *number) {
    while (fgets(line, (int)size, f)) {
        ++*number;
        line[strcspn(line, "\n")] = 0;
        if (line[0] && line[0] != '#')
            return true;
    }
    return false;
}

static void read_snippets(const char *file, Snippets *list) {
    FILE *f = fopen(file, "r");
    if (!f)
        fail(file, 0, "cannot be read");
    char line[4096];
    for (u32 number = 0; next_line(f, line, sizeof(line), &number);)
        VEC_PUSH(list, parse_snippet(file, number, line));
    fclose(f);
}

/* A record that does not exist yet is empty. */
static void read_sizes(const char *file, SizesList *list) {
    FILE *f = fopen(file, "r");
    if (!f)
        return;
    char line[4096];
    for (u32 number = 0; next_line(f, line, sizeof(line), &number);)
        VEC_PUSH(list, parse_sizes(file, number, line));
    fclose(f);
}

/* ------------------------------------------------------------------------------------------------------ measuring */

static size_t read_memory(void *user, u64 addr, void *buf, size_t size) {
    const Snippet *s = user;
    u64 off = addr - GUEST_PC;
    if (off >= s->size)
        return 0;
    size_t n = s->size - off < size ? s->size - off : size;
    memcpy(buf, s->bytes + off, n);
    return n;
}

static u64 count_ir(LLVMValueRef f) {
    u64 count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            count++;
    return count;
}

/* The instructions of a block one by one, so that the end of the snippet is no problem of its own. */
static LatheStatus decode_block(LatheFunc *fn, const LatheConfig *cfg, const Snippet *s) {
    LatheStatus status = LATHE_OK;
    char text[128];
    for (u64 pc = GUEST_PC; pc < GUEST_PC + s->size && status == LATHE_OK;) {
        status = lathe_func_decode_insn(fn, pc);
        pc += status == LATHE_OK ? (u64)lathe_disassemble(cfg, pc, text, sizeof(text)) : 0;
    }
    return status;
}

static LLVMValueRef lift(LLVMModuleRef mod, const Snippet *s) {
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    LLVMTypeRef ptr = LLVMPointerTypeInContext(ctx, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(ctx), &ptr, 1, false);
    LatheConfig cfg = {
        .read_memory = read_memory,
        .user = (void *)s,
        .calls = LATHE_CALLS_RETURN,
        .dispatch = LLVMAddFunction(mod, "dispatch", type),
    };
    LatheFunc *fn = lathe_func_new(mod, &cfg);
    LatheStatus status = s->function ? lathe_func_decode_cfg(fn, GUEST_PC) : decode_block(fn, &cfg, s);
    LLVMValueRef f = status == LATHE_OK ? lathe_func_lift(fn, s->name) : NULL;
    LatheProblem problem = lathe_func_problem(fn);
    if (problem.status != LATHE_OK)
        f = NULL;
    if (!f)
        fprintf(stderr, "%s: %s\n", s->name, problem.text ? problem.text : lathe_status_text(status));
    lathe_func_free(fn);
    return f;
}

static bool measure(LatheJit *jit, const Snippet *s, Sizes *sizes) {
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("pinned", ctx);
    LLVMValueRef f = lift(mod, s);
    bool ok = f != NULL;
    if (ok) {
        snprintf(sizes->name, sizeof(sizes->name), "%s", s->name);
        sizes->lifted = count_ir(f);
        ok = lathe_jit_optimize(jit, mod, LATHE_OPT_FULL) == LATHE_OK;
        sizes->optimized = count_ir(f);
        ok = lathe_jit_add(jit, mod, LATHE_OPT_NONE) == LATHE_OK && ok;
        size_t host = 0;
        lathe_jit_code(jit, s->name, &host);
        sizes->host = host;
    } else {
        LLVMDisposeModule(mod);
    }
    LLVMContextDispose(ctx);
    return ok;
}

/* ------------------------------------------------------------------------------------------------------ comparing */

static const Sizes *find(const SizesList *list, const char *name) {
    for (size_t i = 0; i < list->len; i++)
        if (!strcmp(list->at[i].name, name))
            return &list->at[i];
    return NULL;
}

static void print_sizes(FILE *out, const char *mark, const Sizes *s) {
    fprintf(out, "%s%-36s | %5lu | %5lu | %5lu\n", mark, s->name, s->lifted, s->optimized, s->host);
}

static bool same(const Sizes *a, const Sizes *b) {
    return a && b && a->lifted == b->lifted && a->optimized == b->optimized && a->host == b->host;
}

/* As a diff: the lines on record that no longer hold, and what holds now. */
static bool compare(const SizesList *record, const SizesList *now) {
    bool equal = true;
    for (size_t i = 0; i < now->len; i++) {
        const Sizes *old = find(record, now->at[i].name);
        if (same(old, &now->at[i]))
            continue;
        equal = false;
        if (old)
            print_sizes(stdout, "-", old);
        print_sizes(stdout, "+", &now->at[i]);
    }
    for (size_t i = 0; i < record->len; i++)
        if (!find(now, record->at[i].name)) {
            equal = false;
            print_sizes(stdout, "-", &record->at[i]);
        }
    if (!equal)
        puts("If this is meant to be, renew the record: tests/ir/update");
    return equal;
}

static bool write_record(const char *file, const SizesList *now) {
    FILE *f = fopen(file, "w");
    if (!f)
        return false;
    fprintf(f, "# Written by tests/ir/update; see pinned.c.\n# %-34s | lifted | optimised | host bytes\n", "name");
    for (size_t i = 0; i < now->len; i++)
        print_sizes(f, "", &now->at[i]);
    return fclose(f) == 0;
}

static void *any_symbol(void *user, const char *name) {
    (void)user;
    return !strcmp(name, "dispatch") ? (void *)(uintptr_t)any_symbol : NULL;
}

int main(int argc, char **argv) {
    bool update = argc == 4 && !strcmp(argv[3], "--update");
    if (argc != 3 && !update) {
        fputs("usage: pinned SNIPPETS RECORD [--update]\n", stderr);
        return 2;
    }
    Snippets snippets = {0};
    SizesList record = {0}, now = {0};
    read_snippets(argv[1], &snippets);
    read_sizes(argv[2], &record);
    LatheJit *jit = lathe_jit_new(&(LatheJitConfig){.cpu = "x86-64-v2", .features = "", .symbol = any_symbol});
    bool ok = snippets.len > 0;
    for (size_t i = 0; i < snippets.len; i++) {
        Sizes sizes = {0};
        if (measure(jit, &snippets.at[i], &sizes))
            VEC_PUSH(&now, sizes);
        else
            ok = false;
    }
    ok = compare(&record, &now) && ok;
    if (update)
        ok = write_record(argv[2], &now);
    lathe_jit_free(jit);
    VEC_FREE(&snippets);
    VEC_FREE(&record);
    VEC_FREE(&now);
    return ok ? 0 : 1;
}
