/* foreign.h: programs raised for another machine than they were made for.
 *
 *     imports.c     calls of libraries become calls of the host's, by prototype
 *     stub.c        such a call, in the lifted form of functions
 *     entries.c     where native code enters functions, main and constructors
 *     image.c       the program's data, with its relocations, as a variable of the module
 *     symbols.c     addresses of functions and of other files' variables are the host's
 *     fences.c      the order of memory accesses that the program's machine has
 *     link.c        the host's C compiler links it
 *
 * docs/raise-targets.md has the design. What the program calls at run time is in src/raise/runtime. */
#ifndef RAISE_FOREIGN_FOREIGN_H
#define RAISE_FOREIGN_FOREIGN_H

#include "raise/foreign/special.h"
#include "raise/raise.h"

typedef struct Foreign {
    Raise *r;
    int host, guest; /* indices in Prototype.differs */
    ElfRelocations relocations;
    u64 main; /* the function's address */
} Foreign;

/* Between raise_discover and raise_effects. False with r->problem set if something cannot be done. */
bool foreign_begin(Foreign *f, Raise *r);
/* Between raise_promote and optimisation. */
bool foreign_finish(Foreign *f);
void foreign_end(Foreign *f);

/* imports.c */
bool foreign_add_imports(Foreign *f);

/* stub.c: fills `fn`, a lifted function without a body, with a call of the imported function. False with r->problem set: it cannot be called. */
bool foreign_build_stub(Foreign *f, LLVMValueRef fn, const char *name, u64 pc);
/* Would a call of the host's function as it is be another one than the program means? */
bool foreign_needs_stub(const Foreign *f, const char *name);

/* symbols.c: what the address in the image is in the module. */
LLVMValueRef foreign_symbol(Foreign *f, u64 address);
LLVMValueRef foreign_entry(Foreign *f, const RaiseFunction *function);
LLVMValueRef foreign_external(Foreign *f, const char *name, bool weak);
LLVMValueRef foreign_offset(const Raise *r, LLVMValueRef base, i64 off);
void foreign_replace_addresses(Foreign *f);

/* entries.c, image.c, fences.c */
bool foreign_find_main(Foreign *f);
bool foreign_add_entries(Foreign *f);
bool foreign_add_image(Foreign *f);
void foreign_add_fences(Raise *r);

/* link.c: writes the program. `files` are objects to link with, ended by NULL. */
bool foreign_link(Raise *r, RaiseObject object, const char *const *files, const char *output);

#endif
