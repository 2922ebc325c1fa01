/* object.c: object files (`.o`), which become object files again, and shared libraries for another machine, which become shared libraries.
 *
 * The linker of the object's machine lays it out as a position-independent program, which is then raised as any other. What the object does not define itself is
 * in a library made for that purpose, so that the linker makes stubs for what is called, and copies of variables, as in programs. Functions and variables that the
 * object defines for others keep their names: a function's is that of its entry, where native code enters it, and a variable's is a place of the image.
 *
 * A library is laid out as it is, and joined with others that it needs as programs are. What it offers to others is offered in the same way.
 *
 * For the own machine, too, the image is a variable of the module, and the address of a function that of its entry. What each raised object has of the runtime
 * is made local in the end, so that several can be linked with each other. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "isa/foreign.h"
#include "isa/kinds.h"
#include "raise/foreign/foreign.h"

/* ----------------------------------------------------------------------------------------------------------------- layout */

/* Room for the parts of a variable that are named by relocations; a bit more for the last. */
enum { SYMBOL_ALIGN = 4096, LAST_BYTES = 64, BEFORE_MAX = 32 };

static bool is_own(const char *name) {
    return !strcmp(name, "_GLOBAL_OFFSET_TABLE_");
}

static bool fail(ObjectLayout *o, const char *format, const char *name) {
    snprintf(o->problem, sizeof(o->problem), format, name);
    return false;
}

/* Variables of a library that stand for all that is not defined; functions among them get stubs by how they are called. */
static bool write_missing(ObjectLayout *o, const char *path) {
    FILE *out = fopen(path, "we");
    if (!out)
        return fail(o, "%s", strerror(errno));
    fprintf(out, "\t.bss\n");
    bool ok = true;
    for (size_t i = 0; ok && i < o->symbols.len; i++) {
        const ElfObjectSymbol *s = &o->symbols.at[i];
        if (s->defined || is_own(s->name))
            continue;
        u64 size = ((u64)s->high + LAST_BYTES + SYMBOL_ALIGN - 1) & -(u64)SYMBOL_ALIGN;
        if (s->thread)
            ok = fail(o, "it uses %s, a thread-local variable of another file", s->name);
        else if (s->low < -BEFORE_MAX || s->high > 1 << 24)
            ok = fail(o, "it has an address that is far from the symbol that it names, %s", s->name);
        fprintf(out, "\t.globl \"%s\"\n\t.type \"%s\", %%object\n\t.size \"%s\", %lu\n\"%s\":\t.zero %lu\n", s->name,
                s->name, s->name, size, s->name, size);
    }
    return fclose(out) == 0 && ok;
}

/* Runs it, with the first line of what it says as the problem if it fails. */
static bool run(ObjectLayout *o, const char *const *words) {
    char message[LINK_MESSAGE_BYTES];
    int status = foreign_run(words, message);
    if (status < 0)
        return fail(o, "%s cannot be started, which lays it out", words[0]);
    char *line = message;
    line[strcspn(line, "\n")] = 0;
    return status == 0 || fail(o, "its machine's linker cannot lay it out as position-independent code: %s", line);
}

static bool lay_out(ObjectLayout *o, const char *file) {
    char compiler[64], source[sizeof(o->dir) + 16], library[sizeof(o->dir) + 16];
    snprintf(compiler, sizeof(compiler), "%s-linux-gnu-gcc", kind_of_arch(o->arch)->folder);
    snprintf(source, sizeof(source), "%s/missing.s", o->dir);
    snprintf(library, sizeof(library), "%s/missing.so", o->dir);
    const char *const missing[] = {compiler, "-shared", "-nostdlib", "-o", library, source, NULL};
    const char *const image[] = {compiler, "-pie",   "-nostdlib", "-Wl,-e,0", "-Wl,-E", "-Wl,-z,now",
                                 "-o",     o->image, file,        library,    NULL};
    return write_missing(o, source) && run(o, missing) && run(o, image);
}

static bool make_folder(ObjectLayout *o) {
    static const char name[] = "/tmp/lathe-raise-XXXXXX";
    memcpy(o->dir, name, sizeof(name));
    if (mkdtemp(o->dir))
        return true;
    *o->dir = 0;
    return fail(o, "no temporary directory can be made: %s", strerror(errno));
}

bool object_lay_out(ObjectLayout *o, const char *file) {
    ElfError error;
    *o = (ObjectLayout){0};
    if (!elf_object_symbols(file, &o->arena, &o->symbols, &o->arch, &error))
        return fail(o, "%s", error.text);
    if (!make_folder(o))
        return false;
    o->image = arena_printf(&o->arena, "%s/image", o->dir);
    return lay_out(o, file);
}

bool object_of_library(ObjectLayout *o, const char *file) {
    ElfError error;
    *o = (ObjectLayout){.image = file, .is_library = true};
    if (!elf_library_symbols(file, &o->arena, &o->symbols, &o->arch, &error))
        return fail(o, "%s", error.text);
    return make_folder(o);
}

void object_end(ObjectLayout *o) {
    static const char *const files[] = {"missing.s", "missing.so", "image", "names"};
    char path[sizeof(o->dir) + 16];
    for (size_t i = 0; *o->dir && i < ARRAY_LEN(files); i++) {
        snprintf(path, sizeof(path), "%s/%s", o->dir, files[i]);
        unlink(path);
    }
    if (*o->dir)
        rmdir(o->dir);
    VEC_FREE(&o->symbols);
    arena_free(&o->arena);
}

/* ---------------------------------------------------------------------------------------------------------------- symbols */

static bool find_address(const Raise *r, const ElfObjectSymbol *s, u64 *address) {
    *address = s->value;
    return !r->is_object || elf_symbol_value(r->elf, s->name, address);
}

/* Constants may be beside code. The linker has laid out objects so that they are not, and may not tell of which kind a symbol is. */
static bool is_function(const Raise *r, const ElfObjectSymbol *s, u64 address) {
    return r->is_object ? elf_is_code(r->elf, address) : s->function;
}

void object_begin(Raise *r, const ObjectLayout *o) {
    u64 address;
    if (r->foreign)
        foreign_read_prototypes(r, o->image);
    for (size_t i = 0; i < o->symbols.len; i++) {
        const ElfObjectSymbol *s = &o->symbols.at[i];
        if (!s->defined || !find_address(r, s, &address))
            continue;
        if (is_function(r, s, address))
            VEC_PUSH(&r->offered, ((ElfPointer){.to = address}));
        if (o->is_library && !s->thread && !s->function)
            VEC_PUSH(&r->variables, ((RaiseVariable){s->name, address, s->size}));
    }
}

static void offer(Raise *r, const ElfObjectSymbol *s, const char *type, const char *is, u64 off) {
    char *text = arena_printf(
        &r->arena, "\t.%s \"%s\"\n\t.type \"%s\", %%%s\n\t.size \"%s\", %lu\n\t.set \"%s\", %s + %lu\n",
        s->weak ? "weak" : "globl", s->name, s->name, type, s->name, s->function ? 0 : s->size, s->name, is, off);
    LLVMAppendModuleInlineAsm(r->mod, text, strlen(text));
}

/* Is it used for more than to be handed on? */
static bool is_looked_at(LLVMValueRef v) {
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!LLVMIsACallInst(user) && !LLVMIsAStoreInst(user) && !LLVMIsAPHINode(user))
            return true;
    }
    return false;
}

/* Does it look at a register that is handed over and has no argument, such as how many vector registers are used? That is of variable arguments. */
static bool looks_beside(const Raise *r, const RaiseFunction *f) {
    Reg list[REG_MAX + 1];
    const CallAbi *abi = &r->isa->abi;
    unsigned count = raise_params(r, &f->taken, list);
    for (unsigned i = 0; i < count; i++)
        if (regset_has(&f->taken, list[i]) && list[i] != abi->stack && r->isa->regs[list[i]].kind == REG_INT &&
            !raise_is_listed(abi->int_args, abi->int_arg_count, list[i]) && is_looked_at(LLVMGetParam(f->raised, i)))
            return true;
    return false;
}

/* Those that have to do with x87 are taken to take all registers. */
static bool takes_all_integers(const Raise *r, const RaiseFunction *f) {
    for (u32 i = 0; i < r->isa->abi.int_arg_count; i++)
        if (!regset_has(&f->taken, r->isa->abi.int_args[i]))
            return false;
    return true;
}

/* Why others cannot call it, who have arguments where another machine has them; NULL: they can. Up to eight integers arrive, some of them on the stack. */
static const char *odd_arguments(const Raise *r, const RaiseFunction *f) {
    const CallAbi *abi = &r->isa->abi;
    i64 last = (i64)abi->return_address_bytes + 8 * ((i64)FOREIGN_INTS - (i64)abi->int_arg_count);
    if (looks_beside(r, f))
        return "variable arguments";
    bool is_odd =
        f->above > last || (f->above > (i64)abi->return_address_bytes && (f->uses_rest || !takes_all_integers(r, f)));
    return is_odd ? "a struct by value, a long double, variable arguments or very many" : NULL;
}

static bool counts_fit(const char *types) {
    u32 floats = 0, others = 0;
    for (const char *t = types + 1; *t; t++) {
        floats += *t == TYPE_FLOAT || *t == TYPE_DOUBLE;
        others += *t != TYPE_FLOAT && *t != TYPE_DOUBLE;
    }
    return floats <= FOREIGN_FLOATS && others <= FOREIGN_INTS;
}

/* Some machines tell a float from a double by bits that others leave as they are. */
static bool has_boxed_float(Raise *r, const char *types) {
    bool own = LLVMGetTypeKind(raise_reg_type(r, r->isa->abi.float_result)) != LLVMVectorTypeKind;
    return (own && strchr(types + 1, TYPE_FLOAT)) || (r->host->boxed_floats && *types == TYPE_FLOAT);
}

static bool is_portable(Raise *r, const char *types) {
    return !strpbrk(types, "?.x") && !has_boxed_float(r, types) && counts_fit(types);
}

/* Can others call it, by its prototype, or as far as its code tells? It is the object's own, even if a header declares one of that name. */
static bool check_callers(Raise *r, const RaiseFunction *f, const char *name) {
    const Prototype *p = foreign_declared(r, name);
    p = p ? p : prototype_find(name);
    if (p)
        return is_portable(r, p->types) ||
               raise_fail(r, "0x%lx: the function %s has arguments or a result that machines pass in different ways",
                          f->pc, name);
    const char *odd = odd_arguments(r, f);
    if (odd)
        return raise_fail(r, "0x%lx: the function %s seems to take %s, which machines pass in different ways", f->pc,
                          name, odd);
    return r->plain_calls || !strcmp(name, "main") ||
           raise_fail(
               r,
               "0x%lx: no debug information tells what the function %s takes and gives; compile it with -g -O, or "
               "give --plain-calls if there are no structs and no variable arguments",
               f->pc, name);
}

static bool offer_function(Raise *r, const ElfObjectSymbol *s, u64 pc) {
    const RaiseFunction *f = raise_function_at(r, pc);
    if (!f || !f->native || !f->raised)
        return raise_fail(r, "0x%lx: the function %s cannot be read", pc, s->name);
    if (r->foreign && !check_callers(r, f, s->name))
        return false;
    offer(r, s, "function", arena_printf(&r->arena, RAISE_ENTRY, pc), 0);
    return true;
}

static bool offer_symbols(Raise *r, const ObjectLayout *o) {
    for (size_t i = 0; i < o->symbols.len; i++) {
        const ElfObjectSymbol *s = &o->symbols.at[i];
        u64 address;
        if (!s->defined)
            continue;
        if (s->absolute || s->thread || !find_address(r, s, &address))
            return raise_fail(r, "its symbol %s is of a kind that cannot be raised", s->name);
        if (s->chosen)
            return raise_fail(r, "0x%lx: the function %s is chosen by the processor (STT_GNU_IFUNC), for others, too",
                              address, s->name);
        if (is_function(r, s, address)) {
            if (!offer_function(r, s, address))
                return false;
        } else {
            offer(r, s, "object", RAISE_IMAGE, address - r->extent.start);
        }
    }
    return true;
}

bool object_finish(Foreign *f, const ObjectLayout *o) {
    if (!f->r->foreign) {
        elf_relocations(f->r->elf, &f->relocations);
        foreign_find_copies(f);
        foreign_replace_addresses(f);
        if (!foreign_add_lists(f) || !foreign_add_chosen(f) || !foreign_add_image(f))
            return false;
    }
    return offer_symbols(f->r, o);
}

/* ------------------------------------------------------------------------------------------------------------------- link */

/* `gcc` at the end of the compiler's name is `objcopy` in that of the program that changes objects. */
static const char *objcopy_of(Raise *r) {
    const char *linker = r->host->foreign->linker;
    return arena_printf(&r->arena, "%.*sobjcopy", (int)(strlen(linker) - strlen("gcc")), linker);
}

/* The names that stay visible, one in a line; false: the file cannot be written. */
static bool write_names(const ObjectLayout *o, const char *path) {
    FILE *out = fopen(path, "we");
    for (size_t i = 0; out && i < o->symbols.len; i++)
        if (o->symbols.at[i].defined)
            fprintf(out, "%s\n", o->symbols.at[i].name);
    return out && fclose(out) == 0;
}

/* The linker's list of what is visible. */
static bool write_version(const ObjectLayout *o, const char *path) {
    FILE *out = fopen(path, "we");
    if (!out)
        return false;
    fprintf(out, "{\nglobal:\n");
    for (size_t i = 0; i < o->symbols.len; i++)
        fprintf(out, "    \"%s\";\n", o->symbols.at[i].name);
    fprintf(out, "local:\n    *;\n};\n");
    return fclose(out) == 0;
}

/* It calls its own functions, whoever else has one of that name. */
static bool link_library(Raise *r, const ObjectLayout *o, RaiseObject object, const char *const *files,
                         const char *output) {
    const char *path = arena_printf(&r->arena, "%s/names", o->dir), *name = elf_dynamic_text(r->elf, DT_SONAME, 0);
    const char *const options[] = {"-shared", "-Wl,-Bsymbolic-functions",
                                   arena_printf(&r->arena, "-Wl,--version-script=%s", path),
                                   name ? arena_printf(&r->arena, "-Wl,-soname,%s", name) : NULL, NULL};
    return write_version(o, path) ? foreign_link_with(r, object, options, files, output)
                                  : raise_fail(r, "%s: %s", path, strerror(errno));
}

static bool link_object(Raise *r, const ObjectLayout *o, RaiseObject object, const char *const *files,
                        const char *output) {
    const char *const first[] = {"-r", "-nostdlib", NULL};
    char names[sizeof(o->dir) + 16];
    snprintf(names, sizeof(names), "%s/names", o->dir);
    const char *const localize[] = {objcopy_of(r), arena_printf(&r->arena, "--keep-global-symbols=%s", names), output,
                                    NULL};
    char message[LINK_MESSAGE_BYTES];
    if (!write_names(o, names))
        return raise_fail(r, "%s: %s", names, strerror(errno));
    if (!foreign_link_with(r, object, first, files, output))
        return false;
    if (foreign_run(localize, message) == 0)
        return true;
    unlink(output);
    return raise_fail(r, "%s has failed: %.*s", localize[0], (int)strcspn(message, "\n"), message);
}

bool object_link(Raise *r, const ObjectLayout *o, RaiseObject object, const char *const *files, const char *output) {
    return (o->is_library ? link_library : link_object)(r, o, object, files, output);
}
