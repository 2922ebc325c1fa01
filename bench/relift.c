/* relift.c: see relift.h. */
#include "relift.h"

#include <Zydis/Zydis.h>
#include <llvm-c/Core.h>
#include <stdio.h>

/* ------------------------------------------------------------------------------------------------------- relifting */

/* The lifted function with a C function around it; NULL if that is not possible. */
static LLVMValueRef lift(LLVMModuleRef mod, const void *function, const char *name, const char *sig, char *problem,
                         size_t size) {
    LatheConfig cfg = {0};
    LatheFunc *fn = lathe_func_new(mod, &cfg);
    LatheStatus status = lathe_func_decode_cfg(fn, (u64)(uintptr_t)function);
    LLVMValueRef lifted = status == LATHE_OK ? lathe_func_lift(fn, "lifted") : NULL;
    LatheProblem p = lathe_func_problem(fn);
    LLVMValueRef wrapped = NULL;
    if (lifted && p.status == LATHE_OK)
        wrapped = lathe_wrap_sysv(lifted, LATHE_ARCH_X86_64, name, sig, 0);
    if (!wrapped)
        snprintf(problem, size, "%s", p.text ? p.text : lathe_status_text(status));
    lathe_func_free(fn);
    return wrapped;
}

static void show_ir(LLVMValueRef f) {
    char *text = LLVMPrintValueToString(f);
    puts(text);
    LLVMDisposeMessage(text);
}

Relifted relift(LatheJit *jit, const void *function, const char *name, const char *sig, bool show) {
    Relifted r = {0};
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("relift", ctx);
    LLVMValueRef f = lift(mod, function, name, sig, r.problem, sizeof(r.problem));
    if (!f) {
        LLVMDisposeModule(mod);
    } else {
        LatheStatus status = lathe_jit_optimize(jit, mod, LATHE_OPT_FULL);
        if (show && status == LATHE_OK)
            show_ir(f);
        if (status == LATHE_OK)
            status = lathe_jit_add(jit, mod, LATHE_OPT_NONE);
        else
            LLVMDisposeModule(mod);
        if (status == LATHE_OK)
            r.entry = (void *)lathe_jit_code(jit, name, &r.size);
        else
            snprintf(r.problem, sizeof(r.problem), "%s", lathe_status_text(status));
    }
    LLVMContextDispose(ctx);
    return r;
}

/* ---------------------------------------------------------------------------------------------------- host code */

typedef void Visit(u64 pc, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops, void *user);

static void visit_insns(const void *code, size_t size, Visit *visit, void *user) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecodedInstruction z;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    for (size_t at = 0; at < size; at += z.length) {
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (const u8 *)code + at, size - at, &z, ops)))
            return;
        visit((u64)(uintptr_t)code + at, &z, ops, user);
    }
}

static void count_insn(u64 pc, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops, void *user) {
    (void)pc;
    (void)ops;
    bool padding = z->mnemonic == ZYDIS_MNEMONIC_NOP || z->mnemonic == ZYDIS_MNEMONIC_INT3;
    *(u64 *)user += !padding;
}

static void print_insn(u64 pc, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops, void *user) {
    ZydisFormatter f;
    char text[128];
    ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterFormatInstruction(&f, z, ops, z->operand_count_visible, text, sizeof(text), pc, NULL);
    printf("%6lx  %s\n", pc - *(u64 *)user, text);
}

u64 count_host_insns(const void *code, size_t size) {
    u64 count = 0;
    visit_insns(code, size, count_insn, &count);
    return count;
}

void show_host_insns(const void *code, size_t size) {
    u64 start = (u64)(uintptr_t)code;
    visit_insns(code, size, print_insn, &start);
}
