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

/* Does it look at what it is told of the processor? That would be the other machine's. */
static bool is_told(const Raise *r, const RaiseFunction *chooser) {
    const CallAbi *abi = &r->isa->abi;
    return abi->choosers_are_told &&
           (regset_has(&chooser->taken, abi->int_args[0]) || regset_has(&chooser->taken, abi->int_args[1]));
}

/* A word where another address is added has no meaning. */
static bool check(Foreign *f, const ElfRelocation *row) {
    const RaiseFunction *function = raise_function_at(f->r, resolver(row));
    if (!function || !function->native || !function->raised || (row->chosen && row->addend))
        return raise_fail(f->r, "0x%lx: what chooses a function (STT_GNU_IFUNC) was not found", resolver(row));
    return !is_told(f->r, function) ||
           raise_fail(f->r, "0x%lx: what chooses a function (STT_GNU_IFUNC) looks at what the processor can do",
                      function->pc);
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
