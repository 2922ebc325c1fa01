/* symbols.c: addresses in the program's image, as they are in the new program.
 *
 * Data is where it was, relative to the image; in a program that is not position-independent, where it was. Functions are not: the address of one is that of its entry, which native code can call. Variables of other files that
 * the dynamic linker would copy into the image (stdout, environ) are those files' own. What a library offers is where the dynamic linker has the name. */
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdio.h>

#include "raise/foreign/foreign.h"

LLVMValueRef foreign_entry(Foreign *f, const RaiseFunction *function) {
    char name[64];
    snprintf(name, sizeof(name), RAISE_ENTRY, function->pc);
    LLVMValueRef fn = LLVMGetNamedFunction(f->r->mod, name);
    if (!fn) {
        fn = LLVMAddFunction(f->r->mod, name, LLVMFunctionType(LLVMVoidTypeInContext(f->r->ctx), NULL, 0, false));
        LLVMSetVisibility(fn, LLVMHiddenVisibility);
    }
    return fn;
}

LLVMValueRef foreign_external(Foreign *f, const char *name, bool weak) {
    LLVMModuleRef mod = f->r->mod;
    LLVMValueRef v = LLVMGetNamedFunction(mod, name);
    v = v ? v : LLVMGetNamedGlobal(mod, name);
    if (!v) {
        v = LLVMAddGlobal(mod, LLVMInt8TypeInContext(f->r->ctx), name);
        LLVMSetLinkage(v, weak ? LLVMExternalWeakLinkage : LLVMExternalLinkage);
    }
    return v;
}

LLVMValueRef foreign_offset(const Raise *r, LLVMValueRef base, i64 off) {
    LLVMValueRef index = LLVMConstInt(LLVMInt64TypeInContext(r->ctx), (u64)off, false);
    return off ? LLVMConstGEP2(LLVMInt8TypeInContext(r->ctx), base, &index, 1) : base;
}

/* Others may have a copy of what a library offers, and then that is it. */
static const RaiseVariable *copy_at(const Foreign *f, u64 address) {
    for (size_t i = 0; i < f->r->variables.len; i++) {
        const RaiseVariable *v = &f->r->variables.at[i];
        if (address - v->at < v->size)
            return v;
    }
    return NULL;
}

void foreign_find_copies(Foreign *f) {
    for (size_t i = 0; i < f->relocations.len; i++) {
        const ElfRelocation *row = &f->relocations.at[i];
        if (row->symbol && f->r->isa->relocation_kind(row->type) == RELOCATION_COPY)
            VEC_PUSH(&f->r->variables, ((RaiseVariable){row->symbol, row->at, row->size}));
    }
}

/* In a program that is not position-independent, the address of another file's function is that of the code that jumps to it. NULL: it is no such function. */
static const char *import_at(const Foreign *f, u64 address) {
    RaiseFunction *function = f->r->extent.position_independent ? NULL : raise_function_at(f->r, address);
    return function && function->import && !function->native && elf_is_code(f->r->elf, address) ? function->import
                                                                                                : NULL;
}

LLVMValueRef foreign_symbol(Foreign *f, u64 address) {
    const RaiseFunction *function = raise_function_at(f->r, address);
    const RaiseVariable *copy = copy_at(f, address);
    const char *import = import_at(f, address);
    if (import)
        return foreign_external(f, import, foreign_is_weak(f, import));
    if (function && function->native && function->raised && elf_is_code(f->r->elf, address))
        return foreign_entry(f, function);
    if (copy)
        return foreign_offset(f->r, foreign_external(f, copy->name, false), (i64)(address - copy->at));
    return foreign_offset(f->r, LLVMGetNamedGlobal(f->r->mod, RAISE_IMAGE), (i64)(address - f->r->extent.start));
}

/* -------------------------------------------------------------------------------------------------- addresses in the code */

bool foreign_is_moved(Foreign *f, u64 address) {
    const RaiseFunction *function = raise_function_at(f->r, address);
    return (function && function->native && elf_is_code(f->r->elf, address)) || import_at(f, address) ||
           copy_at(f, address);
}

/* The address of a function is no part of another one: such is what an instruction makes that has room for its upper bits only. */
static bool is_part(const Raise *r, LLVMValueRef in, u64 address) {
    return elf_is_code(r->elf, address) && (LLVMIsABinaryOperator(in) || LLVMIsAGetElementPtrInst(in));
}

/* Where a copied variable begins, the program's own variable before it ends: code that only compares the address means that end, as loops do. */
static bool is_end(const Foreign *f, LLVMValueRef in, u64 address) {
    const RaiseVariable *copy = copy_at(f, address);
    bool compares = LLVMIsAICmpInst(in) || (LLVMIsABinaryOperator(in) && LLVMGetInstructionOpcode(in) == LLVMSub);
    return copy && copy->at == address && compares;
}

static LLVMValueRef replacement(Foreign *f, LLVMValueRef in, LLVMValueRef v);

/* Functions return several values. */
static LLVMValueRef replacement_in_struct(Foreign *f, LLVMValueRef in, LLVMValueRef v) {
    enum { PARTS = 64 };
    LLVMValueRef part[PARTS];
    unsigned count = LLVMCountStructElementTypes(LLVMTypeOf(v));
    bool changed = false;
    for (unsigned i = 0; i < count && count <= PARTS; i++) {
        LLVMValueRef old = LLVMGetAggregateElement(v, i);
        part[i] = replacement(f, in, old);
        changed |= part[i] != old;
    }
    return changed ? LLVMConstStructInContext(f->r->ctx, part, count, false) : v;
}

/* Compilers store two pointers at once; where these are numbers, LLVM may have them as elements of another type. NULL: the constant is no such. */
static LLVMTypeRef words_of(const Raise *r, LLVMValueRef v) {
    LLVMTypeRef type = LLVMTypeOf(v);
    if (LLVMIsAConstantVector(v))
        return type;
    if (r->extent.position_independent || (!LLVMIsAConstantDataVector(v) && !LLVMIsAConstantFP(v)))
        return NULL;
    u64 bits = LLVMSizeOfTypeInBits(LLVMGetModuleDataLayout(r->mod), type);
    return bits % 64 ? NULL : LLVMVectorType(LLVMInt64TypeInContext(r->ctx), (unsigned)(bits / 64));
}

static LLVMValueRef replacement_in_words(Foreign *f, LLVMValueRef in, LLVMValueRef v, LLVMTypeRef type) {
    enum { WORDS = 8 };
    LLVMValueRef element[WORDS], words = LLVMConstBitCast(v, type);
    unsigned count = LLVMGetVectorSize(type);
    bool changed = false;
    for (unsigned i = 0; i < count && count <= WORDS; i++) {
        LLVMValueRef old = LLVMGetAggregateElement(words, i);
        element[i] = old ? replacement(f, in, old) : NULL;
        changed |= element[i] != old;
    }
    return changed ? LLVMConstBitCast(LLVMConstVector(element, count), LLVMTypeOf(v)) : v;
}

/* What stands for a constant operand of an instruction; that itself if it has no address that is another one now. */
static LLVMValueRef replacement(Foreign *f, LLVMValueRef in, LLVMValueRef v) {
    LLVMTypeRef words = LLVMIsAConstant(v) ? words_of(f->r, v) : NULL;
    u64 address;
    if (words)
        return replacement_in_words(f, in, v, words);
    if (LLVMIsAConstantStruct(v))
        return replacement_in_struct(f, in, v);
    if (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMBitCast)
        return LLVMConstBitCast(replacement(f, in, LLVMGetOperand(v, 0)), LLVMTypeOf(v));
    if (!LLVMIsAConstant(v) || !raise_constant_address(f->r, v, &address) || !foreign_is_moved(f, address) ||
        is_part(f->r, in, address) || is_end(f, in, address))
        return v;
    LLVMValueRef with = foreign_symbol(f, address);
    bool is_word = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind;
    return is_word ? LLVMConstPtrToInt(with, LLVMTypeOf(v)) : with;
}

/* LLVM makes a switch of comparisons with several numbers. Its cases have to stay numbers, so where the value is the new address of one, it becomes that number. */
static void replace_cases(Foreign *f, LLVMValueRef in) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(f->r->ctx);
    LLVMPositionBuilderBefore(b, in);
    for (unsigned i = 2; i < (unsigned)LLVMGetNumOperands(in); i += 2) {
        LLVMValueRef number = LLVMGetOperand(in, i), with = replacement(f, in, number), v = LLVMGetOperand(in, 0);
        if (with != number)
            LLVMSetOperand(in, 0, LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, v, with, ""), number, v, ""));
    }
    LLVMDisposeBuilder(b);
}

static void replace_operands(Foreign *f, LLVMValueRef in) {
    unsigned count = (unsigned)LLVMGetNumOperands(in);
    if (LLVMIsASwitchInst(in)) {
        replace_cases(f, in);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef v = LLVMGetOperand(in, i), with = LLVMIsAConstant(v) ? replacement(f, in, v) : v;
        if (with != v)
            LLVMSetOperand(in, i, with);
    }
}

/* A loop may wait for what another thread writes: see promote.c, to which such places were not constants yet. */
static void keep_load(const Raise *r, LLVMValueRef in) {
    LLVMValueRef place = LLVMIsALoadInst(in) ? LLVMGetOperand(in, 0) : NULL;
    u64 address;
    u8 byte;
    if (place && LLVMIsAConstant(place) && raise_image_address(r, place, &address) &&
        !elf_read_const(r->elf, address, &byte, 1))
        LLVMSetVolatile(in, true);
}

/* The types that landing pads catch have names, which are those of places in the image (RAISE_AT). */
void foreign_name_types(Foreign *f) {
    size_t len;
    u64 address;
    for (LLVMValueRef g = LLVMGetFirstGlobal(f->r->mod), next; g; g = next) {
        next = LLVMGetNextGlobal(g);
        if (sscanf(LLVMGetValueName2(g, &len), RAISE_AT, &address) != 1)
            continue;
        const RaiseVariable *copy = copy_at(f, address);
        if (copy) {
            LLVMReplaceAllUsesWith(g, foreign_external(f, copy->name, false));
            LLVMDeleteGlobal(g);
            continue;
        }
        char *text = arena_printf(
            &f->r->arena, "\t.hidden " RAISE_AT "\n\t.globl " RAISE_AT "\n\t.set " RAISE_AT ", " RAISE_IMAGE " + %lu\n",
            address, address, address, address - f->r->extent.start);
        LLVMAppendModuleInlineAsm(f->r->mod, text, strlen(text));
    }
}

void foreign_replace_addresses(Foreign *f) {
    /* Registers become values, and sums of constants become constants, before it is looked which addresses there are. */
    raise_run_passes(f->r, "function(sroa,instsimplify)");
    for (size_t i = 0; i < f->r->functions.len; i++) {
        LLVMValueRef fn = f->r->functions.at[i].raised;
        for (LLVMBasicBlockRef b = fn ? LLVMGetFirstBasicBlock(fn) : NULL; b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) {
                keep_load(f->r, in);
                replace_operands(f, in);
            }
    }
}
