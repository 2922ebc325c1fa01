/* foreign.c: the steps of raising a program for another machine, and which programs are taken. */
#include "raise/foreign/foreign.h"

#include <elf.h>

static bool check(Foreign *f) {
    Raise *r = f->r;
    f->host = prototype_host(r->host->name);
    f->guest = prototype_host(isa_name(r->isa->arch));
    if (f->host < 0 || f->guest < 0)
        return raise_fail(r, "lathe was built without the C headers of %s",
                          f->host < 0 ? r->host->name : isa_name(r->isa->arch));
    if (!r->extent.position_independent)
        return raise_fail(r,
                          "it is not position-independent, and only such programs can be raised for another machine");
    if (elf_dynamic_number(r->elf, DT_RELR))
        return raise_fail(r, "it has packed relocations, which cannot be raised for another machine yet");
    return true;
}

/* Libraries call the program's function instead of their own if it has one of that name, which the new program does not offer them. */
static bool check_exports(Raise *r) {
    ElfPointers exported = {0};
    bool ok = true;
    elf_exported_functions(r->elf, &exported);
    for (size_t i = 0; ok && i < exported.len; i++) {
        ElfFunction function = elf_function_at(r->elf, exported.at[i].to);
        if (function.name && prototype_find(function.name) && !special_find(SPECIAL_COPIED, function.name))
            ok =
                raise_fail(r, "0x%lx: it has a %s of its own, which libraries call, too", function.addr, function.name);
    }
    VEC_FREE(&exported);
    return ok;
}

bool foreign_begin(Foreign *f, Raise *r) {
    *f = (Foreign){.r = r};
    if (!check(f) || !check_exports(r))
        return false;
    elf_relocations(r->elf, &f->relocations);
    return foreign_find_main(f) && foreign_add_imports(f);
}

bool foreign_finish(Foreign *f) {
    if (!foreign_add_entries(f))
        return false;
    foreign_replace_addresses(f);
    foreign_add_fences(f->r);
    return foreign_add_image(f);
}

void foreign_end(Foreign *f) {
    VEC_FREE(&f->relocations);
}
