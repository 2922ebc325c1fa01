/* threads.c: thread-local variables of other files.
 *
 * Code asks __tls_get_addr() for the place of one, with two words that the dynamic linker would have filled: here the first is a function that returns it. Or it adds a word to
 * the thread pointer: for that, all threads have such a variable at the same distance from the program's own ones, which is computed before anything else is run. */
#include <llvm-c/Core.h>

#include "raise/foreign/foreign.h"

static LLVMValueRef variable(Foreign *f, const char *name) {
    LLVMValueRef v = foreign_external(f, name, false);
    LLVMSetThreadLocal(v, true);
    return v;
}

static LLVMValueRef place_of(Raise *r, LLVMBuilderRef b, LLVMValueRef v) {
    static const char name[] = "llvm.threadlocal.address";
    LLVMTypeRef ptr = LLVMPointerTypeInContext(r->ctx, 0);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(r->mod, LLVMLookupIntrinsicID(name, strlen(name)), &ptr, 1);
    return LLVMBuildCall2(b, LLVMFunctionType(ptr, &ptr, 1, false), fn, &v, 1, "");
}

static LLVMBuilderRef begin(Raise *r, LLVMValueRef fn) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->ctx);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, raise_attribute(r, "nounwind", 0));
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(r->ctx, fn, ""));
    return b;
}

LLVMValueRef foreign_thread_finder(Foreign *f, const char *name) {
    Raise *r = f->r;
    const char *own = arena_printf(&r->arena, RAISE_PREFIX "find_%s", name);
    LLVMValueRef fn = LLVMGetNamedFunction(r->mod, own);
    if (fn)
        return fn;
    fn = LLVMAddFunction(r->mod, own, LLVMFunctionType(LLVMPointerTypeInContext(r->ctx, 0), NULL, 0, false));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMBuilderRef b = begin(r, fn);
    LLVMBuildRet(b, place_of(r, b, variable(f, name)));
    LLVMDisposeBuilder(b);
    return fn;
}

/* Where the thread pointer is that the program's code adds the word to. */
static LLVMValueRef thread_pointer(Foreign *f, LLVMBuilderRef b, u64 offset) {
    Raise *r = f->r;
    LLVMTypeRef word = LLVMInt64TypeInContext(r->ctx);
    LLVMValueRef own =
        LLVMBuildPtrToInt(b, place_of(r, b, LLVMGetNamedGlobal(r->mod, RAISE_PREFIX "thread")), word, "");
    return LLVMBuildAdd(b, own, LLVMConstInt(word, offset, false), "");
}

static void set_word(Foreign *f, LLVMBuilderRef b, LLVMValueRef thread, const ElfRelocation *row) {
    Raise *r = f->r;
    LLVMTypeRef word = LLVMInt64TypeInContext(r->ctx);
    LLVMValueRef place = LLVMBuildPtrToInt(b, place_of(r, b, variable(f, row->symbol)), word, "");
    LLVMValueRef distance = LLVMBuildSub(b, place, thread, "");
    distance = LLVMBuildAdd(b, distance, LLVMConstInt(word, (u64)row->addend, true), "");
    LLVMBuildStore(b, distance, foreign_offset(r, raise_image(r), (i64)(row->at - r->extent.start)));
}

static bool is_distance(const Foreign *f, const ElfRelocation *row) {
    return row->imported && f->r->isa->relocation_kind(row->type) == RELOCATION_THREAD;
}

void foreign_add_thread_words(Foreign *f, u64 offset) {
    Raise *r = f->r;
    bool any = false;
    for (size_t i = 0; i < f->relocations.len; i++)
        any |= is_distance(f, &f->relocations.at[i]);
    if (!any)
        return;
    LLVMBuilderRef b = foreign_start_function(r, RAISE_PREFIX "thread_words", RAN_THREAD_WORDS);
    LLVMValueRef thread = thread_pointer(f, b, offset);
    for (size_t i = 0; i < f->relocations.len; i++)
        if (is_distance(f, &f->relocations.at[i]))
            set_word(f, b, thread, &f->relocations.at[i]);
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
}
