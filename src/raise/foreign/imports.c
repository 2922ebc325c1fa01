/* imports.c: calls of libraries become calls of the host's.
 *
 * A program calls other files' functions through stubs that jump to what the dynamic linker has written into a slot, or through the slot itself.
 * The stubs get another body, and calls through slots become calls of such stubs. Weak functions that no header declares are taken to be absent:
 * they are the compiler's own, which it asks for whether they are there. */
#include <llvm-c/Core.h>

#include "raise/foreign/foreign.h"

static void clear(LLVMValueRef fn) {
    LLVMBasicBlockRef b;
    for (b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (LLVMGetTypeKind(LLVMTypeOf(in)) != LLVMVoidTypeKind)
                LLVMReplaceAllUsesWith(in, LLVMGetPoison(LLVMTypeOf(in)));
    for (b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in; (in = LLVMGetLastInstruction(b));)
            LLVMInstructionEraseFromParent(in);
    while ((b = LLVMGetFirstBasicBlock(fn)))
        LLVMDeleteBasicBlock(b);
}

bool foreign_is_weak(const Foreign *f, const char *name) {
    for (size_t i = 0; i < f->relocations.len; i++)
        if (f->relocations.at[i].symbol && !strcmp(f->relocations.at[i].symbol, name))
            return f->relocations.at[i].weak;
    return false;
}

static void build_stop(Raise *r, LLVMValueRef fn) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->ctx);
    LLVMValueRef cpu = LLVMGetParam(fn, 0);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(r->ctx, fn, ""));
    LLVMBuildCall2(b, LLVMGlobalGetValueType(r->nowhere), r->nowhere, &cpu, 1, "");
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
}

/* As what a type is handed over; headers tell more of pointers than debug information. */
static char passed_as(char type) {
    switch (type) {
    case TYPE_VOID:
    case TYPE_TWO:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_EXTENDED:
    case TYPE_MORE:
    case TYPE_MEMORY:
        return type;
    }
    return TYPE_I64;
}

static bool are_passed_alike(const char *a, const char *b) {
    while (*a && *b && passed_as(*a) == passed_as(*b))
        a++, b++;
    return *a == *b;
}

/* Another object may have a function of its own that is named like one of the C library. Compilers declare those that they call themselves without parameters. */
static bool check_declared(const Foreign *f, const char *name, u64 pc) {
    const Prototype *p = prototype_find(name), *declared = foreign_declared(f->r, name);
    return !p || !declared || !declared->types[1] || are_passed_alike(p->types, declared->types) ||
           raise_fail(f->r, "0x%lx: it calls %s, which a header declares with other types than its debug information",
                      pc, name);
}

static bool fill(Foreign *f, LLVMValueRef fn, const char *name, u64 pc) {
    if (!check_declared(f, name, pc))
        return false;
    if (!foreign_prototype(f, name) && f->r->is_object) {
        if (!f->r->plain_calls && f->r->foreign)
            return raise_fail(f->r,
                              "0x%lx: it calls %s, of which no header and no debug information tells what it takes; "
                              "compile it with -g -O, "
                              "or give --plain-calls if there are no structs and no variable arguments",
                              pc, name);
        LLVMValueRef target = foreign_external(f, name, foreign_is_weak(f, name));
        raise_build_jump(f->r, fn, LLVMConstPtrToInt(target, LLVMInt64TypeInContext(f->r->ctx)));
        return true;
    }
    if (!prototype_find(name) && foreign_is_weak(f, name)) {
        build_stop(f->r, fn);
        return true;
    }
    return foreign_build_stub(f, fn, name, pc);
}

/* ---------------------------------------------------------------------------------------------------------------- stubs */

static bool fill_stubs(Foreign *f) {
    Raise *r = f->r;
    for (size_t i = 0; i < r->functions.len; i++) {
        RaiseFunction *function = &r->functions.at[i];
        const char *name = function->plain ? function->import : NULL;
        if (!name)
            continue;
        clear(function->plain);
        if (!r->extent.position_independent &&
            !foreign_needs_stub(f, name)) /* who has its address calls the library's own function */
            function->native = false;
        if (!LLVMGetFirstUse(function->plain) && !function->native) /* only startup code has called it */
            build_stop(r, function->plain);
        else if (!fill(f, function->plain, name, function->pc))
            return false;
    }
    return true;
}

/* The stub for what is in a slot, as a function of the program whose address is that of the slot. NULL with r->problem set: it cannot be called. */
static RaiseFunction *stub_for(Foreign *f, u64 slot, const char *name, u64 pc) {
    Raise *r = f->r;
    RaiseFunction *known = raise_function_at(r, slot);
    if (known)
        return known;
    LLVMTypeRef ptr = LLVMPointerTypeInContext(r->ctx, 0);
    char *own = arena_printf(&r->arena, "import_%s", name);
    LLVMValueRef fn = LLVMAddFunction(r->mod, own, LLVMFunctionType(LLVMVoidTypeInContext(r->ctx), &ptr, 1, false));
    if (!fill(f, fn, name, pc))
        return NULL;
    map64_set(&r->by_pc, slot, (u32)r->functions.len);
    const char *import = raise_returns_twice(name) ? name : NULL; /* the call has to know of it */
    VEC_PUSH(&r->functions, ((RaiseFunction){.pc = slot, .plain = fn, .import = import}));
    return &r->functions.at[r->functions.len - 1];
}

/* ---------------------------------------------------------------------------------------------------- calls through slots */

/* The slot that the called value is loaded from; 0: it is something else. */
static u64 called_slot(const Raise *r, LLVMValueRef in) {
    LLVMValueRef callee = LLVMIsACallInst(in) ? LLVMGetCalledValue(in) : NULL;
    if (!callee || !LLVMIsACallInst(callee) || LLVMGetCalledValue(callee) != r->lookup)
        return 0;
    LLVMValueRef target = LLVMGetOperand(callee, 1);
    if (LLVMIsABinaryOperator(target) && LLVMGetInstructionOpcode(target) == LLVMAnd) /* without its lowest bit */
        target = LLVMGetOperand(target, 0);
    LLVMValueRef at = LLVMIsALoadInst(target) ? LLVMGetOperand(target, 0) : NULL;
    u64 address;
    return at && raise_image_address(r, at, &address) ? address : 0;
}

static bool redirect(Foreign *f, LLVMValueRef in, u64 pc) {
    Raise *r = f->r;
    u64 slot = called_slot(r, in);
    const char *name = slot ? elf_imported_at(r->elf, slot) : NULL;
    if (!name)
        return true;
    RaiseFunction *stub = stub_for(f, slot, name, pc);
    if (!stub)
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(in);
    LLVMSetOperand(in, (unsigned)LLVMGetNumOperands(in) - 1, stub->plain);
    if (!LLVMGetFirstUse(callee))
        LLVMInstructionEraseFromParent(callee);
    return true;
}

static bool redirect_all(Foreign *f) {
    for (size_t i = 0; i < f->r->functions.len; i++) {
        LLVMValueRef fn = f->r->functions.at[i].plain;
        u64 pc = f->r->functions.at[i].pc;
        for (LLVMBasicBlockRef b = fn ? LLVMGetFirstBasicBlock(fn) : NULL; b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
                if (!redirect(f, in, pc))
                    return false;
    }
    return true;
}

/* Functions whose address is taken, where the host's own would be called in another way than the program does it. */
static bool add_pointers(Foreign *f) {
    for (size_t i = 0; i < f->relocations.len; i++) {
        const ElfRelocation *row = &f->relocations.at[i];
        if (!row->imported || row->of_plt || f->r->isa->relocation_kind(row->type) != RELOCATION_ADDRESS ||
            !foreign_needs_stub(f, row->symbol))
            continue;
        RaiseFunction *stub = stub_for(f, row->at, row->symbol, row->at);
        if (!stub)
            return false;
        stub->native = true;
        stub->gives_memory = foreign_gives_memory(f, row->symbol);
    }
    return true;
}

bool foreign_add_imports(Foreign *f) {
    return fill_stubs(f) && redirect_all(f) && add_pointers(f);
}
