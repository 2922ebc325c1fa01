/* assemble.c: see assemble.h. The texts become module-level assembly, three lines per case: a label, what the assembler must
 * be told, the instructions. */
#include "assemble.h"

#include <stdio.h>
#include <stdlib.h>

#include <llvm-c/Core.h>
#include <llvm-c/Object.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "oracle.h"

#define START "start"
#define HEAD_LINES 1
#define LINES_PER_CASE 3

typedef struct Report {
    const CaseList *list;
    unsigned errors;
} Report;

/* The text of a case, in which the word `start` is the address of its first instruction. */
static void print_insns(FILE *f, const char *text, size_t index) {
    const char *word;
    for (; (word = strstr(text, START)); text = word + strlen(START))
        fprintf(f, "%.*scase_%zu", (int)(word - text), text, index);
    fprintf(f, "%s\n", text);
}

static char *assembly_text(const CaseList *list, size_t *size) {
    char *text;
    FILE *f = open_memstream(&text, size);
    fprintf(f, ".text\n");
    for (size_t i = 0; i < list->len; i++) {
        fprintf(f, "case_%zu:\n%s\n", i, guest_directive(list->at[i].insns));
        print_insns(f, list->at[i].insns, i);
    }
    fprintf(f, "case_%zu:\n", list->len);
    fclose(f);
    return text;
}

/* LLVM says "<inline asm>:LINE:COLUMN: message", then quotes the line. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
    Report *r = user;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    unsigned line;
    int at = 0;
    bool known = sscanf(text, "<inline asm>:%u:%*u: %n", &line, &at) == 1 && line > HEAD_LINES;
    size_t index = known ? (line - HEAD_LINES - 1) / LINES_PER_CASE : r->list->len;
    int message_size = (int)strcspn(text + at, "\n");
    if (index < r->list->len)
        fprintf(stderr, "%s:%d: %.*s in '%s'\n", r->list->at[index].file, r->list->at[index].line, message_size,
                text + at, r->list->at[index].insns);
    else
        fprintf(stderr, "assembler: %s\n", text);
    r->errors++;
    LLVMDisposeMessage(text);
}

#define JOIN(a, b, c) a##b##c
#define INITIALIZE(target, part) JOIN(LLVMInitialize, target, part)()

static LLVMTargetMachineRef new_machine(void) {
    INITIALIZE(GUEST_TARGET, TargetInfo);
    INITIALIZE(GUEST_TARGET, Target);
    INITIALIZE(GUEST_TARGET, TargetMC);
    INITIALIZE(GUEST_TARGET, AsmParser);
    INITIALIZE(GUEST_TARGET, AsmPrinter);
    LLVMTargetRef target;
    char *error;
    CHECK(!LLVMGetTargetFromTriple(GUEST_TRIPLE, &target, &error), "LLVM was built without the guest's architecture");
    return LLVMCreateTargetMachine(target, GUEST_TRIPLE, "", GUEST_FEATURES, LLVMCodeGenLevelNone, LLVMRelocDefault,
                                   LLVMCodeModelDefault);
}

static LLVMMemoryBufferRef emit_object(LLVMContextRef ctx, const char *text, size_t size, Report *r) {
    LLVMContextSetDiagnosticHandler(ctx, on_diagnostic, r);
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("cases", ctx);
    LLVMSetTarget(mod, GUEST_TRIPLE);
    LLVMSetModuleInlineAsm2(mod, text, size);
    LLVMTargetMachineRef tm = new_machine();
    LLVMMemoryBufferRef object = NULL;
    char *error = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(tm, mod, LLVMObjectFile, &error, &object)) {
        fprintf(stderr, "assembler: %s\n", error);
        LLVMDisposeMessage(error);
        r->errors++;
    }
    LLVMDisposeTargetMachine(tm);
    LLVMDisposeModule(mod);
    return object;
}

/* The offsets of case_0 … case_N in the text section. */
static u64 *label_offsets(LLVMBinaryRef object, size_t count, Arena *a) {
    u64 *offset = ARENA_ARRAY(a, u64, count);
    LLVMSymbolIteratorRef sym = LLVMObjectFileCopySymbolIterator(object);
    for (; !LLVMObjectFileIsSymbolIteratorAtEnd(object, sym); LLVMMoveToNextSymbol(sym)) {
        const char *name = LLVMGetSymbolName(sym);
        size_t index;
        if (name && sscanf(name, "case_%zu", &index) == 1 && index < count)
            offset[index] = LLVMGetSymbolAddress(sym);
    }
    LLVMDisposeSymbolIterator(sym);
    return offset;
}

/* A relocation is a reference to a name that no case defines. */
static void report_relocations(LLVMSectionIteratorRef text, const u64 *offset, Report *r) {
    LLVMRelocationIteratorRef rel = LLVMGetRelocations(text);
    for (; !LLVMIsRelocationIteratorAtEnd(text, rel); LLVMMoveToNextRelocation(rel)) {
        size_t index = 0;
        while (index + 1 < r->list->len && offset[index + 1] <= LLVMGetRelocationOffset(rel))
            index++;
        fprintf(stderr, "%s:%d: unknown name in '%s'\n", r->list->at[index].file, r->list->at[index].line,
                r->list->at[index].insns);
        r->errors++;
    }
    LLVMDisposeRelocationIterator(rel);
}

static bool is_section(LLVMSectionIteratorRef sec, const char *name) {
    const char *n = LLVMGetSectionName(sec);
    return n && !strcmp(n, name);
}

static void take_code(LLVMBinaryRef object, CaseList *list, Report *r, Arena *a) {
    const u64 *offset = label_offsets(object, list->len + 1, a);
    LLVMSectionIteratorRef sec = LLVMObjectFileCopySectionIterator(object);
    while (!LLVMObjectFileIsSectionIteratorAtEnd(object, sec) && !is_section(sec, ".text"))
        LLVMMoveToNextSection(sec);
    CHECK(!LLVMObjectFileIsSectionIteratorAtEnd(object, sec), "the assembler made no text section");
    const char *contents = LLVMGetSectionContents(sec);
    for (size_t i = 0; i < list->len; i++) {
        list->at[i].size = offset[i + 1] - offset[i];
        list->at[i].code = memcpy(arena_alloc(a, list->at[i].size), contents + offset[i], list->at[i].size);
    }
    LLVMSectionIteratorRef rel = LLVMObjectFileCopySectionIterator(object);
    for (; !LLVMObjectFileIsSectionIteratorAtEnd(object, rel); LLVMMoveToNextSection(rel))
        if (is_section(rel, ".rela.text"))
            report_relocations(rel, offset, r);
    LLVMDisposeSectionIterator(rel);
    LLVMDisposeSectionIterator(sec);
}

bool assemble_cases(CaseList *list, Arena *a) {
    Report r = {.list = list};
    size_t size;
    char *text = assembly_text(list, &size);
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMMemoryBufferRef buffer = emit_object(ctx, text, size, &r);
    if (buffer && !r.errors) {
        char *error;
        LLVMBinaryRef object = LLVMCreateBinary(buffer, ctx, &error);
        CHECK(object, "LLVM cannot read the object it made");
        take_code(object, list, &r, a);
        LLVMDisposeBinary(object);
    }
    if (buffer)
        LLVMDisposeMemoryBuffer(buffer);
    LLVMContextDispose(ctx);
    free(text);
    return !r.errors;
}
