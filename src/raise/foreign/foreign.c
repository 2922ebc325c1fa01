/* foreign.c: the steps of raising a program for another machine, and which programs are taken. */
#include "raise/foreign/foreign.h"

#include <elf.h>
#include <llvm-c/Core.h>

/* The image of a program that is not position-independent stays where it is, and the new code comes behind it. */
static bool check_place(Raise *r) {
    return (r->extent.start >= 2 * FOREIGN_PAGE && r->extent.start % FOREIGN_PAGE == 0 &&
            r->extent.end <= FOREIGN_FIXED_END) ||
           raise_fail(r, "it is not position-independent, and another machine may have no room for it at 0x%lx",
                      r->extent.start);
}

static bool check(Foreign *f) {
    Raise *r = f->r;
    f->host = prototype_host(r->host->name);
    f->guest = prototype_host(isa_name(r->isa->arch));
    if (f->host < 0 || f->guest < 0)
        return raise_fail(r, "lathe was built without the C headers of %s",
                          f->host < 0 ? r->host->name : isa_name(r->isa->arch));
    return r->extent.position_independent || check_place(r);
}

/* Functions of the C library that it calls by their names itself: it calls the program's function instead if there is one of that name. */
static bool is_replaceable(const char *name) {
    static const char *const names[] = {"malloc",      "calloc",        "realloc",        "free",  "memalign",
                                        "valloc",      "aligned_alloc", "posix_memalign", "cfree", "malloc_usable_size",
                                        "reallocarray"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* The new program does not offer its functions to libraries. */
static bool check_exports(Raise *r) {
    ElfPointers exported = {0};
    bool ok = true;
    elf_exported_functions(r->elf, &exported);
    for (size_t i = 0; ok && i < exported.len; i++) {
        ElfFunction function = elf_function_at(r->elf, exported.at[i].to);
        if (function.name && is_replaceable(function.name))
            ok =
                raise_fail(r, "0x%lx: it has a %s of its own, which libraries call, too", function.addr, function.name);
    }
    VEC_FREE(&exported);
    return ok;
}

LLVMBuilderRef foreign_start_function(Raise *r, const char *name, u32 number) {
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(r->ctx), NULL, 0, false);
    LLVMValueRef fn = LLVMAddFunction(r->mod, name, type);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->ctx);
    const char *list = arena_printf(
        &r->arena, "\t.section .init_array.%05u, \"aw\"\n\t.p2align 3\n\t.8byte %s\n\t.text\n", number, name);
    LLVMSetVisibility(fn, LLVMHiddenVisibility);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, raise_attribute(r, "nounwind", 0));
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(r->ctx, fn, ""));
    LLVMAppendModuleInlineAsm(r->mod, list, strlen(list));
    return b;
}

/* They have a lock of the C library in them: src/raise/runtime/files.cpp. */
static bool has_other_files(const Foreign *f) {
    static const char *const classes[] = {"13basic_filebuf", "14basic_ifstream", "14basic_ofstream", "13basic_fstream"};
    const Prototype *lock = prototype_find("pthread_mutex_lock");
    bool differs = lock && (lock->differs[f->host] || lock->differs[f->guest]);
    for (size_t i = 0; differs && i < f->relocations.len; i++)
        for (size_t k = 0; f->relocations.at[i].imported && k < ARRAY_LEN(classes); k++)
            if (strstr(f->relocations.at[i].symbol, classes[k]))
                return true;
    return false;
}

bool foreign_begin(Foreign *f, Raise *r) {
    *f = (Foreign){.r = r};
    if (!check(f) || (!r->is_object && !check_exports(r)))
        return false;
    elf_relocations(r->elf, &f->relocations);
    foreign_find_copies(f);
    r->own_files = has_other_files(f);
    return (r->is_object || r->is_library || foreign_find_main(f)) && foreign_add_imports(f);
}

bool foreign_finish(Foreign *f) {
    if (!foreign_add_entries(f))
        return false;
    foreign_replace_addresses(f);
    foreign_name_types(f);
    foreign_add_fences(f->r);
    return foreign_add_chosen(f) && foreign_add_image(f);
}

void foreign_end(Foreign *f) {
    VEC_FREE(&f->relocations);
}
