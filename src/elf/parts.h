/* parts.h: what the files of src/elf share: the opened file and how its parts are filled in. */
#ifndef ELF_PARTS_H
#define ELF_PARTS_H

#include <libelf.h>

#include "elf/elf.h"
#include "isa/isa.h"

typedef struct Segment {
    u64 start, end;  /* guest addresses */
    const u8 *bytes; /* file contents, for the first `byte_count` bytes; zeros after them */
    u64 byte_count;
    bool writable, executable;
} Segment;

/* An eight-byte cell that the dynamic linker writes: with `value` at load bias 0, or with what the file does not tell.
 */
typedef struct Cell {
    u64 addr, value;
    bool known;
} Cell;

/* A name of a function; better names of one address come first. */
typedef struct Symbol {
    u64 addr, size;
    const char *name; /* NULL: from the unwind table */
    u8 rank;          /* smaller is better */
} Symbol;

/* What the unwind table says of a contiguous piece of code. */
typedef struct ElfUnwind {
    u64 addr, size;
    u64 table;       /* the address of its table of landing pads; 0: none */
    u64 personality; /* the function that reads that table; with `indirect`, where a pointer to it is; 0: none */
    bool indirect;
    u64 code_align;
    const u8 *insns; /* the unwind table's own instructions */
    size_t insn_bytes;
} ElfUnwind;

struct ElfFile {
    Elf *libelf;
    const Isa *isa;
    u8 *map;
    size_t map_size;
    u64 entry;
    bool position_independent;
    u64 align;                  /* the largest of its segments */
    const char *interpreter;    /* NULL: none */
    VEC(Segment) segments;      /* by address, disjoint */
    VEC(LatheRange) relro;      /* read-only after relocation; a joined file has several */
    VEC(u64) eh_frame_hdrs;     /* likewise */
    u64 dynamic, dynamic_size;  /* the PT_DYNAMIC segment; 0: none */
    VEC(Cell) cells;            /* by address */
    VEC(Symbol) symbols;        /* by address, then rank */
    VEC(ElfFunction) functions; /* by address */
    VEC(ElfUnwind) unwind;      /* by address */
};

/* The file contents behind guest memory [addr, addr + size), NULL if not all of it is in the file. */
const u8 *elf_contents(const ElfFile *elf, u64 addr, u64 size);
/* The segment that holds addr, or NULL. */
const Segment *elf_segment(const ElfFile *elf, u64 addr);
bool elf_fail(ElfError *error, LatheStatus status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* dynamic.c: the nth value of a tag. */
u64 elf_dynamic_value(const ElfFile *elf, i64 tag, size_t nth, u64 missing);
/* dynamic.c: the dynamic symbol of that number; false: it is not in the image. */
bool elf_dynamic_symbol(const ElfFile *elf, u64 number, Elf64_Sym *symbol, const char **name);

/* relocation.c: the pointers of packed relocations (DT_RELR). */
void elf_packed_pointers(const ElfFile *elf, ElfPointers *found);

/* relocation.c: fills elf->cells; lays the known ones over `size` bytes read from `addr`; the first address at or after
 * addr and before end that belongs to an unknown cell, else end. */
bool elf_load_cells(ElfFile *elf, ElfError *error);
void elf_apply_cells(const ElfFile *elf, u64 addr, u8 *buf, size_t size);
u64 elf_unknown_cell(const ElfFile *elf, u64 addr, u64 end);

/* unwind.c: adds what .eh_frame tells of to elf->symbols and elf->unwind. Unwind data that makes no sense is left alone: it is a hint.
 */
void elf_load_unwind(ElfFile *elf);

/* functions.c: fills elf->symbols and elf->functions. */
bool elf_load_functions(ElfFile *elf, ElfError *error);

#endif
