/* image.c: the program's image as a variable of the module: data is where it was relative to the image, and addresses in it are the new ones.
 *
 * Instructions that were lifted are zeros in it: nobody runs them. Thread-local variables are one block, the first of each thread's being a copy of the
 * file's, with the thread pointer behind or before them, as the program's machine has it. */
#include <elf.h>
#include <llvm-c/Core.h>
#include <stdlib.h>

#include "raise/foreign/foreign.h"

enum { THREAD_ALIGN = 64, IMAGE_MAX = 256 << 20 };

typedef VEC(LLVMValueRef) Parts;

static int by_place(const void *a, const void *b) {
    const ElfRelocation *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* ---------------------------------------------------------------------------------------------------------------- threads */

/* How far behind the first variable the thread pointer is. */
static u64 thread_offset(const Raise *r) {
    Elf64_Phdr p = elf_program_header(r->elf, PT_TLS);
    const CallAbi *abi = &r->isa->abi;
    u64 align = p.p_align ? p.p_align : 1, distance = abi->thread_bytes ? p.p_memsz : abi->thread_gap;
    distance = (distance + align - 1) & -align;
    return abi->thread_bytes ? distance : -distance;
}

/* For src/raise/runtime. */
static void add_number(Raise *r, const char *name, u64 value) {
    LLVMTypeRef type = LLVMInt64TypeInContext(r->ctx);
    LLVMValueRef var = LLVMAddGlobal(r->mod, type, name);
    LLVMSetInitializer(var, LLVMConstInt(type, value, false));
    LLVMSetVisibility(var, LLVMHiddenVisibility);
}

/* ------------------------------------------------------------------------------------------------------------------ words */

static LLVMValueRef word(const Raise *r, u64 value) {
    return LLVMConstInt(LLVMInt64TypeInContext(r->ctx), value, false);
}

static LLVMValueRef imported(Foreign *f, const ElfRelocation *row) {
    const RaiseFunction *stub = raise_function_at(f->r, row->at);
    bool absent = row->weak && !prototype_find(row->symbol) && row->function && !f->r->is_object;
    if ((row->of_plt && f->r->foreign) || absent) /* nobody reads those: calls through them were replaced */
        return word(f->r, 0);
    if (stub && stub->native)
        return foreign_entry(f, stub);
    return foreign_offset(f->r, foreign_external(f, row->symbol, row->weak), row->addend);
}

/* What the dynamic linker has to write there; NULL with r->problem set: it cannot. */
static LLVMValueRef relocated(Foreign *f, const ElfRelocation *row) {
    Raise *r = f->r;
    if (foreign_is_chosen(f, row))
        return word(r, 0);
    switch (r->isa->relocation_kind(row->type)) {
    case RELOCATION_RELATIVE:
        return foreign_symbol(f, (u64)row->addend);
    case RELOCATION_ADDRESS:
        return row->imported ? imported(f, row) : foreign_symbol(f, row->value + (u64)row->addend);
    case RELOCATION_THREAD:
        return word(r, row->imported ? 0 : row->value + (u64)row->addend - thread_offset(r)); /* threads.c */
    case RELOCATION_MODULE:
        return row->imported ? foreign_thread_finder(f, row->symbol) : word(r, 0);
    case RELOCATION_OFFSET:
        return word(r, (row->imported ? 0 : row->value) + (u64)row->addend);
    case RELOCATION_CHOSEN:
    case RELOCATION_COPY:
    case RELOCATION_OTHER:
        break;
    }
    raise_fail(r, "0x%lx: a relocation of a kind that cannot be raised (%u)", row->at, row->type);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------------ image */

/* Long runs of zeros are no bytes. */
static void add_bytes(const Raise *r, Parts *parts, const u8 *bytes, u64 size) {
    enum { RUN = 4096 };
    LLVMTypeRef byte = LLVMInt8TypeInContext(r->ctx);
    for (u64 done = 0; done < size;) {
        u64 zeros = 0, end = done;
        while (done + zeros < size && !bytes[done + zeros])
            zeros++;
        if (zeros >= RUN || done + zeros == size) {
            VEC_PUSH(parts, LLVMConstNull(LLVMArrayType2(byte, zeros)));
            done += zeros;
            continue;
        }
        for (u64 run = 0; end < size && run < RUN; end++)
            run = bytes[end] ? 0 : run + 1;
        VEC_PUSH(parts, LLVMConstStringInContext2(r->ctx, (const char *)bytes + done, end - done, true));
        done = end;
    }
}

/* The contents of memory from `start` on, which are `bytes` and what the dynamic linker writes into the first `relocated_bytes` of them. */
static bool build_parts(Foreign *f, const u8 *bytes, u64 start, u64 relocated_bytes, u64 size, Parts *parts) {
    Raise *r = f->r;
    u64 at = start;
    for (size_t i = 0; i < f->relocations.len; i++) {
        const ElfRelocation *row = &f->relocations.at[i];
        if (r->isa->relocation_kind(row->type) == RELOCATION_COPY || row->at - start >= relocated_bytes)
            continue;
        if (row->at < at || row->at - start + 8 > relocated_bytes)
            return raise_fail(r, "0x%lx: relocations overlap, or lie outside the image", row->at);
        LLVMValueRef v = relocated(f, row);
        if (!v)
            return false;
        add_bytes(r, parts, bytes + (at - start), row->at - at);
        VEC_PUSH(parts, v);
        at = row->at + 8;
    }
    add_bytes(r, parts, bytes + (at - start), size - (at - start));
    return true;
}

static bool is_inside(const Raise *r, const ElfRelocation *row) {
    return row->at >= r->extent.start && row->at <= r->extent.end - 8;
}

static bool build_image(Foreign *f, const u8 *bytes, Parts *parts) {
    Raise *r = f->r;
    u64 size = r->extent.end - r->extent.start;
    for (size_t i = 0; i < f->relocations.len; i++)
        if (!is_inside(r, &f->relocations.at[i]))
            return raise_fail(r, "0x%lx: a relocation lies outside the image", f->relocations.at[i].at);
    return build_parts(f, bytes, r->extent.start, size, size, parts);
}

/* Those of a library have no place that is known before it is loaded. */
LLVMThreadLocalMode foreign_thread_mode(const Raise *r) {
    return r->is_library ? LLVMGeneralDynamicTLSModel : LLVMLocalExecTLSModel;
}

static bool add_thread(Foreign *f) {
    Raise *r = f->r;
    Parts parts = {0};
    Elf64_Phdr p = elf_program_header(r->elf, PT_TLS);
    if (p.p_memsz > IMAGE_MAX || p.p_align > THREAD_ALIGN || p.p_filesz > p.p_memsz || (p.p_align & (p.p_align - 1)))
        return raise_fail(r, "its thread-local variables are too large, or broken");
    u64 off = thread_offset(r), more = r->isa->abi.thread_bytes, size = more ? off + more : p.p_memsz;
    u8 *bytes = arena_alloc(&r->arena, size + 1);
    if (p.p_filesz && elf_read(r->elf, p.p_vaddr, bytes, p.p_filesz) != p.p_filesz)
        return raise_fail(r, "its thread-local variables are not in the image");
    bool ok = build_parts(f, bytes, p.p_vaddr, p.p_filesz, size, &parts);
    if (ok) {
        LLVMValueRef v = LLVMConstStructInContext(r->ctx, parts.at, (unsigned)parts.len, true);
        LLVMValueRef var = LLVMAddGlobal(r->mod, LLVMTypeOf(v), RAISE_PREFIX "thread");
        LLVMSetInitializer(var, v);
        LLVMSetAlignment(var, THREAD_ALIGN);
        LLVMSetThreadLocalMode(var, foreign_thread_mode(r));
        LLVMSetVisibility(var, LLVMHiddenVisibility);
        add_number(r, RAISE_PREFIX "thread_offset", off);
    }
    VEC_FREE(&parts);
    return ok;
}

/* As it is mapped, without the code that was lifted. */
static u8 *read_image(Raise *r) {
    u64 size = r->extent.end - r->extent.start;
    u8 *bytes = arena_alloc(&r->arena, size);
    for (u64 off = 0; off < size;) {
        size_t got = elf_read(r->elf, r->extent.start + off, bytes + off, size - off);
        off += got ? got : 1; /* between segments */
    }
    for (size_t i = 0; i < r->code.len; i++)
        memset(bytes + (r->code.at[i].start - r->extent.start), 0, r->code.at[i].end - r->code.at[i].start);
    return bytes;
}

static void replace_image(Raise *r, Parts *parts) {
    LLVMValueRef v = LLVMConstStructInContext(r->ctx, parts->at, (unsigned)parts->len, true);
    LLVMValueRef old = LLVMGetNamedGlobal(r->mod, RAISE_IMAGE), image = LLVMAddGlobal(r->mod, LLVMTypeOf(v), "");
    LLVMSetInitializer(image, v);
    LLVMSetAlignment(image, FOREIGN_PAGE);
    if (!r->extent.position_independent) /* link.c says where that is */
        LLVMSetSection(image, FOREIGN_SECTION);
    LLVMSetVisibility(image, LLVMHiddenVisibility);
    LLVMReplaceAllUsesWith(old, image);
    LLVMDeleteGlobal(old);
    LLVMSetValueName2(image, RAISE_IMAGE, strlen(RAISE_IMAGE));
    add_number(r, RAISE_PREFIX "image_base", r->extent.start);
    add_number(r, RAISE_PREFIX "image_bytes", r->extent.end - r->extent.start);
}

static bool is_table_word(const Raise *r, u64 at) {
    u32 known;
    return map64_get(&r->table_words, at, &known);
}

/* In a program that is not position-independent the linker has left no relocations of addresses. A word that is one of something
 * which has moved is taken for it. */
static void add_numbers(Foreign *f) {
    Raise *r = f->r;
    ElfPointers words = {0};
    Map64 known = {0};
    u32 index;
    for (size_t i = 0; i < f->relocations.len; i++)
        map64_set(&known, f->relocations.at[i].at, 1);
    elf_image_words(r->elf, &words);
    for (size_t i = 0; i < words.len; i++)
        if (foreign_is_moved(f, words.at[i].to) && !is_table_word(r, words.at[i].at) &&
            !map64_get(&known, words.at[i].at, &index))
            VEC_PUSH(
                &f->relocations,
                ((ElfRelocation){.at = words.at[i].at, .type = r->isa->elf_relative, .addend = (i64)words.at[i].to}));
    map64_free(&known);
    VEC_FREE(&words);
}

bool foreign_add_image(Foreign *f) {
    Raise *r = f->r;
    Parts parts = {0};
    if (r->extent.end - r->extent.start > IMAGE_MAX || r->extent.end - r->extent.start < 8)
        return raise_fail(r, "its image is too large, or empty");
    if (!LLVMGetNamedGlobal(r->mod, RAISE_IMAGE))
        LLVMAddGlobal(r->mod, LLVMInt8TypeInContext(r->ctx), RAISE_IMAGE);
    if (!r->extent.position_independent)
        add_numbers(f);
    if (f->relocations.len)
        qsort(f->relocations.at, f->relocations.len, sizeof(*f->relocations.at), by_place);
    bool ok = (!r->foreign || add_thread(f)) && build_image(f, read_image(r), &parts);
    if (ok)
        foreign_add_thread_words(f, thread_offset(r));
    if (ok)
        replace_image(r, &parts);
    VEC_FREE(&parts);
    return ok;
}
