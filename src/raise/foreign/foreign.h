/* foreign.h: programs raised for another machine than they were made for.
 *
 *     imports.c     calls of libraries become calls of the host's, by prototype
 *     stub.c        such a call, in the lifted form of functions
 *     entries.c     where native code enters functions, main and constructors
 *     image.c       the program's data, with its relocations, as a variable of the module
 *     virtual.c     which of them the C++ library calls for a result in memory
 *     chosen.c      functions that are chosen by the processor
 *     threads.c     thread-local variables of other files
 *     symbols.c     addresses of functions and of other files' variables are the host's
 *     fences.c      the order of memory accesses that the program's machine has
 *     link.c        the host's C compiler links it
 *     object.c      object files, for the own machine, too
 *     debug.c       prototypes of their functions, and of those that they call, from debug information
 *
 * docs/raise-targets.md has the design. What the program calls at run time is in src/raise/runtime. */
#ifndef RAISE_FOREIGN_FOREIGN_H
#define RAISE_FOREIGN_FOREIGN_H

#include "raise/foreign/special.h"
#include "raise/raise.h"

/* Pages of all machines are as large, or smaller. An image that has to stay where it is ends below FOREIGN_FIXED_END. */
enum { FOREIGN_PAGE = 65536, FOREIGN_FIXED_END = 1 << 30 };

/* The section that the image is in. */
#define FOREIGN_SECTION ".lathe_image"

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
bool foreign_is_weak(const Foreign *f, const char *name);

/* stub.c: fills `fn`, a lifted function without a body, with a call of the imported function. False with r->problem set: it cannot be called. */
bool foreign_build_stub(Foreign *f, LLVMValueRef fn, const char *name, u64 pc);
/* By headers, the C++ library's names or debug information; NULL: nobody knows it. */
const Prototype *foreign_prototype(const Foreign *f, const char *name);
/* Does it return a class in memory, whose address the guest has in a register of its own, and the host has not? */
bool foreign_gives_memory(const Foreign *f, const char *name);
/* Would a call of the host's function as it is be another one than the program means? */
bool foreign_needs_stub(const Foreign *f, const char *name);

/* image.c: how code finds thread-local variables of the module's own. */
LLVMThreadLocalMode foreign_thread_mode(const Raise *r);

/* foreign.c: a function that the new program calls before all constructors, those of lower numbers first; at its beginning. */
enum { RAN_THREAD_WORDS = 101, RAN_CHOICES = 102 };
LLVMBuilderRef foreign_start_function(Raise *r, const char *name, u32 number);

/* chosen.c: does the dynamic linker write there what a function of the program chooses? */
bool foreign_is_chosen(const Foreign *f, const ElfRelocation *row);
/* Has such words written when the program begins. */
bool foreign_add_chosen(Foreign *f);

/* symbols.c: adds the variables that the dynamic linker would copy into the image. */
void foreign_find_copies(Foreign *f);
/* What the address in the image is in the module. */
LLVMValueRef foreign_symbol(Foreign *f, u64 address);
/* Is it the address of something that is not where it was in the image? */
bool foreign_is_moved(Foreign *f, u64 address);
LLVMValueRef foreign_entry(Foreign *f, const RaiseFunction *function);
LLVMValueRef foreign_external(Foreign *f, const char *name, bool weak);
LLVMValueRef foreign_offset(const Raise *r, LLVMValueRef base, i64 off);
void foreign_replace_addresses(Foreign *f);
void foreign_name_types(Foreign *f);

/* threads.c: a function that returns the place of another file's thread-local variable in the thread. */
LLVMValueRef foreign_thread_finder(Foreign *f, const char *name);
/* Has the distances of such variables from the thread pointer, which is `offset` behind the program's own ones, computed when the program begins. */
void foreign_add_thread_words(Foreign *f, u64 offset);

/* virtual.c: marks functions that the C++ library calls for a result in memory. */
void foreign_mark_virtual(Foreign *f);

/* entries.c, image.c, fences.c */
bool foreign_find_main(Foreign *f);
bool foreign_add_entries(Foreign *f);
/* Constructors and destructors. */
bool foreign_add_lists(Foreign *f);
bool foreign_add_image(Foreign *f);
void foreign_add_fences(Raise *r);

/* link.c: writes the program. `files` are objects to link with, ended by NULL. */
bool foreign_link(Raise *r, RaiseObject object, const char *const *files, const char *output);
bool foreign_link_with(Raise *r, RaiseObject object, const char *const *options, const char *const *files,
                       const char *output);
/* Runs a program, with its arguments up to NULL, and returns its status, -1 if it cannot be started; what it says is in `message`. */
enum { LINK_MESSAGE_BYTES = 4096 };
int foreign_run(const char *const *words, char *message);

/* debug.c: adds the prototypes that the debug information of the file has to r->declared; none if it has no such information. */
void foreign_read_prototypes(Raise *r, const char *file);
/* Marks functions of the object that give a result in memory. */
void foreign_mark_declared(Raise *r);
const Prototype *foreign_declared(const Raise *r, const char *name); /* NULL: none */

/* object.c: an object file as the linker of its machine has laid it out, or a shared library for another machine. */
typedef struct ObjectLayout {
    char dir[32];      /* a temporary folder */
    const char *image; /* the program in it, or the library */
    bool is_library;
    LatheArch arch;
    ElfObjectSymbols symbols;
    Arena arena;
    char problem[LINK_MESSAGE_BYTES + 128];
} ObjectLayout;

/* False with o->problem set: it cannot be done. object_end() in any case. */
bool object_lay_out(ObjectLayout *o, const char *file);
bool object_of_library(ObjectLayout *o, const char *file);
void object_end(ObjectLayout *o);
/* Between raise_begin and raise_discover. */
void object_begin(Raise *r, const ObjectLayout *o);
/* After foreign_finish, or raise_add_native for the own machine: the symbols that the object defines. */
bool object_finish(Foreign *f, const ObjectLayout *o);
/* Writes the object. */
bool object_link(Raise *r, const ObjectLayout *o, RaiseObject object, const char *const *files, const char *output);

#endif
