/* chosen.c: functions that the program chooses when it begins, by the processor (STT_GNU_IFUNC).
 *
 * Such a function has a resolver, which returns the address of the one that is to be called. The dynamic linker writes that into words of the image; here the new program does so itself, before any
 * constructor. The processor that resolvers ask for with cpuid is the one that lifted code has. */
#include <llvm-c/Core.h>

#include "raise/foreign/foreign.h"

bool foreign_is_chosen(const Foreign *f, const ElfRelocation *row) {
    return f->r->isa->relocation_kind(row->type) == RELOCATION_CHOSEN || row->chosen;
}

static u64 resolver(const ElfRelocation *row) {
    return row->chosen ? row->value : (u64)row->addend;
}

/* A word where another address is added has no meaning. */
static bool check(Foreign *f, const ElfRelocation *row) {
    const RaiseFunction *function = raise_function_at(f->r, resolver(row));
    return (function && function->native && function->raised && !(row->chosen && row->addend)) ||
           raise_fail(f->r, "0x%lx: what chooses a function (STT_GNU_IFUNC) was not found", resolver(row));
}

static void choose(Foreign *f, LLVMBuilderRef b, const ElfRelocation *row) {
    Raise *r = f->r;
    LLVMTypeRef type = LLVMFunctionType(LLVMInt64TypeInContext(r->ctx), NULL, 0, false);
    LLVMValueRef entry = foreign_entry(f, raise_function_at(r, resolver(row)));
    LLVMBuildStore(b, LLVMBuildCall2(b, type, entry, NULL, 0, ""),
                   foreign_offset(r, raise_image(r), (i64)(row->at - r->extent.start)));
}

bool foreign_add_chosen(Foreign *f) {
    LLVMBuilderRef b = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < f->relocations.len; i++) {
        const ElfRelocation *row = &f->relocations.at[i];
        if (!foreign_is_chosen(f, row))
            continue;
        b = b ? b : foreign_start_function(f->r, RAISE_PREFIX "choose", RAN_CHOICES);
        ok = check(f, row);
        if (ok)
            choose(f, b, row);
    }
    if (b) {
        LLVMBuildRetVoid(b);
        LLVMDisposeBuilder(b);
    }
    return ok;
}
