/* accesses.c: a plugin that counts the loads and stores which a program executes, and their bytes.
 *
 * It has the lifter mark all accesses to memory, and puts calls of the functions of totals.c, which run in the program, in the place of the markers. They are inlined, and LLVM adds up what is executed
 * together.
 *
 *     cc -shared -fPIC $(llvm-config-19 --cflags) accesses.c -o accesses.so
 *     lathe run --tool=./totals.c --plugin=./accesses.so -- PROGRAM
 *
 * With the option `from=ADDRESS`, counts only accesses of instructions at that distance from the beginning of their file, or behind it. */
#include <lathe/plugin.h>
#include <llvm-c/Core.h>
#include <stdlib.h>
#include <string.h>

enum { LOADS = 1, STORES = 2 }; /* bits of a marker's kind */
enum { PC, ADDRESS, SIZE, KIND };

static uint64_t from;

static const char *init(LathePluginStart *start) {
    if (!strncmp(start->options, "from=", 5))
        from = strtoull(start->options + 5, NULL, 0);
    else if (*start->options)
        return "the only option is from=ADDRESS";
    start->marks = LATHE_MARK_MEMORY;
    return NULL;
}

/* Calls a function of the tool with the number of bytes, before the marker. */
static void count(const LathePluginFunction *f, LLVMBuilderRef b, LLVMValueRef marker, const char *name) {
    LLVMValueRef function = f->find(f, name), size = LLVMGetOperand(marker, SIZE);
    LLVMBuildCall2(b, LLVMGlobalGetValueType(function), function, &size, 1, "");
}

static void count_access(const LathePluginFunction *f, LLVMBuilderRef b, LLVMValueRef marker) {
    unsigned long long kind = LLVMConstIntGetZExtValue(LLVMGetOperand(marker, KIND));
    if (f->address(f, LLVMGetOperand(marker, PC)) - f->base < from)
        return;
    LLVMPositionBuilderBefore(b, marker);
    if (kind & LOADS)
        count(f, b, marker, "load");
    if (kind & STORES)
        count(f, b, marker, "store");
}

static const char *instrument(const LathePluginFunction *f) {
    if (!f->find(f, "load") || !f->find(f, "store"))
        return "it needs --tool=totals.c beside it";
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(f->module));
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f->function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) && LLVMGetCalledValue(i) == f->mark_memory)
                count_access(f, b, i);
    LLVMDisposeBuilder(b);
    return NULL;
}

const LathePlugin lathe_plugin = {LATHE_PLUGIN_HEAD, .init = init, .instrument = instrument};
