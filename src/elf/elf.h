/* elf.h: an ELF file as guest memory and as a list of functions.
 *
 * The file is seen as the loader would map it at load bias 0: addresses are those of the file's own headers.
 * Executables (static, position-independent) and shared libraries of our guests are read; their segments and functions are
 * known after elf_open, which refuses files that are broken. An ElfFile does not change after that, so threads may
 * share it.
 */
#ifndef ELF_ELF_H
#define ELF_ELF_H

#include <elf.h>

#include "base/base.h"
#include "lathe/lift.h"

typedef struct ElfFile ElfFile;

typedef struct ElfError {
    LatheStatus status; /* LATHE_ERR_ARCH for another machine, LATHE_ERR_ARGUMENT for everything else */
    char text[320];     /* what is wrong, without the name of the file */
} ElfError;

/* NULL on failure, with *error filled. elf_close(NULL) is allowed. */
ElfFile *elf_open(const char *path, ElfError *error);
/* The same for a file in memory, of which it keeps a copy. */
ElfFile *elf_open_bytes(const u8 *bytes, size_t size, ElfError *error);
void elf_close(ElfFile *elf);

/* The file as it is. */
const u8 *elf_bytes(const ElfFile *elf, size_t *size);

LatheArch elf_arch(const ElfFile *elf);
u64 elf_entry(const ElfFile *elf); /* 0: none, as in most libraries */

/* The path of its program interpreter, the dynamic linker; NULL: none. */
const char *elf_interpreter(const ElfFile *elf);

/* The first program header of that type; one of type PT_NULL: none. */
Elf64_Phdr elf_program_header(const ElfFile *elf, u32 type);

typedef struct ElfExtent {
    u64 start, end; /* of all segments */
    u64 align;      /* the largest of theirs */
    bool position_independent;
} ElfExtent;
ElfExtent elf_extent(const ElfFile *elf);
bool elf_is_code(const ElfFile *elf, u64 addr);
/* Is it in a section of code? False if the file has no section headers. */
bool elf_is_code_section(const ElfFile *elf, u64 addr);

/* A page as it is mapped before relocation, with what the file has around a segment's contents; false: nothing is
 * mapped there. `page` is a multiple of ELF_PAGE. */
enum { ELF_PAGE = 4096 };
bool elf_read_page(const ElfFile *elf, u64 page, u8 *bytes, bool *writable);

/* dynamic.c: the nth text of the dynamic segment with that tag, DT_NEEDED, DT_RUNPATH or the like; NULL: there are no
 * more. */
const char *elf_dynamic_text(const ElfFile *elf, i64 tag, size_t nth);

u64 elf_dynamic_number(const ElfFile *elf, i64 tag); /* the first number with that tag; 0: none */

/* Does it use another file's function, or variable, of that name? */
bool elf_imports(const ElfFile *elf, const char *name);

/* How many dynamic symbols there are, and the number of another file's that this one uses; false: it does not. */
u32 elf_dynamic_symbols(const ElfFile *elf);
bool elf_import_number(const ElfFile *elf, const char *name, u32 *number);

/* The symbol that the dynamic linker looks up for the word at addr; NULL: none, or one of the file's own. */
const char *elf_imported_at(const ElfFile *elf, u64 addr);

/* Is there a word at addr whose contents only the dynamic linker knows? */
bool elf_is_filled(const ElfFile *elf, u64 addr);

/* Another file's symbol, or an address in the image; neither: nothing, or any type that is caught. */
typedef struct ElfReference {
    const char *symbol;
    u64 addr;
} ElfReference;

/* What the pointer at `addr` leads to when the dynamic linker has done its work; false: there is none. */
bool elf_pointer_at(const ElfFile *elf, u64 addr, ElfReference *to);

/* A dynamic relocation. */
typedef struct ElfRelocation {
    u64 at;
    u32 type;
    i64 addend;
    const char *symbol; /* NULL: none */
    u64 value, size;    /* of the symbol */
    bool imported;      /* is the symbol another file's? */
    bool weak, function;
    bool chosen; /* is it a function of the file that chooses another one (STT_GNU_IFUNC)? */
    bool of_plt; /* is it of the table for calls, DT_JMPREL? */
} ElfRelocation;
typedef VEC(ElfRelocation) ElfRelocations;

/* dynamic.c: all that the dynamic linker writes, packed ones (DT_RELR) first. */
void elf_relocations(const ElfFile *elf, ElfRelocations *found);

/* A word of the image that leads to code. */
typedef struct ElfPointer {
    u64 at; /* the word's address; 0: it is in the headers, or an instruction */
    u64 to;
} ElfPointer;
typedef VEC(ElfPointer) ElfPointers;

/* pointers.c: all words in segments without code that are the address of some place in the image, as numbers or pointers. */
void elf_image_words(const ElfFile *elf, ElfPointers *found);

/* pointers.c: where the image starts and ends, and pointers in its data. Some may be numbers that only look like
 * addresses. */
void elf_code_pointers(const ElfFile *elf, ElfPointers *found);

/* dynamic.c: the functions that the file offers to others. Where it takes the address of another file's function without asking the dynamic linker, that is a stub of its own, which then
 * is the function's address for everybody. */
void elf_exported_functions(const ElfFile *elf, ElfPointers *found);

/* tables.c: where computed jumps may lead: entries of what seem to be jump tables, and places that functions compute
 * in themselves. */
void elf_table_entries(const ElfFile *elf, ElfPointers *found);

/* Reads up to `size` bytes of the image as it is after relocation, zeros where memory has no file contents; returns how
 * many (0: unmapped). `elf` is an ElfFile: both functions are a LatheReadMemory. */
size_t elf_read(void *elf, u64 addr, void *buf, size_t size);

/* The same for what cannot change while the guest runs: memory that is read-only, read-only after relocation, or
 * executable. Stops before a word that only the dynamic linker knows, such as the address of another library's
 * function. */
size_t elf_read_const(void *elf, u64 addr, void *buf, size_t size);

/* ---------------------------------------------------------------------------------------------------------- joining */

/* A program or one of its libraries. */
typedef struct ElfPart {
    ElfFile *elf;
    const char *name; /* as others need it */
    bool outside;     /* does it stay a library? */
    u64 shift;        /* how far it is moved */
} ElfPart;
typedef VEC(ElfPart) ElfParts;

/* join.c: one program made of a program, which comes first, and its libraries, which are in the order in which the dynamic linker searches them for symbols. The program
 * stays where it is, and the others come behind it. The new one needs only what is outside. NULL with *error filled: it cannot be done. */
ElfFile *elf_join(ElfParts *parts, ElfError *error);

/* ------------------------------------------------------------------------------------------------------- exceptions */

/* What becomes of an exception that comes out of a call. */
typedef enum ElfLandingKind {
    ELF_LANDING_NONE, /* it goes on to the function's caller */
    ELF_LANDING_PAD,  /* control goes on in the function, at its landing pad */
    ELF_LANDING_UNLISTED, /* that is for the personality to say: with C++'s, the program ends, because the function has promised not to throw */
} ElfLandingKind;

/* A clause catches one type, or with `filter` all but the listed types. `selector` is the number by which the landing pad knows it. */
typedef struct ElfClause {
    i64 selector;
    bool filter;
    u32 first, count; /* in ElfLanding.types */
} ElfClause;

typedef struct ElfLanding {
    u64 pad;
    u64 popped_bytes; /* the stack pointer at the pad is that much above what it is behind the call */
    ElfReference personality;
    bool cleanup;           /* control goes there also if no clause catches the exception, with 0 for the selector */
    VEC(ElfClause) clauses; /* the first that fits counts */
    VEC(ElfReference) types;
} ElfLanding;

/* landing.c: what becomes of exceptions of the call that ends at `end`; elf_landing_free(l) whatever it is. False: the tables make no sense. */
bool elf_landing(const ElfFile *elf, u64 end, ElfLandingKind *kind, ElfLanding *l);
void elf_landing_free(ElfLanding *l);

/* Has any function landing pads? */
bool elf_has_landings(const ElfFile *elf);
/* Does any function catch exceptions of some types? C has landing pads, too, that do not: for threads that are cancelled. */
bool elf_has_catches(const ElfFile *elf);

/* ------------------------------------------------------------------------------------------------------- functions */

typedef struct ElfFunction {
    u64 addr, size;   /* size 0: unknown */
    const char *name; /* NULL: none; lives as long as the ElfFile */
} ElfFunction;

/* The functions that symbols and unwind tables tell of, one per address, by rising address; owned by elf. Where several
 * symbols name one address, a global one is preferred. */
size_t elf_functions(const ElfFile *elf, const ElfFunction **functions);

/* The function, of known size, that addr is inside of and not at the beginning; NULL: none. */
const ElfFunction *elf_function_around(const ElfFile *elf, u64 addr);

/* The function that begins at addr; one without name and size if none is known. */
ElfFunction elf_function_at(const ElfFile *elf, u64 addr);

/* The function called `text` (any of its names, with or without symbol version), or the code at `text` if that is an
 * address in the form 0x1f00. False: there is none, or no executable code is there. */
bool elf_lookup(const ElfFile *elf, const char *text, ElfFunction *function);

/* ---------------------------------------------------------------------------------------------------- object files */

/* A global symbol of an object file or a library. */
typedef struct ElfObjectSymbol {
    const char *name;
    bool defined, absolute, weak, function, thread, chosen; /* chosen: its value is what chooses the function */
    u64 value;                                              /* in a library, its address */
    u64 size;
    i64 low, high; /* if it is not defined: the lowest and highest addend of relocations that name it, and 0 */
} ElfObjectSymbol;
typedef VEC(ElfObjectSymbol) ElfObjectSymbols;

/* object.c: is it an object file (`.o`)? elf_open does not take those. */
bool elf_is_object(const char *path);
/* Its global symbols; names live as long as the arena. False with *error filled: it cannot be read. */
bool elf_object_symbols(const char *path, Arena *arena, ElfObjectSymbols *found, LatheArch *arch, ElfError *error);
/* The same of a shared library: what it offers to others, in the version that they are linked with. */
bool elf_library_symbols(const char *path, Arena *arena, ElfObjectSymbols *found, LatheArch *arch, ElfError *error);
/* The address of a symbol of any kind in a linked file; false: it has none of that name. */
bool elf_symbol_value(const ElfFile *elf, const char *name, u64 *value);

#endif
