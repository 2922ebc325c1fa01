/* plugged.c: a plugin that goes wrong in the way that its option says, or changes code in one that can be seen. NOTHING: it is none; OTHER_VERSION: one of another time. */
#include <lathe/plugin.h>
#include <llvm-c/Core.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef NOTHING
int nothing;
#else

static const char *way;
static volatile int *volatile nowhere;
static LathePluginStart *begun;
static char finished[256];

static int endless(volatile int *depth) {
    volatile int words[256] = {*depth};
    *depth += 1;
    return words[0] ? endless(depth) + words[1] : words[2];
}

/* Makes another one of a plugin's file, and leaves the next server with it. */
static void change_file(const char *path) {
    FILE *out = fopen(path, "a");
    if (out && fputc('x', out) && !fclose(out))
        raise(SIGKILL);
}

static const char *init(LathePluginStart *start) {
    way = start->options;
    begun = start;
    if (!strcmp(way, "init-refuses"))
        return "this is refused";
    if (!strcmp(way, "init-crashes"))
        *nowhere = 1;
    if (!strcmp(way, "init-loops"))
        for (;;)
            ;
    if (!strncmp(way, "changes=", 8))
        change_file(way + 8);
    if (!strncmp(way, "finish=", 7))
        snprintf(finished, sizeof(finished), "%s", way + 7);
    start->marks = LATHE_MARK_INSN | LATHE_MARK_BLOCK;
    return NULL;
}

static LLVMValueRef first_insn(const LathePluginFunction *f) {
    return LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f->function));
}

/* Puts a call of something at the beginning. */
static void call(const LathePluginFunction *f, LLVMTypeRef type, LLVMValueRef what, LLVMValueRef *args,
                 unsigned count) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(f->module));
    LLVMPositionBuilderBefore(b, first_insn(f));
    LLVMBuildCall2(b, type, what, args, count, "");
    LLVMDisposeBuilder(b);
}

static void call_unknown(const LathePluginFunction *f) {
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(LLVMGetModuleContext(f->module)), NULL, 0, 0);
    call(f, type, LLVMAddFunction(f->module, "nobody_has_this", type), NULL, 0);
}

static void call_assembly(const LathePluginFunction *f) {
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(LLVMGetModuleContext(f->module)), NULL, 0, 0);
    static char text[] = "this is no instruction";
    call(f, type, LLVMGetInlineAsm(type, text, strlen(text), "", 0, 1, 0, LLVMInlineAsmDialectATT, 0), NULL, 0);
}

/* The address of a marker goes to a function of the tool's. */
static void use_marker(const LathePluginFunction *f) {
    LLVMValueRef take = f->find(f, "take"), args[] = {f->mark_insn};
    call(f, LLVMGlobalGetValueType(take), take, args, 1);
}

/* A second value of a type that the operation does not have. */
static void make_invalid(const LathePluginFunction *f) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(f->function));
    LLVMInstructionEraseFromParent(end);
}

/* Markers of blocks become calls of the tool's `block`; all others are left. */
static const char *count_blocks(const LathePluginFunction *f) {
    LLVMValueRef block = f->find(f, "block");
    if (!block)
        return "the tool has no function 'block'";
    LLVMReplaceAllUsesWith(f->mark_block, block);
    return NULL;
}

static const char *instrument(const LathePluginFunction *f) {
    volatile int depth = 1;
    if (!strcmp(way, "refuses"))
        return "this is refused\nin two lines";
    if (!strcmp(way, "crashes"))
        *nowhere = 1;
    if (!strcmp(way, "recurses"))
        *nowhere = endless(&depth);
    if (!strcmp(way, "aborts"))
        abort();
    if (!strcmp(way, "exits"))
        exit(0);
    if (!strcmp(way, "dies"))
        _exit(0);
    if (!strcmp(way, "killed"))
        raise(SIGKILL);
    if (!strcmp(way, "loops"))
        for (;;)
            ;
    if (!strcmp(way, "invalid"))
        make_invalid(f);
    if (!strcmp(way, "unknown"))
        call_unknown(f);
    if (!strcmp(way, "assembly"))
        call_assembly(f);
    if (!strcmp(way, "marker"))
        use_marker(f);
    if (!strcmp(way, "says"))
        begun->say("at %llx of %s", (unsigned long long)(f->pc - f->base), f->base ? "a file" : "no file");
    if (!strcmp(way, "parent"))
        begun->say("parent %d", (int)getppid());
    return strcmp(way, "blocks") ? NULL : count_blocks(f);
}

static void finish(void) {
    FILE *out = *finished ? fopen(finished, "w") : NULL;
    if (out)
        fclose(out);
}

const LathePlugin lathe_plugin = {LATHE_PLUGIN_HEAD,
#ifdef OTHER_VERSION
                                  .version = LATHE_PLUGIN_VERSION + 7,
#endif
                                  .init = init, .instrument = instrument, .finish = finish};
#endif
