/* raise.c: a program that is being raised: which are taken, and what goes with it. */
#include "raise/raise.h"

#include <elf.h>
#include <llvm-c/Core.h>
#include <stdarg.h>
#include <stdio.h>

bool raise_fail(Raise *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(r->problem, sizeof(r->problem), format, args);
    va_end(args);
    return false;
}

void raise_note(Raise *r, u64 pc, const char *format, ...) {
    char text[RAISE_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    VEC_PUSH(&r->notes, ((RaiseNote){pc, arena_printf(&r->arena, "%s", text)}));
}

void raise_for_size(Raise *r) {
    for (LLVMValueRef f = LLVMGetFirstFunction(r->mod); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, raise_attribute(r, "optsize", 0));
}

void raise_progress(const Raise *r, const char *what, u64 done, u64 total) {
    if (r->progress)
        r->progress(what, done, total);
}

/* Has it the functions that find frames linked into it? These ask the dynamic linker for the tables of a place, and nobody else calls them. */
static bool has_own_unwinder(const ElfFile *elf) {
    return !elf_imports(elf, "_Unwind_Resume") &&
           (elf_imports(elf, "_dl_find_object") || elf_imports(elf, "dl_iterate_phdr"));
}

/* What a program does that raised functions cannot: their frames are not where it looks for them. */
static bool check_imports(Raise *r) {
    static const struct {
        const char *name, *why;
        bool foreign; /* only where it is for another machine */
    } rows[] = {
        {"getcontext", "it switches stacks", false},
        {"makecontext", "it switches stacks", false},
        {"swapcontext", "it switches stacks", false},
        {"_Unwind_Resume", "it has C++ exceptions, or the like", true},
        {"_Unwind_RaiseException", "it has C++ exceptions, or the like", true},
        {"__cxa_throw", "it has C++ exceptions, or the like", true},
        {"__cxa_begin_catch", "it has C++ exceptions, or the like", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (((r->foreign && !r->unwinds) || !rows[i].foreign) && elf_imports(r->elf, rows[i].name))
            return raise_fail(r, "it uses %s: %s, which raised programs cannot yet", rows[i].name, rows[i].why);
    if (r->unwinds && has_own_unwinder(r->elf))
        return raise_fail(r, "it has C++ exceptions, and the part of the compiler's library for them is linked into it "
                             "(-static-libgcc), which raised programs cannot yet");
    if (!r->foreign && !r->unwinds && elf_has_landings(r->elf) && elf_imports(r->elf, "_Unwind_Resume"))
        return raise_fail(r, "it has exceptions of another language than C++, which raised programs cannot yet");
    if (!r->foreign && !r->unwinds && elf_has_catches(r->elf))
        return raise_fail(
            r, "it has C++ exceptions, or the like, whose library is part of it, which raised programs cannot yet");
    return true;
}

static bool has_library(const ElfFile *elf, const char *name) {
    const char *needed;
    for (size_t i = 0; (needed = elf_dynamic_text(elf, DT_NEEDED, i)); i++)
        if (!strcmp(needed, name))
            return true;
    return false;
}

bool raise_is_library(const ElfFile *elf) {
    return elf_extent(elf).position_independent && !elf_interpreter(elf) &&
           !(elf_dynamic_number(elf, DT_FLAGS_1) & DF_1_PIE);
}

static bool check_object(Raise *r) {
    if (elf_has_landings(r->elf))
        return raise_fail(r, "it has C++ exceptions, or the like, which raised object files cannot yet");
    if (!r->foreign && elf_program_header(r->elf, PT_TLS).p_type == PT_TLS)
        return raise_fail(r, "it has thread-local variables, which raised object files cannot yet");
    return true;
}

/* The new code must reach it with 32 bits. */
enum { IMAGE_MAX_BYTES = 1 << 30, THREAD_ALIGN_MAX = 65536 };

static bool check_thread(Raise *r) {
    Elf64_Phdr p = elf_program_header(r->elf, PT_TLS);
    return (p.p_filesz <= p.p_memsz && p.p_memsz <= IMAGE_MAX_BYTES && p.p_align <= THREAD_ALIGN_MAX &&
            !(p.p_align & (p.p_align - 1))) ||
           raise_fail(r, "its thread-local variables are too large, or broken");
}

static bool check(Raise *r) {
    if (!r->isa)
        return raise_fail(r, "it is for a machine whose programs cannot be raised");
    if (r->foreign ? !r->host->foreign : !r->host->raise)
        return raise_fail(r, "programs of its machine cannot be raised for %s", r->host->name);
    if (r->extent.end - r->extent.start > IMAGE_MAX_BYTES)
        return raise_fail(r, "its image is too large");
    if (!check_thread(r))
        return false;
    if (r->is_object)
        return check_object(r) && check_imports(r);
    if (r->is_library && !r->foreign && !has_library(r->elf, "libc.so.6"))
        return raise_fail(r, "it is a library that does not use the GNU C library");
    if (!elf_entry(r->elf) && !r->is_library)
        return raise_fail(r, "it has no entry");
    if (r->is_static && r->foreign)
        return raise_fail(r, "it is statically linked, and such programs can be raised for their own machine only");
    return check_imports(r);
}

bool raise_is_foreign(const ElfFile *elf, const Host *host) {
    return isa_find(elf_arch(elf)) != isa_of_host() || host != host_own();
}

const char *raise_library_at(const Raise *r, u64 address, u64 *own) {
    for (size_t i = 1; r->parts && i < r->parts->len; i++) {
        const ElfPart *p = &r->parts->at[i];
        ElfExtent extent = elf_extent(p->elf);
        if (!p->outside && address >= p->shift + extent.start && address < p->shift + extent.end) {
            *own = address - p->shift;
            return p->name;
        }
    }
    return NULL;
}

bool raise_begin(Raise *r, ElfFile *elf, const Host *host, bool is_object) {
    *r = (Raise){.elf = elf,
                 .extent = elf_extent(elf),
                 .isa = isa_find(elf_arch(elf)),
                 .host = host ? host : host_own(),
                 .is_object = is_object};
    r->foreign = raise_is_foreign(elf, r->host);
    r->is_library = is_object ? !r->foreign : raise_is_library(elf);
    r->is_static = !is_object && !r->is_library && !elf_interpreter(elf);
    r->unwinds = elf_has_landings(elf) && elf_imports(elf, RAISE_PERSONALITY);
    r->ctx = LLVMContextCreate();
    r->mod = LLVMModuleCreateWithNameInContext("raised", r->ctx);
    return check(r);
}

void raise_end(Raise *r) {
    raise_tool_end(r);
    for (size_t i = 0; i < r->functions.len; i++) {
        RaiseFunction *f = &r->functions.at[i];
        for (size_t b = 0; b < f->blocks.len; b++)
            VEC_FREE(&f->blocks.at[b].next);
        VEC_FREE(&f->blocks);
        VEC_FREE(&f->events);
    }
    VEC_FREE(&r->functions);
    VEC_FREE(&r->labels);
    VEC_FREE(&r->loose);
    VEC_FREE(&r->offered);
    VEC_FREE(&r->variables);
    VEC_FREE(&r->declared);
    VEC_FREE(&r->jump_places);
    VEC_FREE(&r->code);
    VEC_FREE(&r->stays);
    VEC_FREE(&r->callable);
    VEC_FREE(&r->reg_at);
    VEC_FREE(&r->jumps);
    VEC_FREE(&r->notes);
    VEC_FREE(&r->stub_names);
    map64_free(&r->by_pc);
    map64_free(&r->claimed);
    map64_free(&r->table_words);
    map64_free(&r->table_entries);
    map64_free(&r->never_return);
    map64_free(&r->left);
    map64_free(&r->decoded);
    map64_free(&r->stubs);
    map64_free(&r->types);
    arena_free(&r->arena);
    LLVMDisposeModule(r->mod);
    LLVMContextDispose(r->ctx);
    elf_close(r->elf);
}
