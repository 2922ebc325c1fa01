/* lift.c: lifts a function of this very process, compiles it, and calls the result in two ways: on a guest state, and
 * as an ordinary C function. */
#include <lathe/lift.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static long max(long a, long b) {
    return a > b ? a : b;
}

/* The code at `pc` as the function "lifted_max" of a new module, with a C function "max" around it. */
static LLVMModuleRef lift(LLVMContextRef ctx, uint64_t pc) {
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("demo", ctx);
    LatheConfig cfg = {0}; /* x86-64, this process's memory, defaults */
    LatheFunc *fn = lathe_func_new(mod, &cfg);
    LatheStatus status = lathe_func_decode_cfg(fn, pc);
    LLVMValueRef lifted = status == LATHE_OK ? lathe_func_lift(fn, "lifted_max") : NULL;
    if (!lifted || !lathe_wrap_sysv(lifted, LATHE_ARCH_X86_64, "max", "lll", 0)) {
        LatheProblem problem = lathe_func_problem(fn);
        fprintf(stderr, "cannot lift: %s\n", problem.text ? problem.text : lathe_status_text(status));
        exit(1);
    }
    LLVMSetLinkage(lifted, LLVMExternalLinkage); /* wrapping made it internal, but it will be called by itself too */
    lathe_func_free(fn);
    return mod;
}

/* As the CPU would be at the first instruction of max(a, b): arguments in registers, the return address on the stack.
 */
static long call_with_state(LatheEntry *run, long a, long b) {
    static uint64_t stack[64];
    static LatheX86Cpu cpu;
    uint64_t *sp = &stack[63];
    *sp = 0x1234;
    cpu.gp[LATHE_RSP] = (uint64_t)(uintptr_t)sp;
    cpu.gp[LATHE_RDI] = (uint64_t)a;
    cpu.gp[LATHE_RSI] = (uint64_t)b;
    run(&cpu);
    if (cpu.trap != LATHE_TRAP_NONE || cpu.pc != 0x1234)
        exit(1);
    return (long)cpu.gp[LATHE_RAX];
}

int main(void) {
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef mod = lift(ctx, (uint64_t)(uintptr_t)max);
    LatheJit *jit = lathe_jit_new(NULL);
    if (lathe_jit_optimize(jit, mod, LATHE_OPT_FULL) < 0)
        return 1;
    char *ir = LLVMPrintModuleToString(mod);
    puts(ir);
    LLVMDisposeMessage(ir);

    if (lathe_jit_add(jit, mod, LATHE_OPT_FULL) < 0) /* takes the module */
        return 1;
    LatheEntry *run = (LatheEntry *)lathe_jit_lookup(jit, "lifted_max");
    long (*again)(long, long) = (long (*)(long, long))lathe_jit_lookup(jit, "max");
    printf("max(-3, 4) = %ld, %ld lifted, %ld as a C function again\n", max(-3, 4), call_with_state(run, -3, 4),
           again(-3, 4));
    bool right = call_with_state(run, -3, 4) == 4 && again(-3, 4) == 4 && again(9, 4) == 9;
    lathe_jit_free(jit);
    LLVMContextDispose(ctx);
    return right ? 0 : 1;
}
