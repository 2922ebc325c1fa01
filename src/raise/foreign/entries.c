/* entries.c: where native code enters functions of the program: at their entries, of which `main`, constructors and destructors are some.
 *
 * The host's own startup code runs the program: what the program's startup code has handed to the C library as main is found, and it is dropped itself. */
#include <elf.h>
#include <llvm-c/Core.h>
#include <stdio.h>

#include "raise/foreign/foreign.h"

/* The address in the image that the value is, or that is in memory where it is loaded from. */
static bool known_address(const Raise *r, LLVMValueRef v, u64 *address) {
    u64 slot;
    if (LLVMIsALoadInst(v) && raise_image_address(r, LLVMGetOperand(v, 0), &slot))
        return elf_read(r->elf, slot, address, sizeof(*address)) == sizeof(*address);
    return raise_constant_address(r, v, address);
}

/* The address that is in the first argument's register somewhere in the startup code. */
static u64 find_main(const Raise *r, LLVMValueRef start) {
    Reg first = r->isa->abi.int_args[0];
    u64 off, address;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(start); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (LLVMIsAStoreInst(in) && raise_state_offset(LLVMGetParam(start, 0), LLVMGetOperand(in, 1), &off) &&
                off == r->isa->regs[first].off_bytes && known_address(r, LLVMGetOperand(in, 0), &address) &&
                elf_is_code(r->elf, address))
                return address;
    return 0;
}

/* The startup code is no function of the program any more. */
static void drop_start(Raise *r, RaiseFunction *start) {
    LLVMReplaceAllUsesWith(start->plain, r->nowhere);
    LLVMDeleteFunction(start->plain);
    start->plain = NULL;
    start->native = false;
    r->counts.functions--;
}

bool foreign_find_main(Foreign *f) {
    Raise *r = f->r;
    RaiseFunction *start = raise_function_at(r, elf_entry(r->elf));
    f->main = start && start->plain && elf_imports(r->elf, "__libc_start_main") ? find_main(r, start->plain) : 0;
    RaiseFunction *found = f->main ? raise_function_at(r, f->main) : NULL;
    if (!found || !found->plain)
        return raise_fail(r, "0x%lx: what the program's startup code hands to the C library as main was not found",
                          elf_entry(r->elf));
    found->native = true;
    drop_start(r, start);
    return true;
}

/* -------------------------------------------------------------------------------------------------------------- assembly */

static void add_asm(Raise *r, const char *text) {
    LLVMAppendModuleInlineAsm(r->mod, text, strlen(text));
}

/* void bridge(ptr cpu): arguments and results are in the state. */
static void build_bridge(Raise *r, LLVMBuilderRef b, const RaiseFunction *f, LLVMValueRef cpu) {
    Reg in[REG_MAX + 1], out[REG_MAX];
    LLVMValueRef args[REG_MAX + 1];
    unsigned count = raise_params(r, &f->taken, in), results = raise_results(r, &f->given, out);
    for (unsigned i = 0; i < count; i++)
        args[i] = LLVMBuildLoad2(b, raise_reg_type(r, in[i]), raise_place(r, b, cpu, in[i]), "");
    args[count] = cpu;
    LLVMValueRef call = LLVMBuildCall2(b, f->type, f->raised, args, count + 1, "");
    for (unsigned i = 0; i < results; i++)
        if (regset_has(&f->given, out[i]))
            LLVMBuildStore(b, LLVMBuildExtractValue(b, call, i, ""), raise_place(r, b, cpu, out[i]));
    LLVMBuildRetVoid(b);
}

static void add_bridge(Raise *r, const RaiseFunction *f, const char *name) {
    LLVMTypeRef ptr = LLVMPointerTypeInContext(r->ctx, 0);
    LLVMValueRef fn = LLVMAddFunction(r->mod, name, LLVMFunctionType(LLVMVoidTypeInContext(r->ctx), &ptr, 1, false));
    if (!r->unwinds)
        LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, raise_attribute(r, "nounwind", 0));
    LLVMSetVisibility(fn, LLVMHiddenVisibility);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->ctx);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(r->ctx, fn, ""));
    build_bridge(r, b, f, LLVMGetParam(fn, 0));
    LLVMDisposeBuilder(b);
}

/* ------------------------------------------------------------------------------------------------------- direct entries */

/* The number of the argument that the guest's convention has in this register; -1: none. */
static int argument_in(const Raise *r, Reg reg) {
    for (u32 i = 0; i < r->isa->abi.int_arg_count; i++)
        if (r->isa->abi.int_args[i] == reg)
            return (int)i;
    return -1;
}

/* Many functions that compare for qsort() work on their arguments alone: integers that are in registers on both machines. Where ints are extended in registers, it would have to be
 * known which arguments are such. */
static bool is_direct(const Raise *r, const RaiseFunction *f) {
    if (!raise_works_anywhere(f) || r->isa->abi.signed_ints)
        return false;
    for (Reg reg = 0; reg < r->isa->reg_count; reg++)
        if ((regset_has(&f->taken, reg) && reg != r->isa->abi.stack && argument_in(r, reg) < 0) ||
            (regset_has(&f->given, reg) && r->isa->regs[reg].kind != REG_INT))
            return false;
    return true;
}

/* An int that is returned has zeros above it, and the host may have it extended: see src/host. */
static LLVMValueRef extend_result(const Raise *r, LLVMBuilderRef b, LLVMValueRef v) {
    if (!r->host->signed_arguments)
        return v;
    LLVMTypeRef word = LLVMInt64TypeInContext(r->ctx), half = LLVMInt32TypeInContext(r->ctx);
    LLVMValueRef above = LLVMBuildLShr(b, v, LLVMConstInt(word, 32, false), "");
    LLVMValueRef extended = LLVMBuildSExt(b, LLVMBuildTrunc(b, v, half, ""), word, "");
    return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, above, LLVMConstNull(word), ""), extended, v, "");
}

/* The function with the host's convention. */
static void add_direct(Raise *r, const RaiseFunction *f, const char *name) {
    Reg in[REG_MAX + 1], out[REG_MAX];
    LLVMTypeRef word = LLVMInt64TypeInContext(r->ctx), types[REG_MAX], two = LLVMArrayType2(word, 2);
    LLVMValueRef args[REG_MAX + 1], result = LLVMGetPoison(two);
    u32 ints = r->isa->abi.int_arg_count;
    for (u32 i = 0; i < ints; i++)
        types[i] = word;
    LLVMValueRef fn = LLVMAddFunction(r->mod, name, LLVMFunctionType(two, types, ints, false));
    LLVMSetVisibility(fn, LLVMHiddenVisibility);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, raise_attribute(r, "nounwind", 0));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->ctx);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(r->ctx, fn, ""));
    unsigned count = raise_params(r, &f->taken, in), results = raise_results(r, &f->given, out);
    for (unsigned i = 0; i < count; i++) {
        int n = argument_in(r, in[i]);
        args[i] = n < 0 ? LLVMGetPoison(LLVMTypeOf(LLVMGetParam(f->raised, i))) : LLVMGetParam(fn, (unsigned)n);
    }
    args[count] = raise_image(r); /* any pointer: it is not used, but said to be good */
    LLVMValueRef call = LLVMBuildCall2(b, f->type, f->raised, args, count + 1, "");
    for (unsigned i = 0; i < results; i++)
        if (regset_has(&f->given, out[i])) {
            LLVMValueRef v = LLVMBuildExtractValue(b, call, i, "");
            bool is_first = out[i] == r->isa->abi.int_result;
            result = LLVMBuildInsertValue(b, result, is_first ? extend_result(r, b, v) : v, !is_first, "");
        }
    LLVMBuildRet(b, result);
    LLVMDisposeBuilder(b);
}

/* Do host and guest find the address of a result in memory in different places? */
static bool has_memory_entries(const Raise *r) {
    return r->host->foreign->result_apart != (r->isa->abi.memory_result != NULL);
}

static void add_entry(Foreign *f, const RaiseFunction *function) {
    const HostForeign *host = f->r->host->foreign;
    char entry[64], bridge[64], direct[64], text[1024];
    snprintf(entry, sizeof(entry), RAISE_ENTRY, function->pc);
    snprintf(bridge, sizeof(bridge), RAISE_BRIDGE, function->pc);
    snprintf(direct, sizeof(direct), RAISE_DIRECT, function->pc);
    add_bridge(f->r, function, bridge);
    bool for_memory = function->gives_memory && has_memory_entries(f->r);
    if (!for_memory && is_direct(f->r, function)) {
        add_direct(f->r, function, direct);
        snprintf(text, sizeof(text), host->entry_direct, entry, entry, bridge, entry, direct);
    } else {
        snprintf(text, sizeof(text), for_memory ? host->entry_for_memory : host->entry, entry, entry, bridge, entry,
                 bridge, bridge);
    }
    add_asm(f->r, text);
    f->r->counts.native++;
}

/* An entry in one of the lists of functions that the dynamic linker runs. */
static bool add_to_list(Foreign *f, const char *list, u64 pc) {
    const RaiseFunction *function = raise_function_at(f->r, pc);
    char entry[64], text[256];
    if (!function || !function->native || !function->raised)
        return raise_fail(f->r, "0x%lx: a constructor or destructor that was not found", pc);
    snprintf(entry, sizeof(entry), RAISE_ENTRY, pc);
    snprintf(text, sizeof(text), "\t.section %s, \"aw\"\n\t.p2align 3\n\t.8byte %s\n\t.text\n", list, entry);
    add_asm(f->r, text);
    return true;
}

static bool add_array(Foreign *f, const char *list, i64 table, i64 table_size) {
    u64 at = elf_dynamic_number(f->r->elf, table), size = elf_dynamic_number(f->r->elf, table_size);
    for (u64 off = 0; off + 8 <= size; off += 8) {
        u64 pc;
        if (elf_read(f->r->elf, at + off, &pc, sizeof(pc)) != sizeof(pc))
            return raise_fail(f->r, "0x%lx: its list of constructors is not in the image", at);
        if (pc && pc != ~(u64)0 && !add_to_list(f, list, pc))
            return false;
    }
    return true;
}

/* DT_INIT is run before DT_INIT_ARRAY, and DT_FINI behind DT_FINI_ARRAY, which is run from its end. */
bool foreign_add_lists(Foreign *f) {
    u64 init = elf_dynamic_number(f->r->elf, DT_INIT), fini = elf_dynamic_number(f->r->elf, DT_FINI);
    return (!init || add_to_list(f, ".init_array", init)) &&
           add_array(f, ".init_array", DT_INIT_ARRAY, DT_INIT_ARRAYSZ) &&
           (!fini || add_to_list(f, ".fini_array", fini)) &&
           add_array(f, ".fini_array", DT_FINI_ARRAY, DT_FINI_ARRAYSZ);
}

static void add_main(Foreign *f) {
    char entry[64], text[256];
    snprintf(entry, sizeof(entry), RAISE_ENTRY, f->main);
    snprintf(text, sizeof(text), "\t.globl main\n\t.set main, %s\n", entry);
    add_asm(f->r, text);
}

bool foreign_add_entries(Foreign *f) {
    if (has_memory_entries(f->r)) {
        foreign_mark_virtual(f);
        foreign_mark_declared(f->r);
    }
    for (size_t i = 0; i < f->r->functions.len; i++)
        if (f->r->functions.at[i].native && f->r->functions.at[i].raised)
            add_entry(f, &f->r->functions.at[i]);
    if (f->main)
        add_main(f);
    return foreign_add_lists(f);
}
