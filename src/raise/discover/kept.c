/* kept.c: statically linked programs: what of their C library is raised in another way.
 *
 * A few functions only work as they are: what a signal handler returns to finds the kernel's frame at its stack pointer, and setjmp() and
 * longjmp() are about a stack pointer and a place in code. They stay where they were, as native code, and raised functions call
 * them like functions of other files, so that setjmp() works as it does there.
 *
 * A thread that clone() starts goes on behind the system call, on another stack: that place is a function of its own, which native code
 * (lathe_raise_syscall) enters. */
#include <llvm-c/Core.h>

#include "lift/func.h"
#include "raise/raise.h"

enum { KEPT_MAX_BYTES = 160 };

static const char *kept_itself(const Raise *r, u64 pc) {
    u8 bytes[KEPT_MAX_BYTES];
    ElfFunction f = elf_function_at(r->elf, pc);
    size_t size = f.size && f.size < sizeof(bytes) ? f.size : sizeof(bytes);
    return r->host->raise->kept(bytes, elf_read_const(r->elf, pc, bytes, size));
}

/* Where the function at `pc` leads if it only sets an argument or two and jumps there, as _setjmp() does; 0: it does something else. */
static u64 jumps_on_to(const Raise *r, u64 pc) {
    enum { INSNS_MAX = 3, INSN_MAX_BYTES = 16 };
    for (int i = 0; i < INSNS_MAX; i++) {
        u8 bytes[INSN_MAX_BYTES];
        Insn in = {.pc = pc};
        size_t size = elf_read_const(r->elf, pc, bytes, sizeof(bytes));
        if (!size || r->isa->decode(bytes, size, pc, &in) != LATHE_OK)
            return 0;
        if (in.flow != FLOW_NEXT)
            return in.flow == FLOW_JUMP ? in.target : 0;
        pc = insn_end(&in);
    }
    return 0;
}

const char *raise_kept(const Raise *r, u64 pc) {
    if (!r->is_static)
        return NULL;
    const char *own = kept_itself(r, pc);
    u64 on = own ? 0 : jumps_on_to(r, pc);
    const char *name = on ? kept_itself(r, on) : own;
    return name && on && !raise_returns_twice(name) ? NULL : name;
}

void raise_kept_targets(Raise *r, const LatheFunc *fn, void (*found)(Raise *r, u64 pc)) {
    for (size_t i = 0; i < fn->insns.len; i++)
        if (fn->insns.at[i].flow != FLOW_NEXT && fn->insns.at[i].target)
            found(r, fn->insns.at[i].target);
}

void raise_build_jump(Raise *r, LLVMValueRef fn, LLVMValueRef target) {
    LLVMValueRef cpu = LLVMGetParam(fn, 0);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->ctx);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(r->ctx, fn, ""));
    LLVMValueRef args[] = {cpu, target, LLVMConstInt(LLVMInt1TypeInContext(r->ctx), 1, false)};
    LLVMValueRef found = LLVMBuildCall2(b, LLVMGlobalGetValueType(r->lookup), r->lookup, args, 3, "");
    LLVMBuildCall2(b, LLVMGlobalGetValueType(fn), found, &cpu, 1, "");
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
}

LLVMValueRef raise_kept_stub(Raise *r, u64 pc) {
    LLVMTypeRef ptr = LLVMPointerTypeInContext(r->ctx, 0), word = LLVMInt64TypeInContext(r->ctx);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(r->ctx), &ptr, 1, false);
    LLVMValueRef fn = LLVMAddFunction(r->mod, "kept", type);
    LLVMValueRef off = LLVMConstInt(word, pc - r->extent.start, false);
    LLVMValueRef place = LLVMConstGEP2(LLVMInt8TypeInContext(r->ctx), raise_image(r), &off, 1);
    raise_build_jump(r, fn, LLVMConstPtrToInt(place, word));
    return fn;
}

/* The number of the system call at fn->insns.at[i], where instructions right before it say so; false: it is not known. */
static bool number_of(const Raise *r, const LatheFunc *fn, size_t i, u64 *number) {
    u64 end = fn->insns.at[i].pc;
    while (i-- > 0) {
        const Insn *in = &fn->insns.at[i];
        if (insn_end(in) != end || in->flow != FLOW_NEXT)
            return false;
        if (regset_has(&in->writes, r->host->raise->system_call_regs[0])) {
            Effect e = r->isa->effect(in);
            *number = (u64)e.value;
            return e.kind == EFFECT_CONSTANT && e.to == r->host->raise->system_call_regs[0];
        }
        end = in->pc;
    }
    return false;
}

static bool is_system_call(const Raise *r, const Insn *in) {
    u8 bytes[4];
    return in->calls_out && r->host->raise->is_system_call(bytes, elf_read_const(r->elf, in->pc, bytes, sizeof(bytes)));
}

void raise_thread_starts(Raise *r, const LatheFunc *fn, void (*found)(Raise *r, u64 pc)) {
    for (size_t i = 0; r->is_static && i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        u64 number;
        if (is_system_call(r, in) && (!number_of(r, fn, i, &number) || r->host->raise->starts_thread(number)))
            found(r, insn_end(in));
    }
}
