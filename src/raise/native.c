/* native.c: what lies between native code and raised functions, in the module.
 *
 * Native code enters a function at its old address, where the program has a jump to its entry; that leads through the host's
 * assembly to the function's bridge. The bridge has as arguments and results what native code passes in registers of the calling convention, and
 * takes other registers that the function takes from the guest state. Code of the program that calls by an address calls bridges, too. */
#include <llvm-c/Core.h>
#include <stdio.h>

#include "raise/raise.h"

LLVMValueRef raise_offset_in_state(Raise *r, LLVMBuilderRef b, LLVMValueRef cpu, u64 off_bytes) {
    LLVMValueRef off = LLVMConstInt(LLVMInt64TypeInContext(r->ctx), off_bytes, false);
    return LLVMBuildGEP2(b, LLVMInt8TypeInContext(r->ctx), cpu, &off, 1, "");
}

LLVMValueRef raise_place(Raise *r, LLVMBuilderRef b, LLVMValueRef cpu, Reg reg) {
    return raise_offset_in_state(r, b, cpu, r->isa->regs[reg].off_bytes);
}

/* What native code passes in place are its arguments, as they are the function's; the rest is in the state. */
static RegSet taken_in_place(const Raise *r, const RaiseFunction *f) {
    RegSet set = {0};
    for (Reg reg = 0; reg < r->isa->reg_count; reg++)
        if (regset_has(&f->taken, reg) && raise_passes_in_place(r, reg))
            regset_add(&set, reg);
    return set;
}

static void build_bridge(Raise *r, LLVMBuilderRef b, const RaiseFunction *f, LLVMValueRef fn) {
    Reg list[REG_MAX + 1];
    LLVMValueRef args[REG_MAX + 1];
    unsigned count = raise_params(r, &f->taken, list), own = LLVMCountParams(fn) - 1;
    for (unsigned i = 0; i < count; i++)
        args[i] = i < own ? LLVMGetParam(fn, i)
                          : LLVMBuildLoad2(b, raise_reg_type(r, list[i]),
                                           raise_place(r, b, LLVMGetParam(fn, own), list[i]), "");
    args[count] = LLVMGetParam(fn, own);
    LLVMValueRef call = LLVMBuildCall2(b, f->type, f->raised, args, count + 1, "");
    raise_mark_call(r, call);
    LLVMSetTailCall(call, true);
    if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(b);
    else
        LLVMBuildRet(b, call);
}

static void add_bridge(Raise *r, const RaiseFunction *f) {
    char name[64];
    snprintf(name, sizeof(name), RAISE_BRIDGE, f->pc);
    RegSet in_place = taken_in_place(r, f);
    LLVMValueRef fn = LLVMAddFunction(r->mod, name, raise_function_type(r, &in_place, &f->given));
    raise_mark_function(r, fn);
    LLVMSetVisibility(fn, LLVMHiddenVisibility);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->ctx);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(r->ctx, fn, ""));
    build_bridge(r, b, f, fn);
    LLVMDisposeBuilder(b);
}

static bool takes_state(const Raise *r, const RaiseFunction *f) {
    RegSet in_place = taken_in_place(r, f);
    return memcmp(&in_place, &f->taken, sizeof(in_place));
}

bool raise_works_anywhere(const RaiseFunction *f) {
    return !LLVMGetFirstUse(LLVMGetParam(f->raised, 0)) &&
           !LLVMGetFirstUse(LLVMGetParam(f->raised, LLVMCountParams(f->raised) - 1));
}

static const char *entry_of(const Raise *r, const RaiseFunction *f) {
    const HostRaise *host = r->host->raise;
    if (f->pc == elf_entry(r->elf))
        return host->entry_first;
    if (takes_state(r, f))
        return host->entry_rest;
    return raise_works_anywhere(f) ? host->entry_direct : host->entry;
}

static void add_entry(Raise *r, const RaiseFunction *f) {
    char entry[64], bridge[64], text[512];
    snprintf(entry, sizeof(entry), RAISE_ENTRY, f->pc);
    snprintf(bridge, sizeof(bridge), RAISE_BRIDGE, f->pc);
    int len = snprintf(text, sizeof(text), entry_of(r, f), entry, entry, bridge, bridge);
    if (!r->is_object) {
        LLVMAppendModuleInlineAsm(r->mod, text, (size_t)len);
        return;
    }
    const char *in_section = arena_printf(&r->arena,
                                          "\t.section " RAISE_ENTRIES ", \"ax\", %%progbits\n\t.p2align 3\n"
                                          "\t.hidden %s\n\t.8byte %s - .\n%s\t.text\n",
                                          entry, bridge, text);
    LLVMAppendModuleInlineAsm(r->mod, in_section, strlen(in_section));
}

/* What is the image's and the runtime's is near: no table of addresses is needed. */
static void hide(Raise *r) {
    LLVMValueRef image = LLVMGetNamedGlobal(r->mod, RAISE_IMAGE);
    if (image)
        LLVMSetVisibility(image, LLVMHiddenVisibility);
    for (LLVMValueRef f = LLVMGetFirstFunction(r->mod); f; f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f) && !LLVMGetIntrinsicID(f))
            LLVMSetVisibility(f, LLVMHiddenVisibility);
}

/* Where the kernel begins a statically linked program. */
static void add_start(Raise *r) {
    char entry[64], text[1024];
    snprintf(entry, sizeof(entry), RAISE_ENTRY, elf_entry(r->elf));
    int len = snprintf(text, sizeof(text), r->host->raise->start, entry);
    CHECK((size_t)len < sizeof(text), "the assembly of where programs begin has room");
    LLVMAppendModuleInlineAsm(r->mod, text, (size_t)len);
}

RaiseTable raise_bridge_table(const Raise *r) {
    u64 low = ~(u64)0, high = 0;
    for (size_t i = 0; i < r->functions.len; i++) {
        const RaiseFunction *f = &r->functions.at[i];
        if (!f->native || f->pc % RAISE_ROW)
            continue;
        low = f->pc < low ? f->pc : low;
        high = f->pc > high ? f->pc : high;
    }
    return high < low ? (RaiseTable){r->extent.start, 0} : (RaiseTable){low, (high - low) / RAISE_ROW + 1};
}

void raise_add_native(Raise *r) {
    HostRaiseKind kind = r->is_library ? RAISE_LIBRARY : r->is_static ? RAISE_STATIC : RAISE_DYNAMIC;
    char *text = r->host->raise->runtime(raise_thread_offset(r), r->extent.start, r->extent.end - r->extent.start,
                                         r->uses_rest, r->unwinds, kind);
    raise_add_callable(r);
    LLVMAppendModuleInlineAsm(r->mod, text, strlen(text));
    mem_free(text);
    for (size_t i = 0; i < r->functions.len; i++) {
        const RaiseFunction *f = &r->functions.at[i];
        if (!f->native || !f->raised)
            continue;
        add_bridge(r, f);
        add_entry(r, f);
        r->counts.native++;
    }
    if (r->is_static)
        add_start(r);
    hide(r);
}
